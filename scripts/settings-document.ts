import { REQUIRED, type Setting } from '../src/server/app/config/setting.ts';
import { SETTINGS } from '../src/server/app/config/settings.ts';

/** Headings of the page, by the first setting below each. */
const SECTIONS: Readonly<Record<string, string>> = {
  API_KEY: 'Keys of the API',
  HOST: 'Addresses and shutdown',
  LIVEKIT_URL: 'LiveKit',
  TOKEN_TTL: 'Access tokens',
  DATA_DIR: 'Database',
  S3_BUCKET: 'Recordings',
  ENCRYPTION_KEY: 'Encryption and webhooks',
  EVENT_RETENTION: 'Retention',
  STT_ENGINE: 'Speech to text',
  RATE_LIMIT_API: 'Limits',
  FISCAL_API: 'Fiscal codes',
  LOG_LEVEL: 'Log and metrics',
  OTEL_SDK_DISABLED: 'Traces',
};

/** Returns the text of docs/settings.md: every setting with its default and the allowed values. */
export function settingsDocument(): string {
  const settings = Object.entries(SETTINGS as Readonly<Record<string, Setting<unknown>>>);
  return `# Settings

Settings are environment variables of \`rtc serve\`, of the speech workers, and of \`rtc dev\` if it does not choose a value itself.

- **\`.env\`**: outside production (\`NODE_ENV=production\`), a \`.env\` file in the working directory counts too. The environment takes
  precedence.
- **Secrets from files**: every secret can come from a file, as Docker, Kubernetes and systemd provide them.
  \`API_SECRET_FILE=/run/secrets/api-secret\` sets API_SECRET to the content of the file, without a byte order mark and without a line feed at its end.
- **Checks**: a bad value stops the start. The message names the variable, its value (secrets masked) and what is allowed.
  A variable that looks like a setting and is none causes a warning with the nearest name. \`rtc serve --check\` checks the settings and DATA_DIR, and exits;
  \`rtc serve --print-config\` prints the effective values, secrets masked.

Only API_KEY and API_SECRET are required. [Production](production.md#several-machines) says which ones several instances share.
${settings.map(toRow).join('')}`;
}

function toRow([name, { meaning, fallback, allowed, secret }]: readonly [string, Setting<unknown>]): string {
  const section = SECTIONS[name];
  const heading =
    section === undefined
      ? ''
      : `\n## ${section}\n\n| variable | meaning | default | allowed |\n|---|---|---|---|\n`;
  return `${heading}| ${name} | ${meaning}${secret ? ' (secret)' : ''} | ${describe(fallback)} | ${allowed} |\n`;
}

function describe(fallback: unknown): string {
  if (fallback === REQUIRED) return 'required';
  if (fallback === undefined || fallback === '') return '';
  if (typeof fallback === 'boolean') return fallback ? 'on' : 'off';
  return `\`${String(fallback)}\``;
}
