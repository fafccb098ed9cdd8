// The two metadata keys the platform sends with each RPC; their names come from the platform profile.
import type { Metadata } from '@grpc/grpc-js';

/** Reads the platform's metadata. */
export class CallMetadata {
  readonly #keys: { readonly authorization: string; readonly trackingId: string };

  constructor(keys: { readonly authorization: string; readonly trackingId: string }) {
    this.#keys = keys;
  }

  /** The token as sent, raw or with `Bearer ` (G-03). */
  authorization(metadata: Metadata): string | undefined {
    return one(metadata, this.#keys.authorization);
  }

  /** The platform's correlation id. It goes into logs, so it is cut to a sane length and alphabet. */
  trackingId(metadata: Metadata): string | undefined {
    return one(metadata, this.#keys.trackingId)
      ?.replaceAll(/[^\w.:-]/g, '_')
      .slice(0, 128);
  }
}

function one(metadata: Metadata, key: string): string | undefined {
  return metadata.get(key)[0]?.toString();
}
