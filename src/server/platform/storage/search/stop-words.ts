/*
 * Stop words: articles, prepositions and the like. A text is found even if it lacks the stop words of a query: "il budget
 * di marzo" finds "budget per marzo". They are indexed all the same, because a query may consist of nothing else.
 */

const BY_LANGUAGE: Readonly<Record<string, string>> = {
  da: 'af at de den der det du en er et for fra han har hun i ikke jeg med men og om på sig som til var vi vil',
  de: 'als am an auch auf aus bei das dass dem den der des die ein eine einem einen einer eines er es für hat ich im in ist mit nicht sich sie sind und von vom war was wir wird zu zum zur',
  en: 'a am an and are as at be been but by did do does for from had has have he her his i if in into is it its me my of on or our she so than that the their them then they this to was we were what when which who will with would you your',
  es: 'a al con de del el en es esta este fue ha hay la las le lo los me mi muy no nos o para pero por que se si son su sus te un una y yo',
  fi: 'ei en hän ja joka jos kun me mutta myös ne niin oli on ovat se sen tai te tämä vai että',
  fr: 'à a au aux avec c ce ces cette d dans de des du elle elles en est et eux il ils j je l la le les leur leurs lui m ma mais me mes n ne nos notre nous on ont ou par pas pour qu que qui s sa se ses son sont sur t ta te tes tu un une vos votre vous y',
  hu: 'a az de egy el és ez ha hogy is ki meg mert mi nem van volt vagy',
  it: 'a ad agli ai al all alla alle allo anche c che chi ci col coi come con d da dagli dai dal dall dalla dalle dallo degli dei del dell della delle dello di e ed gli ha ho i il in io l la le lo loro lui ma mi ne negli nei nel nell nella nelle nello noi non o per però più quel quell quella quello quest questa questo se si sono su sua sugli sui sul sull sulla sulle sullo suo ti tra tu un una uno vi voi è era',
  nb: 'at av de den der det du en er et for fra han har hun i ikke jeg med men og om på seg som til var vi vil',
  nl: 'aan als bij dat de den der des die dit een en er het hij ik in is je maar met mijn naar niet of om onder ons op te tot uit van voor was we werd wij zij zijn zo zou',
  pt: 'a ao aos as à às com como da das de do dos e ela ele em entre era essa esse esta este eu foi há isso isto já mais mas me na nas no nos não o os ou para pela pelo por que se sem ser seu sua são também te um uma você é',
  ro: 'a ai al ale am ar au ca că ce cu da de din e ea ei el este eu fi în la le lui mai ne nu o pe pentru sa să se si și sunt un una va',
  ru: 'а без бы был была были было быть в во вы да для до его ее если есть же за и из или им их к как ко мы на не него нет но ну о об он она они от по при с со так то ты у что это я',
  sv: 'att av de den det du en ett för från han har hon i inte jag med men och om på sig som till var vi vill är',
  tr: 'bir bu çok da daha de değil en gibi her ile için ise ki mi mı mu mü o olan şu ve veya ya',
};

const ALIASES: Readonly<Record<string, string>> = { nn: 'nb', no: 'nb' };

const STOP_WORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(BY_LANGUAGE).map(([language, words]) => [language, new Set(words.split(' '))]),
);

/** Particles of Japanese and Chinese. */
const STOPS_IN_RUNS: ReadonlySet<string> = new Set(
  'が か さん し して する た だ て で です と な に の は ます も や よ ら を へ ね から まで 的 了 是 在 吗 嗎 呢 吧 和 也 就'.split(
    ' ',
  ),
);

/** Removes the stop words of the language. */
export function withoutStopWords(words: readonly string[], language: string): readonly string[] {
  const stops = STOP_WORDS.get(ALIASES[language] ?? language);
  return words.filter((word) => stops?.has(word) !== true);
}

export function isStopInRun(word: string): boolean {
  return STOPS_IN_RUNS.has(word);
}
