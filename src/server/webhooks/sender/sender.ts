/** One HTTP POST to a receiver. Never rejects: what goes wrong is part of the answer. */
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
  /** Null when nobody answered. */
  readonly statusCode: number | null;
  /** At most 4 KiB; what came of it, where it did not end. */
  readonly responseBody: string | null;
  /** Why nobody answered, or not to the end, in words for the log of the webhook's owner; null for a whole answer. */
  readonly error: string | null;
  readonly durationMs: number;
};

/** Encrypts secrets at rest. */
export interface SecretBox {
  /** The sealed secret is bound to its webhook, and cannot be opened as that of another one. */
  seal(secret: string, webhookId: string): string;
  /** Whether it was sealed with the current key, and in the current format. */
  isCurrent(sealed: string): boolean;
  /** Throws ServiceError internal-error when no key opens it, or when it is the secret of another webhook. */
  open(sealed: string, webhookId: string): string;
}

/** URLs from which the receivers of an event download a recording's file. */
export interface FileUrls {
  /** Usable for 24 h; undefined when the recording has no file. */
  urlOf(recordingId: string): Promise<string | undefined>;
}
