// The two metadata keys the platform sends with each RPC; their names come from the platform profile.
import { randomUUID } from 'node:crypto';
import type { Metadata } from '@grpc/grpc-js';

/** Longest correlation id that is kept, characters. */
const MAX_TRACKING_CHARS = 128;

/** Reads the platform's metadata. */
export class CallMetadata {
  readonly #keys: { readonly authorization: string; readonly trackingId: string };

  constructor(keys: { readonly authorization: string; readonly trackingId: string }) {
    this.#keys = keys;
  }

  /** The token as sent, raw or with `Bearer ` (G-03). Two of them are joined, which no check takes for a token. */
  authorization(metadata: Metadata): string | undefined {
    const values = metadata.get(this.#keys.authorization);
    return values.length === 0 ? undefined : values.map(String).join(', ');
  }

  /**
   * The platform's correlation id, or a new one where it sends none. It goes into logs, so it is cut to a sane length and
   * alphabet.
   */
  trackingId(metadata: Metadata): string {
    const sent = metadata.get(this.#keys.trackingId)[0]?.toString().slice(0, MAX_TRACKING_CHARS);
    return sent === undefined || sent === '' ? randomUUID() : sent.replaceAll(/[^\w.:-]/g, '_');
  }
}
