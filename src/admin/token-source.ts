// The source of the bearer tokens of requests.

/** Provides bearer tokens. Both methods observe `signal` and reject with an AppError. */
export interface TokenSource {
  /** A token that is not about to expire; requested when necessary. */
  current(signal: AbortSignal): Promise<string>;
  /** A token other than `stale`, which the platform has refused; requested unless another caller has already obtained one. */
  refreshed(stale: string, signal: AbortSignal): Promise<string>;
}
