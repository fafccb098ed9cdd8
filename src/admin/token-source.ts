// Where requests get their bearer token.

/** Provides bearer tokens. Both methods observe `signal` and reject with an AppError. */
export interface TokenSource {
  /** A token that is not about to expire; requests one when necessary. */
  current(signal: AbortSignal): Promise<string>;
  /** Another token than `stale`, which the platform has refused; requests one unless somebody already has. */
  refreshed(stale: string, signal: AbortSignal): Promise<string>;
}
