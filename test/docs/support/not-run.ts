/*
 * Commands of the pages that `shell-blocks.extended.ts` does not run, each with the reason. A key is a page, the beginning
 * of a line, or, with a $ at its end, a whole line. All other commands run against a live service.
 */

export const PAGES_NOT_RUN: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'it runs the tests',
  'docs/install.md':
    'it needs Docker, a cluster or the system; test/docs/compose.test.ts reads compose.yaml and these variables, test/deploy checks the chart and the units',
  'docs/metrics.md': 'it needs a collector; test/server/platform/tracing has one of its own',
  'examples/fiscal-form/README.md': 'test/examples/fiscal-form.extended.ts opens the form',
  'examples/receiver-ts/README.md': 'test/examples/receivers.test.ts runs the receiver',
  'examples/receiver-python/README.md': 'test/examples/receivers.test.ts runs the receiver',
  'examples/web-app/README.md': 'test/examples/web-app.test.ts runs it',
};

export const LINES_NOT_RUN: Readonly<Record<string, string>> = {
  'npm run ': 'it works on the checkout itself',
  'npm ci': 'test/web/first-walk.extended.ts begins with what it starts',
  'docker ': 'it needs Docker',
  'npm install --global': 'it changes the system; test/packages installs the package',
  'tar -xzf release/': 'test/packages/single-file.extended.ts makes and runs the file',
  'export RTC_API_KEY=$(node':
    'rtc dev writes the file; test/examples/web-app.test.ts runs the application with a key',
  'export RTC_API_SECRET=$(node': 'as the line before',
  'node examples/web-app/server.js': 'test/examples/web-app.test.ts runs it',
  'export API_KEY=$(jq': 'rtc dev writes the file',
  'export LIVEKIT_API_KEY=$(jq': 'rtc dev writes the file',
  'export LIVEKIT_API_SECRET=$(jq': 'rtc dev writes the file',
  'LIVEKIT_URL=ws://127.0.0.1:7880 rtc worker':
    'it needs a speech model; test/server/transcription runs workers',
  'sqlite3 ': 'it needs sqlite3, which the tests do not install; test/server/app/backup copies a database',
  'cp "$DATA_DIR/encryption.key"': 'as the line before',
  'createdb ': 'test/server/app/backup/migrate-to-postgres.test.ts has a PostgreSQL of its own',
  'PGPASSWORD=': 'test/server/app/backup/migrate-to-postgres.test.ts has a PostgreSQL of its own',
  'pg_dump ': 'it needs a service file of PostgreSQL',
  'pg_restore ': 'it needs a service file of PostgreSQL',
  'examples/tour/tour.sh': 'test/examples/tour.extended.ts runs it, with a recorder and speech',
  'rtc profile add prod': 'it asks; test/cli/framework/prompts.test.ts answers',
  'pass show ':
    'it needs a password store; test/cli/commands/broadcast.test.ts reads URLs from standard input',
  'rtc rooms admit lesson-7 ada':
    'it needs somebody who waits; test/cli/commands/rooms-waiting.test.ts has some',
  'rtc rooms deny lesson-7': 'it needs somebody who waits; test/cli/commands/rooms-waiting.test.ts has some',
  'rtc participants forget': 'it deletes words, which needs a transcription',
  'rtc cf generate$': 'it asks; test/cli/commands/cf-prompts.test.ts answers',
  'rtc cf generate --file people.xlsx': 'it needs a workbook; test/cli/commands/cf-files.test.ts has one',
  'rtc console --profile prod': 'there is no such profile',
  'rtc rooms open': 'it needs LiveKit; test/cli/commands/rooms-page.test.ts has one',
  'rtc recordings download EG_tH8vdkRoTDWY subtitled.mp4': 'it needs a transcription',
  'rtc webhooks verify': 'it needs a delivery in files; test/cli/commands/webhooks-verify.test.ts has some',
  'rtc rooms join': 'it needs LiveKit; test/cli/commands/rooms-join.test.ts has one',
  'espeak-ng ': 'it needs LiveKit; test/cli/commands/rooms-join.test.ts has one',
  'rtc dev': 'it is a service of its own; test/cli/commands/dev.test.ts and test/server/dev start it',
  'rtc stt ': 'it fetches models; test/cli/commands/stt.test.ts has some',
  'rtc transcription': 'it needs a speech worker; test/cli/commands/transcriptions.test.ts has what one made',
  'rtc wait transcription': 'it needs a speech worker',
  'source <(rtc completion zsh)': 'it is for zsh; test/cli/commands/completion.test.ts runs it there',
  'rtc completion fish': 'it is for fish; test/cli/commands/completion.test.ts runs it there',
  'rtc completion powershell': 'it needs PowerShell, which is not available',
};

/** Lines with an ellipsis are incomplete. */
export function isRun(line: string): boolean {
  return !line.includes('…') && readReason(line) === undefined;
}

/** Returns why a line is not run; undefined if it is. */
function readReason(line: string): string | undefined {
  return Object.entries(LINES_NOT_RUN).find(([begin]) => isMeant(begin, line))?.[1];
}

export function isMeant(begin: string, line: string): boolean {
  return begin.endsWith('$') ? line === begin.slice(0, -1) : line.startsWith(begin);
}
