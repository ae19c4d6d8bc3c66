import {
  buildLivekitServer,
  defaultCacheDir,
  findCachedLivekitServer,
  findOnPath,
  livekitServerVersion,
} from '../../src/server/dev/binaries/go-binary.ts';
import { MOONSHINE_BYTES } from '../../src/server/transcription/models/catalogue.ts';
import {
  installModel,
  installPackage,
  MOONSHINE_WHEEL,
  type PackageRecipe,
} from '../../src/server/transcription/models/install-model.ts';
import { isFaketimeInstalled } from '../../test/support/parts/faketime.ts';
import { findPostgresPrograms } from '../../test/support/parts/postgres.ts';
import { isRecorderInstalled } from '../../test/support/parts/recorder.ts';
import { findSpeechRecordings, TEST_MODEL, testModel } from '../../test/support/parts/speech-model.ts';
import {
  type BuildOptions,
  type Cached,
  fetchToolchain,
  goEnvironment,
  helm,
  ingress,
  people,
  versitygw,
} from './go-toolchain.ts';
import { openApiTools, pythonTools, runtimes, schemathesis } from './pinned-folder.ts';
import type { Part } from './prepare-parts.ts';
import { runQuietly } from './run-command.ts';

/** GStreamer elements of the ingress service's pipelines for an RTMP push of H.264 and AAC. */
const gstreamerElements = 'decodebin3 flvdemux avdec_h264 avdec_aac x264enc vp8enc opusenc'.split(' ');

/** Libraries that its Go bindings link, with their names in pkg-config. */
const gstreamerLibraries = [
  'gstreamer-1.0',
  'gstreamer-base-1.0',
  'gstreamer-app-1.0',
  'gstreamer-mpegts-1.0',
];

/** Recordings of people who read, from the package that contains the model. */
const recordings: PackageRecipe = {
  commands: MOONSHINE_WHEEL,
  downloadBytes: MOONSHINE_BYTES,
  files: {
    'moonshine_voice/assets/beckett.wav': 'e5a26b3d29e5b0bc8dbd72c11d16a3808a4ec0ac45b21f12a27d2a2fe5c5ae61',
    'moonshine_voice/assets/two_cities.wav':
      'f3348494d77cb74a02862f5e685ed09faf3e75832c5cc5c80703282c2cd8b52e',
  },
};

/** Every part that tests run. A part comes after those that are needed to build it. */
export const parts: readonly Part[] = [
  packaged(['redis-server'], { called: 'Redis', fixtures: ['redis.ts', 'shared.ts#sharedLivekit'] }),
  {
    name: 'postgresql',
    fixtures: ['test/support/parts/postgres.ts', 'test/support/parts/shared.ts#sharedPostgres'],
    isInstalled: async () => (await findPostgresPrograms()) !== undefined,
    debianPackages: ['postgresql'],
    instructions: 'install PostgreSQL so that initdb and postgres are on PATH',
  },
  {
    name: 'libfaketime',
    fixtures: ['test/support/parts/faketime.ts'],
    isInstalled: async () => isFaketimeInstalled(),
    debianPackages: ['libfaketime'],
    instructions: 'install libfaketime where Debian has it',
  },
  packaged(['haproxy'], { called: 'HAProxy 2.6 or newer', fixtures: ['haproxy.ts'] }),
  packaged(['ffmpeg'], { fixtures: ['ffmpeg.ts'] }),
  packaged(['chromium'], { debianPackages: ['chromium', 'fonts-noto-core'], fixtures: ['browser.ts'] }),
  packaged(['promtool'], {
    called: 'Prometheus',
    debianPackages: ['prometheus'],
    fixtures: ['prometheus.ts'],
  }),
  packaged(['systemd-analyze'], { debianPackages: ['systemd'], fixtures: ['systemd.ts'] }),
  packaged(['zsh', 'fish'], { fixtures: ['shells.ts'] }),
  packaged(['php'], { called: 'PHP 8', debianPackages: ['php-cli'], fixtures: ['sample-languages.ts'] }),
  packaged(['java'], {
    called: 'a JDK from 17',
    debianPackages: ['default-jdk-headless'],
    fixtures: ['sample-languages.ts', 'openapi-tools.ts'],
  }),
  packaged(['espeak-ng'], { fixtures: ['speech.ts'] }),
  {
    name: 'pip',
    fixtures: [],
    isInstalled: async () => (await runQuietly('python3', ['-m', 'pip', '--version'])).status === 0,
    debianPackages: ['python3-pip'],
    instructions: 'install Python 3 with pip',
  },
  {
    name: 'OpenAPI tools',
    fixtures: ['test/support/parts/openapi-tools.ts'],
    builtWith: ['pip'],
    ...cached(openApiTools),
    instructions: 'install Python 3 with pip: they are fetched from their registries, once',
  },
  {
    name: 'Schemathesis',
    fixtures: ['test/support/parts/schemathesis.ts'],
    builtWith: ['pip'],
    ...cached(schemathesis),
    instructions: 'install Python 3 with pip: it is fetched from its registry, 70 MB, once',
  },
  {
    name: 'speech model',
    fixtures: ['test/support/parts/speech-model.ts'],
    builtWith: ['pip'],
    isInstalled: async () => isSpeechInstalled(),
    build: installSpeech,
    instructions: 'install Python 3 with pip: it is fetched from its registry, 90 MB, once',
  },
  {
    name: 'Go',
    fixtures: [
      'test/support/parts/go.ts',
      'test/support/parts/sample-languages.ts',
      'test/support/parts/openapi-tools.ts',
    ],
    isInstalled: async () => (await goEnvironment()) !== undefined,
    debianPackages: ['golang-go'],
    build: fetchToolchain,
    instructions: 'install Go 1.21 or newer',
  },
  {
    name: 'GStreamer (development)',
    fixtures: [],
    isInstalled: isGstreamerInstalled,
    debianPackages: [
      ...['gcc', 'libc6-dev', 'pkg-config', 'gstreamer1.0-tools'],
      ...['libgstreamer1.0-dev', 'libgstreamer-plugins-base1.0-dev', 'libgstreamer-plugins-bad1.0-dev'],
      ...['gstreamer1.0-plugins-base', 'gstreamer1.0-plugins-good', 'gstreamer1.0-plugins-bad'],
      ...['gstreamer1.0-plugins-ugly', 'gstreamer1.0-libav'],
    ],
    instructions:
      'install GStreamer 1.22 or newer with its development files and the base, good, bad, ugly and libav plugins',
  },
  {
    name: `livekit-server ${livekitServerVersion}`,
    fixtures: ['test/support/parts/livekit.ts', 'test/support/parts/shared.ts#sharedLivekit'],
    builtWith: ['Go'],
    isInstalled: async () => (await findCachedLivekitServer(defaultCacheDir(process.env))) !== undefined,
    build: buildLivekitServer,
    instructions: 'install Go: it is built from its pinned version (2 minutes, once)',
  },
  {
    name: 'versitygw',
    fixtures: ['test/support/parts/s3.ts'],
    builtWith: ['Go'],
    ...cached(versitygw),
    instructions: 'install Go: it is built from its pinned version (1 minute, once)',
  },
  {
    name: 'helm',
    fixtures: ['test/support/parts/helm.ts'],
    builtWith: ['Go'],
    ...cached(helm),
    instructions: 'install Go: it is built from its pinned version (2 to 10 minutes, once)',
  },
  {
    name: 'Python tools (schemas of Kubernetes, grammar of PowerShell)',
    fixtures: ['test/support/parts/python-tools.ts'],
    builtWith: ['pip'],
    ...cached(pythonTools),
    instructions: 'they are fetched from the Python package index, 122 MB, once: install Python 3 with pip',
  },
  {
    name: 'people of a room',
    fixtures: ['test/support/parts/people.ts'],
    builtWith: ['Go'],
    ...cached(people),
    instructions: 'install Go: it is built from scripts/build-people (1 minute, once)',
  },
  {
    name: 'LiveKit ingress',
    fixtures: ['test/support/parts/ingress.ts'],
    runsWith: ['GStreamer (development)'],
    builtWith: ['Go'],
    ...cached(ingress),
    instructions: 'install Go and GStreamer: it is built from its pinned version (3 minutes, once)',
  },
  {
    name: "LiveKit's recorder (egress)",
    fixtures: ['test/support/parts/recorder.ts'],
    isInstalled: () => isRecorderInstalled(process.env),
    instructions: 'put egress on PATH or its image into Docker: `rtc help recorder`',
  },
  {
    name: 'other runtimes (Bun, Deno, Node 18 and 20)',
    fixtures: ['test/support/parts/runtimes.ts'],
    ...cached(runtimes),
    instructions: 'they are fetched from the npm registry, 0.4 GB, once, for Linux on x64',
  },
];

type Packaged = {
  /** The names to install where it is no package of Debian. Default: the programs. */
  readonly called?: string;
  /** Default: the names of the programs. */
  readonly debianPackages?: readonly string[];
  /** Below test/support/parts. */
  readonly fixtures: readonly string[];
};

/** Programs that Debian has in packages, and that elsewhere only have to be on PATH. */
function packaged(programs: readonly string[], { called, debianPackages, fixtures }: Packaged): Part {
  const names = programs.join(' and ');
  return {
    name: names,
    fixtures: fixtures.map((fixture) => `test/support/parts/${fixture}`),
    isInstalled: async () => {
      const found = await Promise.all(programs.map((program) => findOnPath([program], process.env.PATH)));
      return !found.includes(undefined);
    },
    debianPackages: debianPackages ?? programs,
    instructions: `install ${called ?? names} so that ${names} is on PATH`,
  };
}

function cached({ find, install }: Cached): Pick<Part, 'isInstalled' | 'build'> {
  return { isInstalled: async () => (await find()) !== undefined, build: install };
}

async function isGstreamerInstalled(): Promise<boolean> {
  const libraries = await runQuietly('pkg-config', ['--exists', ...gstreamerLibraries]);
  if (libraries.status !== 0) return false;
  for (const element of gstreamerElements) {
    if ((await runQuietly('gst-inspect-1.0', ['--exists', element])).status !== 0) return false;
  }
  return true;
}

function isSpeechInstalled(): boolean {
  const cacheDir = defaultCacheDir(process.env);
  return testModel(cacheDir) !== undefined && findSpeechRecordings(cacheDir) !== undefined;
}

/** Installs the model and its detector as a user does, with the recordings beside them. */
async function installSpeech({ cacheDir, onProgress = () => {} }: BuildOptions): Promise<void> {
  await installModel(TEST_MODEL, { cacheDir, onProgress });
  await installPackage(recordings, { name: 'speech-recordings', folder: cacheDir, onProgress });
}
