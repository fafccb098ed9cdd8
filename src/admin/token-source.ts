// Where a bearer token comes from, as seen by whoever sends one.

/** Gives bearer tokens. Both calls heed `signal` and reject with an AppError. */
export interface TokenSource {
  /** A token that is not about to expire; asks the platform for one when it must. */
  current(signal: AbortSignal): Promise<string>;
  /** Another token than `stale`, which the platform has refused; asks for one unless somebody already has. */
  refreshed(stale: string, signal: AbortSignal): Promise<string>;
}
