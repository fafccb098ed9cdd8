// The two metadata keys the platform sends with each RPC; their names come from the platform profile.
import type { Metadata } from '@grpc/grpc-js';

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
