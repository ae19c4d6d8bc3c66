import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import { ROOT_QUOTA } from '../../../../src/server/platform/http/limits/key-limits.ts';
import type { StoredSegment } from '../../../../src/server/transcription/store.ts';
import type { WordQuery, WordStore } from '../../../../src/server/transcription/words/store.ts';
import { searchWords } from '../../../../src/server/transcription/words/word-routes.ts';
import { DATABASES, systemClock, type TestDatabase } from './test-databases.ts';

describe.each(DATABASES)('words on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;
  let words: WordStore;
  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
    words = store.words;
  });
  afterEach(() => testDatabase.close());

  /** Starts a live transcription of the room, and adds a segment for each text. */
  async function transcribe(room: string, texts: readonly string[], changes: Partial<StoredSegment> = {}) {
    const id = `tr_${room}`;
    await store.transcriptions.startLive({
      ...{ id, room, language: 'en-US', speakers: {}, createdAt: 1000 },
      options: { partialResults: true, captions: true, punctuation: true, profanityFilter: false },
    });
    const lease = { owner: 'a', now: 2000, leaseUntil: 3000, limit: 10, supports: () => true };
    await store.transcriptions.claimLive(lease);
    const segments = texts.map((text, index) => segment(`${room}-${index}`, { text, ...changes }));
    expect(await store.transcriptions.addSegments(id, 'a', segments)).toBe(true);
    return id;
  }
  /** Adds many segments without the word that is searched for. */
  async function addTea(count: number): Promise<void> {
    const startedAt = Date.UTC(2026, 10, 1);
    const id = await transcribe('tea', ['tea'], { startedAt });
    const teas = Array.from({ length: count }, (_, index) =>
      segment(`green-tea-${index}`, { text: 'tea', startedAt, endedAt: startedAt }),
    );
    await store.transcriptions.addSegments(id, 'a', teas);
  }

  const search = async (text: string, filter: Partial<WordQuery> = {}) =>
    (await searchWords({ words, clock: systemClock }, { text, limit: 50, ...filter })).hits;
  const found = async (text: string, filter: Partial<WordQuery> = {}) =>
    (await search(text, filter)).map((hit) => hit.segment.id);

  it('are found with their segment, transcription and position in the text', async () => {
    const id = await transcribe('demo', ['The meeting will start at nine.', 'Nobody came.']);
    const [hit, ...others] = await search('meeting');
    expect(others).toEqual([]);
    expect(hit).toMatchObject({
      segment: segment('demo-0', { text: 'The meeting will start at nine.' }),
      transcription: { id, room: 'demo', speakers: {} },
      hasTracks: false,
      pieces: ['The ', 'meeting', ' will start at nine.'],
    });
  });

  it('are found whatever their case, and in another form of the language', async () => {
    await transcribe('demo', ['We met in two MEETINGS.']);
    for (const text of ['meeting', 'Meetings', 'MEETING']) {
      expect((await search(text))[0]?.pieces).toEqual(['We met in two ', 'MEETINGS', '.']);
    }
  });

  it('are found in segments that have all of them, in any order', async () => {
    await transcribe('demo', ['Budget for the new office', 'The budget', 'An office']);
    expect(await found('office budget')).toEqual(['demo-0']);
    expect(await found('office budget holiday')).toEqual([]);
  });

  it('are found though the language leaves them out of its index', async () => {
    await transcribe('demo', ['Will said so.', 'She did not.']);
    expect(await found('will')).toEqual(['demo-0']);
    expect((await search('will'))[0]?.pieces).toEqual(['', 'Will', ' said so.']);
  });

  it('are found in other languages', async () => {
    await transcribe('demo', ['La riunione comincia alle nove.'], { language: 'it-IT' });
    expect(await found('riunione')).toEqual(['demo-0']);
    expect(await found('riunione', { language: 'it' })).toEqual(['demo-0']);
    expect(await found('riunione', { language: 'IT-it' })).toEqual(['demo-0']);
    expect(await found('riunione', { language: 'i' })).toEqual([]);
  });

  it.each([
    ['it', 'Ne parliamo domani.', 'parlato', ['Ne ', 'parliamo', ' domani.']],
    ['it-IT', 'La fattura, e le FATTURE.', 'fatture', ['La ', 'fattura', ', e le ', 'FATTURE', '.']],
    ['de-DE', 'Die Rechnungen sind da.', 'Rechnung', ['Die ', 'Rechnungen', ' sind da.']],
    ['es', 'Ayer hablamos.', 'hablado', ['Ayer ', 'hablamos', '.']],
    ['fr', 'Deux factures', 'facture', ['Deux ', 'factures', '']],
    ['pt', 'As faturas vieram.', 'fatura', ['As ', 'faturas', ' vieram.']],
    ['nl', 'Twee vergaderingen.', 'vergadering', ['Twee ', 'vergaderingen', '.']],
  ])('are found in another form of the language %s', async (language, text, sought, pieces) => {
    await transcribe('demo', [text, 'xyz'], { language });
    expect((await search(sought)).map((hit) => hit.pieces)).toEqual([pieces]);
  });

  it.each([
    ['zh', '我们明天下午开预算会议。', '会议', ['我们明天下午开预算', '会议', '。']],
    ['zh-CN', '我们明天下午开会，讨论预算。', '预算开会', ['我们明天下午', '开会', '，讨论', '预算', '。']],
    ['zh', '请重新启动LiveKit的服务器', 'livekit服务器', ['请重新启动', 'LiveKit', '的', '服务器', '']],
    ['ja', '東京都庁で予算の会議を行います。', '東京都', ['', '東京都', '庁で予算の会議を行います。']],
    ['ja', '会議では予算が決まりました。', '予算の会議', ['', '会議', 'では', '予算', 'が決まりました。']],
    ['ja', 'データベースの移行は来週です', 'データベース', ['', 'データベース', 'の移行は来週です']],
    ['ko', '내일 회의에서 만나요.', '회의', ['내일 ', '회의', '에서 만나요.']],
    ['th', 'ประชุมงบประมาณพรุ่งนี้', 'งบประมาณ', ['ประชุม', 'งบประมาณ', 'พรุ่งนี้']],
    ['lo', 'ສະບາຍດີກອງປະຊຸມງົບປະມານ', 'ປະຊຸມ', ['ສະບາຍດີກອງ', 'ປະຊຸມ', 'ງົບປະມານ']],
    ['km', 'កិច្ចប្រជុំថវិកាថ្ងៃស្អែក', 'ថវិកា', ['កិច្ចប្រជុំ', 'ថវិកា', 'ថ្ងៃស្អែក']],
    ['my', 'မနက်ဖြန်အစည်းအဝေးရှိပါတယ်', 'အစည်းအဝေး', ['မနက်ဖြန်', 'အစည်းအဝေး', 'ရှိပါတယ်']],
  ])('are found within a text of %s that has no spaces: %s', async (language, text, sought, pieces) => {
    await transcribe('demo', [text, '別の文です', '没有这个词', 'คนอื่น'], { language });
    expect((await search(sought)).map((hit) => hit.pieces)).toEqual([pieces]);
  });

  it('without spaces are found only where their characters follow one another', async () => {
    await transcribe('demo', ['議会は会う', '会って議論', '中国', '国中'], { language: 'ja' });
    expect(await found('会議')).toEqual([]);
    expect(await found('国中')).toEqual(['demo-3']);
    expect(await found('会')).toEqual(['demo-1', 'demo-0']);
    expect(await found('の')).toEqual([]);
  });

  it('are found composed or decomposed', async () => {
    await transcribe('demo', ['パブへ行く'.normalize('NFD'), '한국어'.normalize('NFD')], {
      language: 'ja',
    });
    expect((await search('パブ'))[0]?.pieces[1]).toBe('パブ'.normalize('NFD'));
    expect((await search('국어'))[0]?.pieces[1]).toBe('국어'.normalize('NFD'));
  });

  it.each([
    ['it', 'Perché la città è così?', 'perche citta', ['', 'Perché', ' la ', 'città', ' è così?']],
    ['it', 'La citta di Forli', 'città forlì', ['La ', 'citta', ' di ', 'Forli', '']],
    [
      'it',
      "Nell'università ne parliamo",
      'universita parlato',
      ["Nell'", 'università', ' ne ', 'parliamo', ''],
    ],
    ['fr', 'Un cœur à Évry', 'coeur evry', ['Un ', 'cœur', ' à ', 'Évry', '']],
    ['de', 'Die Straße in Köln', 'strasse koln', ['Die ', 'Straße', ' in ', 'Köln', '']],
    ['xx', 'Łódź, Ærø', 'lodz aero', ['', 'Łódź', ', ', 'Ærø', '']],
  ])('are found with or without accents in %s: %s', async (language, text, sought, pieces) => {
    await transcribe('demo', [text, 'xyz'], { language });
    expect((await search(sought)).map((hit) => hit.pieces)).toEqual([pieces]);
  });

  it.each([
    ['it', "C'è un budget per marzo.", 'il budget di marzo', ["C'è un ", 'budget', ' per ', 'marzo', '.']],
    ['it', 'Gli appuntamenti', "l'appuntamento", ['Gli ', 'appuntamenti', '']],
    ['en', 'A budget', 'the budget', ['A ', 'budget', '']],
    ['nb', 'Et budsjett', 'budsjettet i', ['Et ', 'budsjett', '']],
  ])('are found without the articles of a query in %s: %s', async (language, text, sought, pieces) => {
    await transcribe('demo', [text, 'xyz'], { language });
    expect((await search(sought)).map((hit) => hit.pieces)).toEqual([pieces]);
  });

  it('are required if they are articles in other languages only', async () => {
    await transcribe('demo', ['La budget'], { language: 'xx' });
    expect(await found('il budget')).toEqual([]);
    expect(await found('la budget')).toEqual(['demo-0']);
  });

  it('of a very long text are found at its beginning, and the text is stored', async () => {
    const text = `coffee ${'word'.repeat(100)} ${'会'.repeat(200)} ${'many words '.repeat(20_000)}`;
    const id = await transcribe('demo', [text]);
    expect(await found('coffee')).toEqual(['demo-0']);
    expect(await found('word'.repeat(100))).toEqual(['demo-0']);
    expect((await store.transcriptions.listSegments(id, { limit: 1000 }))[0]?.text).toBe(text);
  });

  it('are found only by the rules of their own language', async () => {
    await transcribe('one', ['We parliamo about fatture.'], { language: 'en' });
    await transcribe('two', ['fatture'], { language: 'xx' });
    expect(await found('parlato')).toEqual([]);
    expect(await found('fattura')).toEqual([]);
    expect(await found('fatture')).toEqual(['two-0', 'one-0']);
  });

  it('are deleted in their other forms too', async () => {
    await transcribe('one', ['Ne parliamo.'], { language: 'it', identity: 'ada' });
    expect(await found('parlato')).toEqual(['one-0']);
    await words.forget({ identity: 'ada', room: 'one' }, 5);
    expect(await found('parlato')).toEqual([]);
    expect(await found('parliamo')).toEqual([]);
  });

  it.each([
    'meeting OR nobody',
    'meeting NOT nobody',
    'NEAR(meeting start)',
    '"meeting',
    'text : meeting nobody',
    '{text} : nobody',
    'meet*',
    '^meeting nobody',
    "meeting'); drop table segments; --",
    'meeting & !nobody',
    'meeting:* <-> nobody',
    '\\',
    '!!!',
    '""',
    '',
    ' ',
    '%',
    '\0',
    '\uD800',
    '(('.repeat(200),
    Array.from({ length: 128 }, (_, index) => `nobody${index}`).join(' '),
  ])('are plain text in the query %j', async (text) => {
    await transcribe('demo', ['The meeting will start at nine.', 'Nobody came.']);
    const ids = await found(text);
    expect(['', 'demo-0']).toContain(ids.join());
    if (/nobody|OR|NEAR|drop|text/.test(text)) expect(ids).toEqual([]);
    expect(await found('meeting')).toEqual(['demo-0']);
  });

  it('are found in a text with the marks of highlights, which is returned in one piece', async () => {
    await transcribe('demo', ['A meeting \u{E000}here']);
    expect((await search('meeting'))[0]?.pieces.join('')).toBe('A meeting \u{E000}here');
  });

  it('are found by room, time and recording', async () => {
    await transcribe('one', ['coffee'], { startedAt: 1000 });
    await transcribe('two', ['coffee'], { startedAt: 2000 });
    expect(await found('coffee')).toEqual(['two-0', 'one-0']);
    expect(await found('coffee', { room: 'one' })).toEqual(['one-0']);
    expect(await found('coffee', { since: 2000 })).toEqual(['two-0']);
    expect(await found('coffee', { until: 2000 })).toEqual(['one-0']);
    expect(await found('coffee', { egressId: 'EG_1' })).toEqual([]);
  });

  it('are found by a search that has used its time and goes on from its cursor, though a page is empty', async () => {
    await transcribe('old', ['coffee', 'tea and coffee']);
    await addTea(15_000);
    // Each step seems to take all the time of a search.
    let nowMs = 0;
    const clock = { monotonic: () => (nowMs += 1_000) };
    const pages: (readonly string[])[] = [];
    let before: number | null | undefined;
    while (before !== null) {
      const page = await searchWords({ words, clock }, { text: 'coffee', limit: 50, before });
      pages.push(page.hits.map((hit) => hit.segment.id));
      before = page.nextBefore;
    }
    expect(pages).toEqual([[], [], [], ['old-1', 'old-0']]);
  });

  it('are looked up in the index with their room, language and time, not read one by one', async () => {
    await transcribe('old', ['coffee'], { startedAt: Date.UTC(2026, 0, 1), language: 'it' });
    await addTea(5_000);
    const [wanted] = await search('tea', { room: 'old' });
    expect(wanted).toBeUndefined();
    const absent = { text: 'tea', language: 'fi' };
    expect(await words.prepareSearch(absent)).toBeUndefined();
    for (const filter of [{ room: 'old' }, { language: 'it' }, { until: Date.UTC(2026, 1, 1) }]) {
      const prepared = await words.prepareSearch({ text: 'tea', ...filter });
      const bare = prepared && { ...prepared, query: { text: 'tea' } };
      expect(bare && (await words.findWithin(bare, { first: 1, end: 9_999, limit: 9_999 }))).toEqual([]);
    }
  });

  it('have the marks of a filter beside each of their alternatives', async () => {
    await transcribe('demo', ['coffee'], { language: 'it' });
    const prepared = await words.prepareSearch({ text: 'coffee', room: 'demo', language: 'it' });
    const alternatives = prepared !== undefined && 'any' in prepared.terms ? prepared.terms.any : [];
    expect(alternatives).toHaveLength(2);
    for (const each of alternatives) expect(JSON.stringify(each)).toMatch(/"r:.*"l:it"/);
  });

  it('have only the stems of the languages that are stored', async () => {
    await transcribe('demo', ['Ne parliamo.'], { language: 'it-IT' });
    const prepared = await words.prepareSearch({ text: 'parlato' });
    expect(JSON.stringify(prepared?.terms)).toContain('it:');
    expect(JSON.stringify(prepared?.terms)).not.toContain('en:');
  });

  it('are found within every combination of a time and another', async () => {
    const day = 86_400_000;
    const startedAt = Date.UTC(2026, 10, 27, 12);
    await transcribe('demo', ['coffee'], { startedAt });
    for (const days of [0, 1, 2, 20, 40, 300, 700, 1_500, 2_500, 30_000]) {
      const [earlier, later] = [startedAt - days * day, startedAt + days * day + 1];
      expect(await found('coffee', { since: earlier, until: later })).toEqual(['demo-0']);
      expect(await found('coffee', { since: earlier })).toEqual(['demo-0']);
      expect(await found('coffee', { until: later })).toEqual(['demo-0']);
      expect(await found('coffee', { since: later })).toEqual([]);
      expect(await found('coffee', { until: earlier })).toEqual([]);
    }
  });

  it('are listed in pages, the latest stored first, without a duplicate', async () => {
    const texts = Array.from({ length: 7 }, (_, index) => `coffee ${index}`);
    await transcribe('demo', texts);
    const pages: string[][] = [];
    let before: number | null | undefined;
    while (before !== null) {
      const page = await searchWords({ words, clock: systemClock }, { text: 'coffee', limit: 3, before });
      pages.push(page.hits.map((hit) => hit.segment.text));
      before = page.nextBefore;
      await transcribe('later', [`coffee later ${pages.length}`]);
    }
    expect(pages).toEqual([[6, 5, 4], [3, 2, 1], [0]].map((page) => page.map((n) => `coffee ${n}`)));
    expect(await searchWords({ words, clock: systemClock }, { text: 'coffee', limit: 3, until: 0 })).toEqual({
      hits: [],
      nextBefore: null,
    });
  });

  it('are not found after their transcription or an earlier attempt was deleted', async () => {
    const id = await transcribe('demo', ['coffee']);
    await transcribe('other', ['coffee']);
    await store.transcriptions.clearSegments('tr_other', 'a');
    expect(await found('coffee')).toEqual(['demo-0']);
    await store.transcriptions.delete(id);
    expect(await found('coffee')).toEqual([]);
  });

  it('are not found after the transaction failed', async () => {
    await transcribe('demo', ['coffee']);
    const failing = store.transaction(async (within) => {
      await within.transcriptions.addSegments('tr_demo', 'a', [segment('late', { text: 'late coffee' })]);
      await within.transcriptions.delete('tr_other');
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await found('coffee')).toEqual(['demo-0']);
  });

  describe('of one participant', () => {
    const ada = { identity: 'ada', room: 'one' };
    const texts = async (id: string) =>
      (await store.transcriptions.listSegments(id, { limit: 1000 })).map((stored) => stored.text);

    it('are deleted in a room, in parts, from transcript, interim results and search', async () => {
      const id = await transcribe('one', ['coffee', 'tea', 'milk'], { identity: 'ada' });
      const bea = segment('bea', { text: 'coffee too', identity: 'bea' });
      const interims = [
        segment('x', { trackId: 'TR_a', identity: 'ada' }),
        segment('y', { trackId: 'TR_b', identity: 'bea' }),
      ];
      await store.transcriptions.addSegments(id, 'a', [bea]);
      await store.transcriptions.putInterims(id, 'a', { segments: interims, updatedAt: 5 });
      await transcribe('two', ['coffee there'], { identity: 'ada' });
      expect(await words.forget(ada, 2)).toEqual([id, id]);
      expect(await words.forget(ada, 2)).toEqual([id]);
      expect(await words.forget(ada, 2)).toEqual([]);
      expect(await texts(id)).toEqual(['coffee too']);
      expect((await store.transcriptions.listInterims(id, 0)).map((interim) => interim.id)).toEqual(['y']);
      expect(await found('coffee')).toEqual(['two-0', 'bea']);
    });

    it('are deleted in every room, without those of unknown speakers', async () => {
      await transcribe('one', ['coffee'], { identity: 'ada' });
      await transcribe('two', ['coffee'], { identity: 'ada' });
      await transcribe('three', ['coffee']);
      const forgotten = await words.forget({ identity: 'ada', room: undefined }, 9);
      expect(forgotten.toSorted()).toEqual(['tr_one', 'tr_two']);
      expect(await found('coffee')).toEqual(['three-0']);
    });

    it('are not found for a name that no database can store', async () => {
      expect(await words.forget({ identity: '\0\uD800', room: '\0' }, 9)).toEqual([]);
    });

    it('are deleted with the turns and their audio in recordings of the room, or of every room', async () => {
      const sound = [{ keyId: 'key', part: 0, sealed: 'sealed' }];
      for (const room of ['one', 'two']) {
        const recording = { id: `rec ${room}`, room, filepath: `${room}.mp4`, bucket: null };
        await store.recordings.claim({ ...recording, owner: 'maker', claimUntil: 500 }, 1);
        const lease = { recordingId: recording.id, owner: 'a', now: 2, leaseUntil: 9 };
        await store.turns.claimListening(lease);
        const spoken = ['ada', 'bea', 'ada'].map((identity, index) => ({
          ...{ trackId: `TR_${identity}`, identity, name: null, sound },
          ...{ startedAt: index, endedAt: index + 1 },
        }));
        await store.turns.addTurns(recording.id, 'a', spoken);
      }
      const left = async (room: string) => ({
        turns: (await store.turns.listTurns(`rec ${room}`)).map(({ identity }) => identity),
        sounds: (await store.turns.listSounds(`rec ${room}`)).map(({ trackId }) => trackId),
      });
      expect(await words.forgetTurns(ada, 1)).toBe(1);
      expect(await words.forgetTurns(ada, 5)).toBe(1);
      expect(await words.forgetTurns(ada, 5)).toBe(0);
      expect(await left('one')).toEqual({ turns: ['bea'], sounds: ['TR_bea'] });
      expect((await left('two')).turns).toHaveLength(3);
      expect(await words.forgetTurns({ ...ada, room: undefined }, 5)).toBe(2);
      expect(await left('two')).toEqual({ turns: ['bea'], sounds: ['TR_bea'] });
    });

    it('are stored again by running transcriptions, and stay in recordings', async () => {
      await transcribe('one', ['coffee'], { identity: 'ada' });
      expect(await words.countRemains(ada)).toEqual({ running: 1, recordings: 0 });
      const recording = { id: 'rec', room: 'one', filepath: 'one.mp4', bucket: null };
      await store.recordings.claim({ ...recording, owner: 'maker', claimUntil: 500 }, 1);
      const lease = { recordingId: 'rec', owner: 'a', now: 2, leaseUntil: 9 };
      await store.turns.claimListening(lease);
      const turn = { trackId: 'TR_a', identity: 'ada', name: 'Ada', startedAt: 3, endedAt: 4 };
      await store.turns.addTurns('rec', 'a', [turn, { ...turn, startedAt: 5, endedAt: 6 }]);
      expect(await words.countRemains(ada)).toEqual({ running: 1, recordings: 1 });
      expect(await words.countRemains({ ...ada, room: 'two' })).toEqual({ running: 0, recordings: 0 });
      expect(await words.countRemains({ ...ada, room: undefined })).toEqual({ running: 1, recordings: 1 });
      await store.transcriptions.stopLive('tr_one', 9);
      expect(await words.countRemains({ identity: 'bea', room: undefined })).toEqual({
        ...{ running: 0, recordings: 0 },
      });
    });
  });

  it('in the vocabulary of a room are stored by room, and replaced', async () => {
    const { vocabularies } = store;
    const save = (room: string, terms: readonly string[]) => vocabularies.save({ room, terms }, ROOT_QUOTA);
    expect(await vocabularies.find('demo')).toEqual([]);
    await save('demo', ['Ada', 'a "quoted" one', 'a\u0000b']);
    await save('other', ['Bea']);
    expect(await vocabularies.find('demo')).toEqual([
      'Ada',
      'a "quoted" one',
      expect.stringMatching(/^a.?b$/u),
    ]);
    await save('demo', ['Eve']);
    expect(await vocabularies.find('demo')).toEqual(['Eve']);
    await vocabularies.delete('demo');
    await vocabularies.delete('demo');
    expect(await vocabularies.find('demo')).toEqual([]);
    expect(await vocabularies.find('other')).toEqual(['Bea']);
  });

  it('in vocabularies count to the key that gave them first, also when two instances save at once', async () => {
    const ofKey = { keyId: 'key_1', limit: 5 };
    const instances = [store, await testDatabase.open()];
    const saved = await Promise.all(
      instances.flatMap(({ vocabularies }, number) =>
        Array.from({ length: 5 }, (_, n) =>
          vocabularies.save({ room: `room ${number} ${n}`, terms: [] }, ofKey),
        ),
      ),
    );
    expect(saved.filter((isSaved) => isSaved)).toHaveLength(5);
    expect(await store.vocabularies.countOfKey('key_1')).toBe(5);
    const room = `room ${saved.indexOf(true) < 5 ? 0 : 1} ${saved.indexOf(true) % 5}`;
    expect(await store.vocabularies.save({ room, terms: ['Ada'] }, ofKey)).toBe(true);
    expect(await store.vocabularies.save({ room, terms: ['Bea'] }, { keyId: 'key_2', limit: 1 })).toBe(true);
    expect(await store.vocabularies.countOfKey('key_2')).toBe(0);
    expect(await store.vocabularies.save({ room: 'another', terms: [] }, ofKey)).toBe(false);
    expect(await store.vocabularies.save({ room: 'another', terms: [] }, ROOT_QUOTA)).toBe(true);
    await store.vocabularies.delete(room);
    expect(await store.vocabularies.save({ room: 'one more', terms: [] }, ofKey)).toBe(true);
  });

  it('are returned with whether their transcription has tracks', async () => {
    await transcribe('demo', ['coffee'], { trackId: 'TR_1', identity: 'ada' });
    expect((await search('coffee'))[0]?.hasTracks).toBe(true);
  });
});

function segment(id: string, changes: Partial<StoredSegment> = {}): StoredSegment {
  return {
    id,
    trackId: null,
    identity: null,
    name: null,
    text: '',
    language: 'en-US',
    startedAt: 1500,
    endedAt: 2500,
    confidence: null,
    overlapMs: null,
    ...changes,
  };
}
