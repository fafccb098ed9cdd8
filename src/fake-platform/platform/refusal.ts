// An error answer: status, message and headers as in the contract. Resources throw it, the
// server sends it.
import type { z } from 'zod';

/** Error names of OAuth, sent with the platform's own message when a switch says so. */
export type OAuthError = 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type';

/** Parts of an error answer beside its status and message. */
export interface RefusalWords {
  /** The details, one sentence each; default the message. */
  readonly descriptions?: readonly string[];
  /** Seconds to wait, for `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly oauthError?: OAuthError;
  /** Methods that the path has (405). */
  readonly allow?: readonly string[];
}

/** Thrown by a resource; the client reads its message, so it never quotes a secret. */
export class Refusal extends Error {
  readonly status: number;
  readonly words: RefusalWords;

  constructor(status: number, message: string, words: RefusalWords = {}) {
    super(message);
    this.status = status;
    this.words = words;
  }
}

/**
 * What `schema` parses from a client's body.
 *
 * @throws Refusal 400 with one description for each error; values are not quoted, because they may be secret.
 */
export function parsed<T>(schema: z.ZodType<T>, sent: unknown, words: RefusalWords = {}): T {
  const result = schema.safeParse(sent);
  if (result.success) return result.data;
  const descriptions = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  );
  throw new Refusal(400, 'the request is not valid', { ...words, descriptions });
}
