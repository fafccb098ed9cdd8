// All turns that this process forwards: how many there may be, and what is counted of them. They are no turns of this process: its
// limits and its counts of calls leave them out.
import { waitAtMost } from '../../base/abort.ts';
import type { ForwardOutcome, LocatedElsewhere } from '../../dialog/home.ts';
import { OpenSet } from './open-set.ts';
import { Relay, type ForwardableTurn, type ForwardedBytes, type RelayParts } from './relay.ts';

/** Counts forwarded turns. None of it may throw. */
export interface RelayObserver {
  /** A turn is forwarded from now on. */
  forwardOpened(): void;
  /** The first message or the status of a turn that wants an answer at once came from its home, ms after it was forwarded. */
  homeAnswered(afterMs: number): void;
  /** Called once for each that was opened. */
  forwardEnded(outcome: ForwardOutcome, bytes: ForwardedBytes): void;
}

/** What they are made with. */
export interface RelaysOptions extends Pick<RelayParts, 'homes' | 'links' | 'clock' | 'log'> {
  /** Most turns that are forwarded at once. */
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

  /** Turns that are forwarded now. */
  get size(): number {
    return this.#open.size;
  }

  /** Forwards a turn. Undefined: as many as may be are forwarded, and the turn is still its owner's. */
  forward(turn: ForwardableTurn, located: LocatedElsewhere): Relay | undefined {
    const { maxOpen, observer, ...parts } = this.#options;
    if (this.#open.size >= maxOpen) return undefined;
    observer.forwardOpened();
    const { opensWith } = turn.asked;
    const relay = new Relay(turn, located, {
      ...parts,
      onFirstAnswer: (afterMs) => {
        // Whoever is silent is answered when they speak.
        if (opensWith !== 'nothing') observer.homeAnswered(afterMs);
      },
      onOver: (outcome, bytes) => {
        observer.forwardEnded(outcome, bytes);
      },
      onDone: (done) => {
        this.#open.delete(done);
      },
    });
    this.#open.add(relay);
    return relay;
  }

  /** An instance was found dead: what is forwarded there moves on. */
  peerDied(instanceId: string): void {
    for (const relay of this.#open.all) relay.peerDied(instanceId);
    this.#options.links.drop(instanceId);
  }

  /** Resolves when no turn is forwarded any more and the homes know what was delivered, or after `limitMs`. */
  async over(limitMs: number): Promise<void> {
    await waitAtMost(this.#open.gone(), limitMs, this.#options.clock);
  }
}
