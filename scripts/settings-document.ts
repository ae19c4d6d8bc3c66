import { REQUIRED, type Setting } from '../src/server/app/config/setting.ts';
import { SETTINGS } from '../src/server/app/config/settings.ts';

/** docs/settings.md: every setting with its default and what is allowed. */
export function settingsDocument(): string {
  const rows = Object.entries(SETTINGS as Readonly<Record<string, Setting<unknown>>>).map(
    ([name, { meaning, fallback, allowed, secret }]) =>
      `| ${name} | ${meaning}${secret ? '; a secret' : ''} | ${describe(fallback)} | ${allowed} |`,
  );
  return `# Settings

Environment variables of \`rtc serve\`, and of \`rtc dev\` where it does not choose by itself. Outside production
(\`NODE_ENV=production\`) a \`.env\` file in the working directory counts too; the environment goes before it. A bad value
stops the start with a message that names the variable, its value (secrets masked) and what is allowed.

Every secret may come from a file instead: \`API_SECRET_FILE=/run/secrets/api-secret\` sets API_SECRET to the content of the
file, as Docker, Kubernetes and systemd hand out secrets. A line feed at its end does not count.

\`rtc serve --check\` checks them and DATA_DIR, and exits; \`rtc serve --print-config\` prints the effective values,
secrets masked.

| variable | meaning | default | allowed |
|---|---|---|---|
${rows.join('\n')}

The service needs LiveKit's key only for its own calls; callers and clients never see it. Per process, not shared between
instances: the rate limits and the metrics.
`;
}

function describe(fallback: unknown): string {
  if (fallback === REQUIRED) return 'required';
  if (fallback === undefined || fallback === '') return '';
  if (typeof fallback === 'boolean') return fallback ? 'on' : 'off';
  return `\`${String(fallback)}\``;
}
