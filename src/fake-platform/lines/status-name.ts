// The names of gRPC statuses.
import { status } from '@grpc/grpc-js';

/** The name of a status, for people. */
export function statusName(code: number): string {
  return status[code] ?? String(code);
}
