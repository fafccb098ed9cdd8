// Where calls live that do not live here, as far as that is remembered, and what forwarded turns have shown of their homes since. Asks
// nobody.
import type { Clock } from '../base/clock.ts';
import type { ForwardLoss, Peer } from '../dialog/home.ts';
import type { Doubt } from './home-search.ts';

/** How long it counts that a forwarded turn came back, ms: later the peer may be there again. */
const DOUBT_MS = 1000;
/** Most calls that are remembered. */
const MAX_KNOWN = 10_000;

/** Where a call lives. */
interface KnownHome {
  readonly home: Peer;
  /** Undefined: a probe found it. */
  readonly epoch: number | undefined;
  /** A forwarded turn came back from there. */
  readonly lost?: { readonly why: ForwardLoss; readonly atMs: number };
}

/** By the ids of calls. */
export class KnownHomes {
  readonly #clock: Clock;
  readonly #known = new Map<string, KnownHome>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: not known, or doubted. */
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

  /** A forwarded turn came back from a home. */
  lost(id: string, home: Peer, why: ForwardLoss): void {
    const known = this.#known.get(id);
    // Another turn has found another home since.
    if (known !== undefined && known.home.id !== home.id) return;
    this.remember(id, { home, epoch: known?.epoch, lost: { why, atMs: this.#clock.monotonicMs() } });
  }

  /** Forgets where a call lives. @returns why that is doubted; it counts for one question. */
  forget(id: string): Doubt | undefined {
    const known = this.#known.get(id);
    this.#known.delete(id);
    if (known?.lost === undefined || this.#clock.monotonicMs() - known.lost.atMs > DOUBT_MS) return undefined;
    return { id: known.home.id, epoch: known.epoch, why: known.lost.why };
  }
}
