/** Sends one HTTP POST to a receiver. Never rejects: an error is part of the response. */
export interface WebhookSender {
  send(request: WebhookRequest): Promise<WebhookResponse>;
  close(): Promise<void>;
}

export type WebhookRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type WebhookResponse = {
  /** Null without a response. */
  readonly statusCode: number | null;
  /** At most 4 KiB. When the response did not end, the part that was received. */
  readonly responseBody: string | null;
  /** Why there was no response or no complete one, or where it redirects to, in words for the webhook's owner; null otherwise. */
  readonly error: string | null;
  readonly durationMs: number;
};

/** URLs from which the receivers of an event download a recording's file. */
export interface FileUrls {
  /** A URL that is valid for 24 h; undefined when the recording has no file. */
  findUrl(recordingId: string): Promise<string | undefined>;
}
