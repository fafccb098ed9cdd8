// An answer that is no: status, words and headers as the contract writes them (section 5.4). Resources throw it, the
// server sends it.
import type { z } from 'zod';

/** Error names of OAuth, sent beside the platform's own words when a switch says so. */
export type OAuthError = 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type';

/** What a refusal may say beside its status and message. */
export interface RefusalWords {
  /** What is wrong in detail, each a sentence; default the message. */
  readonly descriptions?: readonly string[];
  /** Seconds to wait, for `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly oauthError?: OAuthError;
  /** Methods that the path has (405). */
  readonly allow?: readonly string[];
}

/** Thrown by a resource; its message is read by the client, so it never quotes a secret. */
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
 * What `schema` reads from what a client sent.
 *
 * @throws Refusal 400 with one description for each fault; values are not quoted, because they may be secret.
 */
export function parsed<T>(schema: z.ZodType<T>, sent: unknown, words: RefusalWords = {}): T {
  const result = schema.safeParse(sent);
  if (result.success) return result.data;
  const descriptions = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  );
  throw new Refusal(400, 'the request is not valid', { ...words, descriptions });
}
