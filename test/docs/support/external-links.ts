/*
 * External addresses that the pages link to, and when each was last checked. A test without access to the web cannot follow
 * them. It only checks that every address is in this list, so that a new one is checked before it is added.
 */

const SEEN = 'a stored copy, November 2026';
/** Addresses of specifications, which are meant to be permanent. */
const STABLE = 'not looked at: the address of a specification';

export const EXTERNAL_LINKS: Readonly<Record<string, string>> = {
  'https://livekit.io': SEEN,
  'https://docs.livekit.io/server/webhooks/': SEEN,
  'https://docs.livekit.io/intro/cloud': SEEN,
  'https://docs.livekit.io/transport/self-hosting': SEEN,
  'https://docs.daily.co': SEEN,
  'https://docs.daily.co/guides/products': SEEN,
  'https://docs.livekit.io/reference/developer-tools/livekit-cli/': SEEN,
  'https://docs.livekit.io/transport/self-hosting/benchmark/': SEEN,
  'https://docs.livekit.io/transport/self-hosting/deployment/': 'not looked at',
  'https://docs.svix.com/retries': SEEN,
  'https://github.com/OpenVidu/openvidu-meet': SEEN,
  'https://github.com/OpenVidu/openvidu-meet/blob/main/CHANGELOG.md': SEEN,
  'https://github.com/livekit/livekit-cli': SEEN,
  'https://github.com/livekit/node-sdks': 'not looked at',
  'https://github.com/livekit/protocol': SEEN,
  'https://github.com/mynaparrot/plugNmeet-server': SEEN,
  'https://github.com/svix/svix-webhooks': SEEN,
  'https://github.com/svix/svix-webhooks/issues/2026': SEEN,
  'https://github.com/timgit/pg-boss': 'the address in its npm package',
  'https://github.com/graphile/worker': 'the address in its npm package',
  'https://github.com/taskforcesh/bullmq': 'the address in its npm package',
  'https://keepachangelog.com/en/1.1.0/': STABLE,
  'https://semver.org/': STABLE,
  'https://www.npmjs.com/package/standardwebhooks': 'not looked at; npm installs the package in the tests',
  'https://www.rfc-editor.org/rfc/rfc9457': STABLE,
  'https://www.standardwebhooks.com': STABLE,
  'https://www.w3.org/TR/trace-context/': STABLE,
};
