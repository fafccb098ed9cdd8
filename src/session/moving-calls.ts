// Calls whose next turn may come to another process that shares the store: what is told from there, sessions that have no place
// here any more because their calls went on elsewhere, and records of calls that stay on one stream for long. Knows no bots.
import { every, type Clock } from '../base/clock.ts';
import { callId, type CallKey } from '../dialog/call.ts';
import type { Interruptions, SessionStore } from './ports.ts';
import type { Session } from './session.ts';

/** Pause between two looks for calls that go on elsewhere, ms. */
const LOOK_MS = 5000;

/** What it works with. */
export interface MovingCallsParts {
  readonly interruptions: Interruptions;
  readonly store: SessionStore;
  readonly clock: Clock;
  /** After so long without a look at its record a call is kept for longer, ms. */
  readonly keptForMs: number;
}

/** Looks at the sessions of one process, by the id of their call, from its making until `close`. */
export class MovingCalls {
  readonly #parts: MovingCallsParts;
  readonly #live: Map<string, Session>;
  readonly #stopListening: () => void;
  readonly #cancelLooks: () => void;

  /** @param live - sessions that have moved are taken out of it. */
  constructor(live: Map<string, Session>, parts: MovingCallsParts) {
    this.#parts = parts;
    this.#live = live;
    this.#stopListening = parts.interruptions.listen((key, interrupted) => {
      live.get(callId(key))?.interruptedElsewhere(interrupted);
    });
    this.#cancelLooks = every(parts.clock, LOOK_MS, () => {
      this.#look();
    });
  }

  /** Hears and looks no more. */
  close(): void {
    this.#stopListening();
    this.#cancelLooks();
  }

  #look(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (const [id, session] of this.#live) {
      if (session.isLeftAlone(nowMs)) void this.#letMove(id, session);
      else if (session.times.recordUnusedMs(nowMs) > this.#parts.keptForMs) void this.#keep(session, nowMs);
    }
  }

  /** A call whose next turn was opened in another process, or that has ended there, has no place here. */
  async #letMove(id: string, session: Session): Promise<void> {
    // Not known while the store is away: the next look will tell.
    const isHere = await this.#goesOnHere(session.call).catch(() => true);
    if (isHere || this.#live.get(id) !== session || !session.isLeftAlone(this.#parts.clock.monotonicMs())) return;
    if ((await session.moveAway()) && this.#live.get(id) === session) this.#live.delete(id);
  }

  async #goesOnHere(key: CallKey): Promise<boolean> {
    const { store } = this.#parts;
    if (!(await store.serves(key))) return false;
    const record = await store.load(key);
    // An end that was decided here may still have to be handed over, and its bot to be told.
    return record?.closed !== true;
  }

  /** Its caller is here, and may say nothing for longer than the store remembers a call. Never throws: the next look tries again. */
  async #keep(session: Session, nowMs: number): Promise<void> {
    await this.#parts.store.touch(session.call).then(
      () => {
        session.times.recordUsed(nowMs);
      },
      () => undefined,
    );
  }
}

/** Gives up a session whose call goes on elsewhere, with its streams. */
export async function moveAway(session: Session): Promise<void> {
  // The loop is for a turn that had the session in its hand already.
  do {
    session.complete('all');
  } while (!(await session.moveAway()));
}
