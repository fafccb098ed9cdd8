// Caches the homes of calls that live elsewhere, and doubts about them after forwarded turns came back. Makes no requests.
import type { Clock } from '../base/clock.ts';
import type { ForwardLoss, Peer } from '../dialog/home.ts';
import type { Doubt } from './home-search.ts';

/** How long a doubt lasts, ms: later the peer may be back. */
const DOUBT_MS = 1000;
/** Most cached calls. */
const MAX_KNOWN = 10_000;

interface KnownHome {
  readonly home: Peer;
  /** Undefined: a probe found this home. */
  readonly epoch: number | undefined;
  /** Set when a forwarded turn came back from this home. */
  readonly lost?: { readonly why: ForwardLoss; readonly atMs: number };
}

/** The known homes by call id. */
export class KnownHomes {
  readonly #clock: Clock;
  readonly #known = new Map<string, KnownHome>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns the home of a call; undefined when it is unknown or in doubt. */
  get(id: string): KnownHome | undefined {
    const known = this.#known.get(id);
    return known?.lost === undefined ? known : undefined;
  }

  remember(id: string, known: KnownHome): void {
    this.#known.delete(id);
    this.#known.set(id, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Notes that a forwarded turn came back from a home. */
  lost(id: string, home: Peer, why: ForwardLoss): void {
    const known = this.#known.get(id);
    // Another turn has found a newer home meanwhile.
    if (known !== undefined && known.home.id !== home.id) return;
    this.remember(id, { home, epoch: known?.epoch, lost: { why, atMs: this.#clock.monotonicMs() } });
  }

  /** Removes the home of a call. @returns the doubt about that home, for one search. */
  forget(id: string): Doubt | undefined {
    const known = this.#known.get(id);
    this.#known.delete(id);
    if (known?.lost === undefined || this.#clock.monotonicMs() - known.lost.atMs > DOUBT_MS) return undefined;
    return { id: known.home.id, epoch: known.epoch, why: known.lost.why };
  }
}
