// An error answer: status, message and headers as in the contract. Resources throw it; the server sends it.
import type { z } from 'zod';

/** Error names of OAuth, which answers contain when a switch is on. */
export type OAuthError = 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type';

/** What an error answer contains apart from its status and message. */
export interface RefusalWords {
  /** Details of the error, one sentence each. Default: the message alone. */
  readonly descriptions?: readonly string[];
  /** Set for the header `Retry-After`: seconds to wait. */
  readonly retryAfterSeconds?: number;
  readonly oauthError?: OAuthError;
  /** Set for status 405: the methods that the path has. */
  readonly allow?: readonly string[];
}

/** Thrown by a resource. The client gets the message, so the message never quotes a secret. */
export class Refusal extends Error {
  readonly status: number;
  readonly words: RefusalWords;

  constructor(status: number, message: string, words: RefusalWords = {}) {
    super(message);
    this.status = status;
    this.words = words;
  }
}

/** Parses a client's body. @throws Refusal 400 with a description of each error, without values, because these may be secret. */
export function parsed<T>(schema: z.ZodType<T>, sent: unknown, words: RefusalWords = {}): T {
  const result = schema.safeParse(sent);
  if (result.success) return result.data;
  const descriptions = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  );
  throw new Refusal(400, 'the request is not valid', { ...words, descriptions });
}
