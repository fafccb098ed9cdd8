// How long a caller who wants an answer hears nothing. Whoever acts again takes the question before away, so no deadline of
// a single question would notice a bot that hangs. One of the parts of the reference.
import { TEST_SETTINGS } from '../support/engine.ts';
import type { Rpc } from './rpc.ts';
import type { View } from './view.ts';

/** Longest time from the first question without an answer to the first word, ms (005). */
const WHOLE_MS = TEST_SETTINGS.turnDeadlineMs * 1.5;
/** Longest time that the newest question may take beyond that, ms: a second of its own, and notes and an abandoned one before it. */
const SLACK_MS = 5000;

/** The silence of one call. */
export class Silence {
  readonly #view: View;
  #sinceMs: number | undefined;
  /** When each question came. */
  readonly #askedAtMs = new Map<Rpc, number>();

  constructor(view: View) {
    this.#view = view;
  }

  /** A session begins. */
  begin(): void {
    this.#sinceMs = undefined;
    this.#askedAtMs.clear();
  }

  /** An input is complete. */
  owed(rpc: Rpc): void {
    this.#askedAtMs.set(rpc, this.#view.nowMs());
    this.#sinceMs ??= this.#view.nowMs();
  }

  /** The caller hears a reply, or that there is none. */
  broken(): void {
    this.#sinceMs = undefined;
  }

  /** @param isHeld - the caller hears something, or what the engine has no limit for keeps it from speaking: a voice, a client that does not read. */
  look(open: readonly Rpc[], isHeld: boolean): void {
    const nowMs = this.#view.nowMs();
    const waiting = open.filter(({ state, isCut }) => state === 'owing' && !isCut);
    if (isHeld || this.#view.mayHandOver()) {
      // Calls begin at 0 ms.
      if (this.#sinceMs !== undefined) this.#sinceMs = nowMs;
      for (const rpc of waiting) this.#askedAtMs.set(rpc, nowMs);
      return;
    }
    if (this.#sinceMs === undefined || nowMs - this.#sinceMs <= WHOLE_MS + SLACK_MS) return;
    const late = waiting.find((rpc) => nowMs - (this.#askedAtMs.get(rpc) ?? nowMs) > SLACK_MS);
    if (late === undefined) return;
    this.#view.wrong('005', `the caller of RPC${String(late.id)} has heard nothing for ${String(nowMs - this.#sinceMs)} ms`);
  }
}
