// What a handler says only into a long silence, `say(text, { ifSilentMs })`: one after the other, until it says something else.
import { linkAbort, pause, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Prompt } from '../../dialog/reply.ts';
import type { Playout } from '../playout/playout.ts';
import type { Sounds } from '../playout/sound.ts';

/** Most that wait at once; further ones are dropped. */
const MAX_WAITING = 8;

/** A prompt that waits for a silence. */
export type ConditionalPrompt = Prompt & { readonly ifSilentMs: number };

export interface ConditionalSayingsOptions {
  readonly clock: Clock;
  readonly playout: Pick<Playout, 'silentMs'>;
  /** Since when the caller waits, monotonic ms. */
  readonly waitingSinceMs: number;
  /** Drops what waits. */
  readonly unwanted: AbortSignal;
  /** Requests a sound. */
  readonly ask: (prompts: readonly Prompt[], unwanted: AbortSignal) => Sounds;
  /** Resolves when it has been said. */
  readonly say: (prompts: readonly Prompt[], sounds: Sounds) => Promise<void>;
}

/** Those of one question. */
export class ConditionalSayings {
  readonly #options: ConditionalSayingsOptions;
  readonly #waiting = new Set<LinkedAbort>();
  #last: Promise<void> = Promise.resolve();

  constructor(options: ConditionalSayingsOptions) {
    this.#options = options;
  }

  add({ ifSilentMs, ...prompt }: ConditionalPrompt): void {
    if (this.#waiting.size >= MAX_WAITING) return;
    const dropped = linkAbort(this.#options.unwanted);
    this.#waiting.add(dropped);
    const sounds = this.#options.ask([prompt], dropped.signal);
    const before = this.#last;
    this.#last = this.#sayInSilence(before, ifSilentMs, [prompt], sounds, dropped).catch(() => undefined);
  }

  /** Something else is said: what waits is not said any more. */
  drop(): void {
    for (const waiting of this.#waiting) {
      waiting.abort('superseded');
      waiting.dispose();
    }
    this.#waiting.clear();
  }

  async #sayInSilence(
    before: Promise<void>,
    ifSilentMs: number,
    prompts: readonly Prompt[],
    sounds: Sounds,
    dropped: LinkedAbort,
  ): Promise<void> {
    const { clock, playout, waitingSinceMs, say } = this.#options;
    await before;
    // Without a sound it would be said with the final: too late.
    const isAudible = (await sounds[0]) !== undefined;
    for (let leftMs = Infinity; isAudible && leftMs > 0 && !dropped.isAborted;) {
      const nowMs = clock.monotonicMs();
      leftMs = ifSilentMs - Math.min(nowMs - waitingSinceMs, playout.silentMs(nowMs));
      if (leftMs > 0) await pause(leftMs, clock, dropped.signal);
    }
    if (!this.#waiting.delete(dropped) || !isAudible || dropped.isAborted) return;
    await say(prompts, sounds);
  }
}
