import type { Token, TokenRequest } from '../../contract/tokens.ts';
import type { CallOptions } from '../client-options.ts';
import { withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';

/** Access tokens for participants: `client.tokens`. */
export class Tokens {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** POST /v1/token: issues a token with the grants of its role, and returns the media server's address. */
  async create(request: TokenRequest, options?: CallOptions): Promise<Token> {
    return await this.#transport.call('POST', '/v1/token', withBody(request, options));
  }

  /** POST /v1/token/refresh: like create, for a participant whose token is about to expire. */
  async refresh(request: TokenRequest, options?: CallOptions): Promise<Token> {
    return await this.#transport.call('POST', '/v1/token/refresh', withBody(request, options));
  }
}
