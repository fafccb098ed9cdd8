// What a handler says only into a long silence, `say(text, { ifSilentMs })`: one after the other, until it says something else. Knows no
// player: it is told how long the caller has heard nothing.
import { linkAbort, pause, type LinkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Prompt } from '../dialog/reply.ts';

/** Most that wait at once; further ones are dropped. */
const MAX_WAITING = 8;

/** A prompt that waits for a silence. */
export type ConditionalPrompt = Prompt & { readonly ifSilentMs: number };

/** @param S - the sounds of prompts. */
export interface ConditionalSayingsOptions<S> {
  readonly clock: Clock;
  /** Since when the caller waits, monotonic ms. */
  readonly waitingSinceMs: number;
  /** Time since the last prompt has ended, ms; negative while one plays. */
  readonly silentMs: (nowMs: number) => number;
  /** Drops what waits. */
  readonly unwanted: AbortSignal;
  /** Requests sounds. */
  readonly ask: (prompts: readonly Prompt[], unwanted: AbortSignal) => S;
  /** Resolves when they are ready, or cannot be made. */
  readonly isAudible: (sounds: S) => Promise<boolean>;
  /** Resolves when it has been said. */
  readonly say: (prompts: readonly Prompt[], sounds: S) => Promise<void>;
}

/** Those of one question. */
export class ConditionalSayings<S> {
  readonly #options: ConditionalSayingsOptions<S>;
  readonly #waiting = new Set<LinkedAbort>();
  #last: Promise<void> = Promise.resolve();

  constructor(options: ConditionalSayingsOptions<S>) {
    this.#options = options;
  }

  add({ ifSilentMs, ...prompt }: ConditionalPrompt): void {
    if (this.#waiting.size >= MAX_WAITING) return;
    const dropped = linkAbort(this.#options.unwanted);
    this.#waiting.add(dropped);
    const before = this.#last;
    this.#last = this.#sayInSilence(before, [prompt], ifSilentMs, dropped).catch(() => undefined);
  }

  /** Something else is said: what waits is not said any more. */
  drop(): void {
    for (const waiting of this.#waiting) {
      waiting.abort('superseded');
      waiting.dispose();
    }
    this.#waiting.clear();
  }

  async #sayInSilence(before: Promise<void>, prompts: readonly Prompt[], ifSilentMs: number, dropped: LinkedAbort): Promise<void> {
    const { clock, waitingSinceMs, silentMs, ask, isAudible, say } = this.#options;
    const sounds = ask(prompts, dropped.signal);
    await before;
    // Without a sound it would be said with the final: too late.
    const isReady = await isAudible(sounds);
    for (let leftMs = Infinity; isReady && leftMs > 0 && !dropped.isAborted;) {
      const nowMs = clock.monotonicMs();
      leftMs = ifSilentMs - Math.min(nowMs - waitingSinceMs, silentMs(nowMs));
      if (leftMs > 0) await pause(leftMs, clock, dropped.signal);
    }
    if (!this.#waiting.delete(dropped) || !isReady || dropped.isAborted) return;
    await say(prompts, sounds);
  }
}

/**
 * What of a yield is said at once, and what waits behind it: words end the wait of what stands before them.
 */
export function separated(prompts: readonly Prompt[]): {
  readonly said: readonly Prompt[];
  readonly conditional: readonly ConditionalPrompt[];
} {
  const last = prompts.findLastIndex((prompt) => !isConditional(prompt));
  return { said: prompts.filter((prompt) => !isConditional(prompt)), conditional: prompts.slice(last + 1).filter(isConditional) };
}

function isConditional(prompt: Prompt): prompt is ConditionalPrompt {
  return prompt.ifSilentMs !== undefined;
}
