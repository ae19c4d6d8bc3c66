import type { Route } from '../http/route.ts';

/**
 * /llms.txt (https://llmstxt.org): everything that a language model needs to call the API, in Markdown. Readers without
 * JavaScript get it too.
 */
export function llmsText(routes: readonly Route[], guide: string): string {
  const operations = routes
    .filter((route) => !route.isInternal)
    .map(({ method, path, summary }) => `- \`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\`: ${summary}`);
  return `# rtc-service

> A signed room service in front of a LiveKit media server: access tokens by role, rooms, participants, recordings,
> ingress, transcription and webhooks, for trusted back ends. Italian fiscal codes and places are public.

- [OpenAPI document](/openapi.json): every operation with its schemas, examples and errors
- [Reference](/docs): the same as a page, with samples in several languages
- [Guide](/docs/guide): the guides below as a page

## Operations

${operations.join('\n')}

# Guides

${guide}`;
}
