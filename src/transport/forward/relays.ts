// All turns that this process forwards, with a limit and counts of their own: they do not belong to this process's limits
// and counts of calls.
import { waitAtMost } from '../../base/abort.ts';
import type { EndedForward, ForwardOutcome, LocatedAtPeer } from '../../dialog/home.ts';
import { OpenSet } from './open-set.ts';
import { Relay, type ForwardableTurn, type ForwardedBytes, type RelayParts } from './relay.ts';

/** Observes forwarded turns. Must not throw. */
export interface RelayObserver {
  forwardOpened(): void;
  /**
   * The home has sent its first message or the status, ms after forwarding. Only for turns that need a reply at
   * once.
   */
  homeAnswered(afterMs: number): void;
  /** Called once for each turn that was opened. */
  forwardEnded(outcome: ForwardOutcome, bytes: ForwardedBytes, turn: EndedForward): void;
}

export interface RelaysOptions extends Pick<RelayParts, 'homes' | 'links' | 'clock' | 'log'> {
  /** Most forwarded turns at once. */
  readonly maxOpen: number;
  readonly observer: RelayObserver;
}

/** One per process. */
export class Relays {
  readonly #options: RelaysOptions;
  readonly #open = new OpenSet<Relay>();

  constructor(options: RelaysOptions) {
    this.#options = options;
  }

  /** Number of open forwarded turns. */
  get size(): number {
    return this.#open.size;
  }

  /** Forwards a turn. Undefined at the limit: then the calling code keeps the turn. */
  forward(turn: ForwardableTurn, located: LocatedAtPeer): Relay | undefined {
    const { maxOpen, observer, ...parts } = this.#options;
    if (this.#open.size >= maxOpen) return undefined;
    observer.forwardOpened();
    const { call, trackingId, asked } = turn;
    const beganAtMs = parts.clock.monotonicMs();
    const relay = new Relay(turn, located, {
      ...parts,
      onFirstAnswer: (afterMs) => {
        // Other turns are answered only after the caller speaks.
        if (asked.opensWith !== 'nothing') observer.homeAnswered(afterMs);
      },
      onOver: (outcome, bytes) => {
        observer.forwardEnded(outcome, bytes, { call, trackingId, ms: parts.clock.monotonicMs() - beganAtMs });
      },
      onDone: (done) => {
        this.#open.delete(done);
      },
    });
    this.#open.add(relay);
    return relay;
  }

  /** An instance is dead: its forwarded turns move on. */
  peerDied(instanceId: string): void {
    for (const relay of this.#open.all) relay.peerDied(instanceId);
    this.#options.links.drop(instanceId);
  }

  /** Resolves when no turn is open and all deliveries are reported, or after `limitMs`. */
  async over(limitMs: number): Promise<void> {
    await waitAtMost(this.#open.gone(), limitMs, this.#options.clock);
  }
}
