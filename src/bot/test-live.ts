// What a bot keeps for the call of a test in one process.
import { linkForeignAbort, type LinkedAbort } from '../base/abort.ts';
import type { JsonValue } from '../base/json.ts';
import type { Bot } from './bot.ts';
import type { LiveContext, LiveEnd } from './live.ts';
import { failure } from './test-failure.ts';
import type { Wakes } from './wakes.ts';

/** Of one call, also when it moves. */
export class TestLive {
  readonly #bot: Bot;
  readonly #wakes: Wakes;
  readonly #surroundings: Pick<LiveContext<JsonValue>, 'call' | 'ear' | 'log' | 'clock'>;
  #open: { readonly value: unknown; readonly abort: LinkedAbort } | undefined;

  constructor(bot: Bot, wakes: Wakes, surroundings: Pick<LiveContext<JsonValue>, 'call' | 'ear' | 'log' | 'clock'>) {
    this.#bot = bot;
    this.#wakes = wakes;
    this.#surroundings = surroundings;
  }

  /** What is open; opens it the first time. */
  now(state: JsonValue | undefined): unknown {
    if (this.#open !== undefined) return this.#open.value;
    const abort = linkForeignAbort();
    const wake = (name: string, data?: JsonValue): void => {
      if (abort.isAborted || this.#bot.woken === undefined) return;
      if (!this.#wakes.add(name, data)) throw failure('more wakes wait than a call may have', name, 'fewer');
    };
    const value = this.#bot.live?.open({ ...this.#surroundings, wake, state, signal: abort.signal });
    this.#open = { value, abort };
    return value;
  }

  async close(why: LiveEnd): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    await this.#bot.live?.close?.(open.value, why);
    open.abort.abort('hang_up');
  }
}
