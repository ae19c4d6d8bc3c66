import { AUTO, matchLanguage, type SpeechEngine } from './speech.ts';

export type MixedEngineSettings = {
  readonly local: SpeechEngine;
  readonly remote: SpeechEngine;
  /** Languages that are never sent to the server, also while their model does not work. */
  readonly localLanguages: readonly string[];
  /** Maximum number of local recognitions at once. */
  readonly localAtOnce: number;
};

/** Recognises some languages on this machine, and the others with a server. */
export function createMixedEngine({
  local,
  remote,
  localLanguages,
  localAtOnce,
}: MixedEngineSettings): SpeechEngine {
  // Without AUTO: to detect the language, the server would have to get speech in the local languages too.
  const sent = remote.languages.filter((language) => ![...localLanguages, AUTO].includes(language));
  const limit = createLimit(localAtOnce);
  const engineFor = (language: string): SpeechEngine => {
    if (language === AUTO) return local;
    const match = matchLanguage(language, [...localLanguages, ...sent]);
    return match !== undefined && localLanguages.includes(match) ? local : remote;
  };
  return {
    name: `${local.name} and ${remote.name}`,
    isRemoteFor: (language) => engineFor(language) === remote,
    get languages() {
      return [...local.languages, ...sent].toSorted();
    },
    maxSegmentSecondsFor: (language) => engineFor(language).maxSegmentSecondsFor(language),
    supports: (language) => engineFor(language).supports(language),
    prepare: (language) => engineFor(language).prepare(language),
    recognise: (request) => {
      const engine = engineFor(request.language);
      return engine === remote ? engine.recognise(request) : limit(() => engine.recognise(request));
    },
    close: async () => {
      await Promise.all([local.close(), remote.close()]);
    },
  };
}

/**
 * Limits the concurrent local recognitions. A worker's queue runs as many recognitions as the server accepts, which are too
 * many for this machine.
 */
function createLimit(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The slot goes to the next waiting recognition, or becomes free.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
