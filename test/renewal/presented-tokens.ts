// The tokens of data sources as the platform presents them: the newest one and, until it ends, the one before (J-05). Knows
// from when they were signed whether a renewal came when it was due.
import type { Clock } from '../../src/base/clock.ts';
import type { SignedToken } from '../support/open-surroundings.ts';

/** A token that a call may come with. */
export interface PresentedToken {
  readonly organizationId: string;
  readonly token: string;
  /** By the platform's clock, ms since the epoch. */
  readonly endsAtMs: number;
}

/** When renewals are due. */
export interface RenewalTimes {
  readonly clock: Clock;
  /** What the platform's clock is ahead of ours, ms. */
  readonly skewMs: () => number;
  /** Earliest time before the end of a token at which it may be renewed, ms. */
  readonly earliestMs: number;
}

interface Held {
  readonly newest: PresentedToken;
  readonly before: PresentedToken | undefined;
  /** Something happened that asks for a new token before its time. */
  isDisturbed: boolean;
  hasLapsed: boolean;
}

/** Clocks of tokens count in whole seconds. */
const SECOND_MS = 1000;

/** All of them, by organization. */
export class PresentedTokens {
  /** Tokens that took the place of another. */
  rotations = 0;
  /** Those that nobody had a reason for: the one before was not due, and nothing had happened to the data source. */
  doubles = 0;
  /** Tokens that ended before the next one was there. */
  lapsed = 0;
  readonly #times: RenewalTimes;
  readonly #held = new Map<string, Held>();

  constructor(times: RenewalTimes) {
    this.#times = times;
  }

  /** The platform has signed a token; it presents it from now on. */
  signed({ claims, token, issuedAtMs }: SignedToken): PresentedToken {
    const { organizationId = '', lifetimeMinutes = 0 } = claims;
    const endsAtMs = Math.floor(issuedAtMs / SECOND_MS) * SECOND_MS + lifetimeMinutes * 60_000;
    const newest = { organizationId, token, endsAtMs };
    const held = this.#held.get(organizationId);
    if (held !== undefined) {
      this.rotations += 1;
      const dueMs = held.newest.endsAtMs - this.#times.earliestMs - 2 * SECOND_MS;
      if (this.#times.clock.nowMs() < dueMs && !held.isDisturbed) this.doubles += 1;
    }
    this.#held.set(organizationId, { newest, before: held?.newest, isDisturbed: false, hasLapsed: false });
    return newest;
  }

  /** Its data source was changed behind the server's back: one renewal more is right. */
  disturbed(organizationId: string): void {
    const held = this.#held.get(organizationId);
    if (held !== undefined) held.isDisturbed = true;
  }

  /** The organization took its authorization back: the platform makes no calls for it. */
  ended(organizationId: string): void {
    this.#held.delete(organizationId);
  }

  /** Organizations that calls come in for. */
  get organizations(): readonly string[] {
    return [...this.#held.keys()];
  }

  /** What the platform presents for an organization at this moment; empty when all has ended. */
  of(organizationId: string): readonly PresentedToken[] {
    const held = this.#held.get(organizationId);
    return [held?.newest, held?.before].filter((token) => token !== undefined).filter((token) => !this.hasEnded(token));
  }

  /** By the platform's clock. */
  hasEnded({ endsAtMs }: PresentedToken): boolean {
    return this.#times.clock.nowMs() + this.#times.skewMs() >= endsAtMs;
  }

  /** Counts the tokens that ended without another in their place. */
  look(): void {
    for (const held of this.#held.values()) {
      if (held.hasLapsed || !this.hasEnded(held.newest)) continue;
      held.hasLapsed = true;
      this.lapsed += 1;
    }
  }
}
