import { asText, flag, option, wholeSeconds } from './parameters.ts';

/** Options of every command. */
export const COMMON_OPTIONS = {
  json: option('--json [fields]', "print the API's response as JSON, or only these fields (a,b)", asText),
  noColor: flag('--no-color', 'no colours'),
  debug: flag('--debug', 'show requests and responses on stderr, secrets masked'),
};

/** Options of every command that calls the service. */
export const CONNECTION_OPTIONS = {
  profile: option('--profile <name>', 'profile to use (RTC_PROFILE)', { completes: 'profiles' }),
  url: option('--url <url>', 'address of the service (RTC_URL)'),
  apiKey: option('--api-key <key>', 'API key (RTC_API_KEY)'),
  apiSecretFile: option(
    '--api-secret-file <file>',
    'read the API secret from a file, - for stdin (RTC_API_SECRET)',
    { completes: 'files' },
  ),
  requestTimeout: option(
    '--request-timeout <duration>',
    'time limit of each request; default 30s',
    wholeSeconds(1, 3600),
  ),
  curl: flag('--curl', 'print the signed request as a curl command instead of sending it'),
};

/** The common options that are also allowed before the noun, with whether they have a value. */
export const LEADING_OPTIONS: Readonly<Record<string, boolean>> = {
  '--no-color': false,
  '--debug': false,
  '--curl': false,
  '--profile': true,
  '--url': true,
  '--api-key': true,
  '--api-secret-file': true,
  '--request-timeout': true,
};

export const YES = flag('-y, --yes', 'do not ask for confirmation');
export const WATCH = flag(
  '-w, --watch',
  'keep watching: redraws on a terminal, prints changes as JSON lines elsewhere',
);
