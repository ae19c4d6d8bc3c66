import { SEE_ROOT_HELP, usageError } from '../../errors/cli-error.ts';
import { didYouMean } from '../../errors/did-you-mean.ts';
import { helpWidth, type Io } from '../../terminal/io.ts';
import { type CommandGroup, matchesVerb } from '../parameters.ts';
import { layOutHelp } from './layout.ts';
import { fullHelp, rootHelp } from './root-help.ts';

/**
 * Returns the help of a topic, of a noun, or of the command that the words name; without words the whole help.
 * @throws CliError (usage) for unknown words
 */
export async function formatHelp(
  registry: readonly CommandGroup[],
  [first, ...rest]: readonly string[],
  io: Io,
): Promise<string> {
  if (first === undefined) return rootHelp(registry, { hasColours: false, width: helpWidth(io) });
  if (first === ALL && rest.length === 0)
    return fullHelp(registry, { hasColours: false, width: helpWidth(io) });
  const topic = Object.hasOwn(TOPICS, first) ? TOPICS[first] : undefined;
  if (topic !== undefined) return topic;
  const group = registry.find(({ noun }) => noun === first);
  if (group === undefined) throw unknownSubject(first, registry);
  const { commands } = await group.load();
  const [verb, ...others] = rest;
  const command =
    verb === undefined
      ? commands.find((each) => each.verb === '')
      : commands.find((each) => matchesVerb(each, verb));
  if ((verb !== undefined && command === undefined) || others.length > 0) throw unknownVerb(group, rest);
  return layOutHelp(group, command, { width: helpWidth(io), hasColours: false });
}

function unknownVerb({ noun, verbs }: CommandGroup, rest: readonly string[]): Error {
  const [verb = ''] = rest;
  const suggestion = rest.length > 1 ? '' : didYouMean(verb, verbs);
  return usageError(
    `there is no help for '${noun} ${rest.join(' ')}'${suggestion}`,
    `see: rtc ${noun} --help`,
  );
}

function unknownSubject(subject: string, registry: readonly CommandGroup[]): Error {
  const known = [ALL, ...Object.keys(TOPICS), ...registry.map(({ noun }) => noun)];
  return usageError(`there is no help for '${subject}'${didYouMean(subject, known)}`, SEE_ROOT_HELP);
}

/** `rtc help all` shows every noun with its verbs. */
export const ALL = 'all';

/** `rtc help <topic>`. */
export const TOPICS: Readonly<Record<string, string>> = {
  'exit-codes': `Exit codes

    0  success. Also if the reader of a pipe goes away, or a signal ends a
       stream
    1  any other failure: a 5xx other than 503, or a response that is not from
       this service
    2  usage: a wrong command line, a 400 or 413, or --yes is missing without a
       terminal
    3  not found
    4  authentication: key, secret or clock are wrong, or key and secret are
       missing
    5  conflict
    6  unavailable, timed out or rate-limited, also by a proxy in between (502,
       504). Trying again later may help
    7  negative result: doctor found a fault, a token has expired, a code or a
       signature is not valid, a test delivery failed, nothing was recorded
       (recordings stop --wait), or what rtc wait waits for ended in another
       state
    8  the time was up: --wait, rtc wait or events tail --until is still waiting
  130  cancelled: Ctrl-C or Ctrl-D, or no at a prompt

  With several targets (rtc rooms delete a b) every target is tried. The first
  failure decides the exit code.
`,
  environment: `Environment

  Each setting comes from the first of these that has it: option, variable,
  profile, default. A profile that you name with --profile counts as an option.

  RTC_URL          address of the service; default http://127.0.0.1:3000. With
                   BASE_PATH of the service, it ends in that path
  RTC_API_KEY      API key; API_KEY is accepted too
  RTC_API_SECRET   API secret; API_SECRET is accepted too
  RTC_WEBHOOK_SECRET
                   secret of a webhook, for webhooks verify and listen
  RTC_PROFILE      profile to use instead of the current one
  XDG_CONFIG_HOME  profiles are in rtc/config.json below it; default ~/.config
  XDG_CACHE_HOME   compiled code is kept in rtc/ below it; default ~/.cache

  CI               if set: never ask anything
  NO_COLOR         if set: no colours; --no-color does the same
  FORCE_COLOR      colours even without a terminal; 0 for no colours
  CLICOLOR         0 for no colours; CLICOLOR_FORCE=1 forces them
  TERM             dumb: no colours
  HTTPS_PROXY, HTTP_PROXY
                   proxy to addresses with TLS and without, such as
                   http://user:password@proxy.example.org:3128
  NO_PROXY         hosts that need no proxy, such as localhost,.example.org;
                   default: this machine

  The service reads other variables. rtc serve --print-config lists them with
  their values.
`,
  recorder: `A recorder, and a worker for streams

  Recordings need a LiveKit egress worker. Streams (RTMP, WHIP) need an ingress
  worker. Both connect to the Redis of the media server.

  rtc dev starts a recorder by itself if it finds one: egress on PATH, the path
  in EGRESS_PROGRAM, or, on Linux, an image of Docker or Podman. Download the
  image once:

    docker pull livekit/egress:v1.12.0

  To start a recorder beside a media server and a Redis on this machine:

    docker run --rm --network host \\
      -e EGRESS_CONFIG_BODY="$(cat egress.yaml)" livekit/egress

  with this egress.yaml:

    api_key: KEY                 # a pair of its own among the media server's
    api_secret: SECRET           # keys; with rtc dev that of credentials.json
    ws_url: ws://127.0.0.1:7880  # address of the media server
    redis: { address: "127.0.0.1:6379" }
    cpu_cost: { room_composite_cpu_cost: 2 }    # with fewer than 4 processors

  In the media server's configuration that pair is one more line, for example
  keys: { …, egress: SECRET }. It can then be changed alone. The pair of
  LIVEKIT_API_KEY, which signs tokens, works too.

  A worker for streams is the image livekit/ingress with INGRESS_CONFIG_BODY and
  the same first four settings. It listens on port 1935 for RTMP and on 8080 for
  WHIP. Write its addresses into the configuration of the media server:

    ingress:
      rtmp_base_url: rtmp://HOST:1935/x
      whip_base_url: http://HOST:8080/w

  Without a bucket, a recorder writes into its own file system. Mount
  RECORDING_DIR into the container under the same path, and let the image's user
  write to it.
`,
  output: `Output

  The result goes to stdout, and nothing else does. Status, warnings, questions
  and errors go to stderr.

  On a terminal   an aligned table, times such as "3 minutes ago", colours.
                  Control characters in names are shown as escapes.
  Elsewhere       one record per line, tab-separated, without a header, with
                  nothing cut off and RFC 3339 times. A single record has one
                  NAME<tab>value per line. In values, tab, line feed, carriage
                  return and backslash are written \\t \\n \\r \\\\, other control
                  characters \\u001b.
  --json          exactly the API's response: indented on a terminal, on one
                  line elsewhere.
  --json a,b      only these fields of each record, in the same shape:
                  {"rooms":[{"name":"demo"}]}. The error for an unknown field
                  lists the known ones.
  --watch         redraws on a terminal; elsewhere one JSON line for each
                  change: {"change":"added"|"changed"|"removed","record":{…}}

  An error has a line with the cause, a line with what to do next, and the
  request id, which is also in the service's log. With --json, stderr gets one
  JSON object per line: an error as problem details (RFC 9457) with next and
  exitCode, a warning as {"warning":"…"}, a status as {"status":"…"}.

  --curl prints the signed request instead of sending it; --debug shows requests
  and responses, secrets masked.
`,
};
