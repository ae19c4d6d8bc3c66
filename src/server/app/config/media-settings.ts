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

/** Settings of recordings and of the storage of their files. */
export const RECORDING_SETTINGS = {
  S3_BUCKET: textSetting({ meaning: 'Bucket for recordings', fallback: undefined }),
  S3_ENDPOINT: urlSetting({
    meaning: 'Object storage, if it is not AWS',
    fallback: undefined,
    protocols: HTTP,
  }),
  S3_PUBLIC_ENDPOINT: urlSetting({
    meaning: 'Address of the object storage for receivers of pre-signed URLs; default S3_ENDPOINT',
    fallback: undefined,
    protocols: HTTP,
  }),
  S3_REGION: textSetting({ meaning: 'Region of the bucket', fallback: 'us-east-1' }),
  S3_ACCESS_KEY: textSetting({
    meaning:
      'Access key of the bucket; without it, keys are found as by AWS tools: a role, a web identity, a profile',
    fallback: undefined,
  }),
  S3_SECRET_KEY: textSetting({
    meaning: 'Secret key of the bucket',
    fallback: undefined,
    secret: true,
  }),
  S3_SESSION_TOKEN: textSetting({
    meaning: 'Session token that goes with temporary keys of the bucket; they end with it',
    fallback: undefined,
    secret: true,
  }),
  RECORDER_OWN_KEYS: switchSetting({
    meaning: 'The recorder gets no keys of the bucket and finds its own; always so without S3_ACCESS_KEY',
    fallback: false,
  }),
  S3_FORCE_PATH_STYLE: switchSetting({
    meaning: 'Address the bucket in the path, not in the host name',
    fallback: false,
  }),
  RECORDING_DIR: textSetting({
    meaning:
      "Folder of recordings in the recorder's file system, if there is no bucket; default DATA_DIR/recordings",
    fallback: undefined,
  }),
  EGRESS_PROGRAM: textSetting({
    meaning: "LiveKit's egress worker, which rtc dev starts; default: egress on PATH, or its image in Docker",
    fallback: undefined,
  }),
  RECORDER_PATIENCE: integerSetting({
    meaning: 'How long the start of a recording waits for a recorder that is busy or may be missing',
    fallback: 8,
    minimum: 1,
    maximum: 25,
    unit: 'seconds',
  }),
  RECORDING_PATH: textSetting({
    meaning: 'Template of the key of a recording, with {room} and {time}',
    fallback: '{room}/{time}.mp4',
    // A recorder merges consecutive slashes, and the file would then have a different key.
    pattern: /^(?!\/)(?!.*\/\/)(?!.*(^|\/)\.{1,2}(\/|$))(?=.*\{time\})([\w./=-]|\{room\}|\{time\})+\.mp4$/,
    allowed:
      'letters, digits, ._-=/, {room} and, at least once, {time}; relative, without empty, . or .. parts, ending in .mp4',
  }),
} as const satisfies Record<string, Setting<unknown>>;

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
