// What becomes of a message that cannot be decoded: a value that handlers can see and refuse in their own words. grpc-js
// alone would end the RPC with INTERNAL, as if the fault were ours.
import type { deserialize } from '@grpc/grpc-js';

/** What a message that could not be decoded arrives as. */
export const UNDECODABLE = Symbol('undecodable message');

/** Decodes, and never throws. */
export function orUndecodable<T>(decode: deserialize<T>): deserialize<T | typeof UNDECODABLE> {
  return (bytes) => {
    try {
      return decode(bytes);
    } catch {
      return UNDECODABLE;
    }
  };
}
