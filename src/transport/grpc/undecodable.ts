// Turns a message that cannot be decoded into a value that handlers refuse. grpc-js alone would end the RPC with
// INTERNAL, as if the server had failed.
import type { deserialize } from '@grpc/grpc-js';

/** Stands for a message that could not be decoded. */
export const UNDECODABLE = Symbol('undecodable message');

/** A decoder that never throws. */
export function orUndecodable<T>(decode: deserialize<T>): deserialize<T | typeof UNDECODABLE> {
  return (bytes) => {
    try {
      return decode(bytes);
    } catch {
      return UNDECODABLE;
    }
  };
}
