/** `rtc help <topic>`. */
export const TOPICS: Readonly<Record<string, string>> = {
  'exit-codes': `Exit codes

    0  success; also when the reader of a pipe goes away, and when a stream is
       ended by a signal
    1  any other failure: a problem of 5xx other than 503, and whatever another
       service answers at the address
    2  usage: a wrong command line, an answer of 400 or 413, or --yes missing
       without a terminal
    3  not found
    4  authentication: key, secret or clock are wrong, or there are none
    5  conflict
    6  unavailable, timed out or rate-limited, also by a proxy in between (502,
       504): trying again later may help
    7  negative result of a check: doctor found a fault, a token has expired, a
       code or a signature is not valid, a test delivery was not taken, nothing
       was recorded (recordings stop --wait), what rtc wait waited for ended
       otherwise
    8  the time was up: --wait, rtc wait and events tail --until while what they
       wait for is still pending
  130  cancelled: Ctrl-C or Ctrl-D, or no at a prompt

  Of several targets (rtc rooms delete a b) the first failure decides; the
  others are still done.
`,
  environment: `Environment

  Each setting is looked for on its own: option, then variable, then profile,
  then default. A profile that --profile names counts as an option.

  RTC_URL          address of the service; default http://127.0.0.1:3000
  RTC_API_KEY      API key; API_KEY is accepted too
  RTC_API_SECRET   API secret; API_SECRET is accepted too
  RTC_WEBHOOK_SECRET
                   secret of a webhook, for webhooks verify and listen
  RTC_PROFILE      profile to use instead of the current one
  XDG_CONFIG_HOME  profiles are in rtc/config.json below it; default ~/.config
  XDG_CACHE_HOME   compiled code is kept in rtc/ below it; default ~/.cache

  CI               set: never ask anything
  NO_COLOR         set: no colours; --no-color does the same
  FORCE_COLOR      colours even where there is no terminal; 0 for none
  CLICOLOR         0 for no colours; CLICOLOR_FORCE=1 forces them
  TERM             dumb: no colours
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                   proxy to the service

  The service itself reads its own variables, which rtc serve --print-config
  lists with their values.
`,
  recorder: `A recorder, and a worker for streams

  Recordings need a LiveKit egress worker, streams (RTMP, WHIP) an ingress
  worker. Both are connected to the Redis of the media server.

  rtc dev starts a recorder by itself where it finds one: egress on PATH, the
  path in EGRESS_PROGRAM, or, on Linux, the image that Docker or Podman has.
  This fetches it, once:

    docker pull livekit/egress:v1.12.0

  Where the media server and its Redis are on this machine:

    docker run --rm --network host \\
      -e EGRESS_CONFIG_BODY="$(cat egress.yaml)" livekit/egress

  with an egress.yaml of

    api_key: KEY                 # the media server's: LIVEKIT_API_KEY, or
    api_secret: SECRET           # livekitApiKey in credentials.json of rtc dev
    ws_url: ws://127.0.0.1:7880  # address of the media server
    redis: { address: "127.0.0.1:6379" }
    cpu_cost: { room_composite_cpu_cost: 2 }    # with fewer than 4 processors

  A worker for streams is the image livekit/ingress with INGRESS_CONFIG_BODY and
  the same first four settings. It listens on 1935 for RTMP and on 8080 for
  WHIP, and the configuration of the media server says where that is:

    ingress:
      rtmp_base_url: rtmp://HOST:1935/x
      whip_base_url: http://HOST:8080/w

  Without a bucket a recorder writes into its own file system: mount
  RECORDING_DIR into the container under the same path, for the image's user to
  write to.
`,
  output: `Output

  stdout carries the result and nothing else. Status, warnings, questions and
  errors go to stderr.

  On a terminal   an aligned table, times such as "3 minutes ago", colours.
                  Characters in names that would act on the terminal are shown
                  as escapes.
  Elsewhere       one record a line, tab-separated, no header, nothing cut,
                  RFC 3339 times. A single record is one NAME<tab>value a line.
                  In values, tab, line feed, carriage return and backslash are
                  written \\t \\n \\r \\\\, other control characters \\u001b.
  --json          exactly what the API answered: indented on a terminal, on one
                  line elsewhere.
  --json a,b      only these fields of each record, in the same shape:
                  {"rooms":[{"name":"demo"}]}. An unknown field lists the
                  known ones.
  --watch         redraws on a terminal; elsewhere one JSON line for each
                  change: {"change":"added"|"changed"|"removed","record":{…}}

  An error is a line of cause and a line of what to do next, with the request id
  that the service's log has. With --json it is problem details (RFC 9457) on
  stderr, with next and exitCode; a warning is {"warning":"…"} there, and a
  status {"status":"…"}, one a line.

  --curl prints the signed request instead of sending it; --debug shows requests
  and responses, secrets masked.
`,
};
