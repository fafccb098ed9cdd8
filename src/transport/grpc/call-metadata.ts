// The two metadata keys that the platform sends with each RPC; the platform profile has their names.
import type { Metadata } from '@grpc/grpc-js';
import { trackingIdOf } from '../tracking-id.ts';

/** Reads the platform's metadata. */
export class CallMetadata {
  readonly #keys: { readonly authorization: string; readonly trackingId: string };

  constructor(keys: { readonly authorization: string; readonly trackingId: string }) {
    this.#keys = keys;
  }

  /** The token as sent, raw or with `Bearer ` (G-03). Two values are joined, and the result is never a valid token. */
  authorization(metadata: Metadata): string | undefined {
    const values = metadata.get(this.#keys.authorization);
    return values.length === 0 ? undefined : values.map(String).join(', ');
  }

  /** The platform's correlation id; see {@link trackingIdOf}. */
  trackingId(metadata: Metadata): string {
    return trackingIdOf(metadata.get(this.#keys.trackingId)[0]?.toString());
  }
}
