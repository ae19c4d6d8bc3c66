import {
  choiceSetting,
  HTTP,
  integerSetting,
  KEY,
  type Setting,
  switchSetting,
  textSetting,
  urlSetting,
} from './setting.ts';

/** Settings of the speech-to-text workers. */
export const SPEECH_SETTINGS = {
  STT_ENGINE: choiceSetting({
    meaning:
      'Recogniser of the stt-live and stt-post workers: models on this machine (sherpa), or a speech server (openai)',
    fallback: 'sherpa',
    choices: ['sherpa', 'openai'],
  }),
  STT_MODELS: textSetting({
    meaning:
      'Folders of sherpa-onnx models by language; default: the installed models (rtc stt install moonshine-tiny-en). With STT_ENGINE=openai, these languages are recognised on this machine and the others by the server',
    fallback: undefined,
    check: (text) => text.split(',').every((pair) => /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*=.+$/.test(pair)),
    allowed: 'language=folder pairs separated by commas, such as en=/models/moonshine,it=/models/whisper-it',
  }),
  STT_THREADS: integerSetting({
    meaning: 'Threads of a local model',
    fallback: 1,
    minimum: 1,
    maximum: 64,
  }),
  STT_OPENAI_URL: urlSetting({
    meaning: 'Speech server with the API of POST /v1/audio/transcriptions, for STT_ENGINE=openai',
    fallback: undefined,
    protocols: HTTP,
  }),
  STT_OPENAI_KEY: textSetting({
    meaning: "The speech server's key, if it needs one",
    fallback: undefined,
    secret: true,
    pattern: KEY,
  }),
  STT_OPENAI_MODEL: textSetting({ meaning: 'Model that the speech server uses', fallback: 'whisper-1' }),
  STT_OPENAI_LANGUAGES: textSetting({
    meaning: 'Languages of the speech server; add auto if it can detect the language',
    fallback: 'en',
    check: (text) => text.split(',').every((tag) => /^(auto|[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)$/.test(tag)),
    allowed: 'BCP 47 tags separated by commas, such as en,it,de, and auto',
  }),
  STT_LISTEN_TO_RECORDINGS: switchSetting({
    meaning:
      'Let stt-live workers listen to rooms that are recorded, so that transcripts of the recordings name the speakers',
    fallback: true,
  }),
  STT_FFMPEG: textSetting({
    meaning: 'ffmpeg, with which stt-post workers decode recordings: a path, or a name on PATH',
    fallback: 'ffmpeg',
  }),
} as const satisfies Record<string, Setting<unknown>>;
