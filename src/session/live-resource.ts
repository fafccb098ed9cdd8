// A resource that a bot keeps for one call in one process: opened when first used, closed once when the call ends or moves.
import { linkForeignAbort, waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Bot } from '../bot/bot.ts';
import type { BotEar, LiveContext, LiveEnd } from '../bot/live.ts';
import { logIds } from './log-ids.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

/** Longest wait for `close`, ms. */
const CLOSE_LIMIT_MS = 2000;

export interface LiveResourceOptions {
  readonly bot: Bot;
  readonly snapshot: Snapshot;
  readonly ear: BotEar;
  readonly wake: LiveContext<unknown>['wake'];
  readonly clock: Clock;
  readonly log: Logger;
  /** `close` threw or took too long. */
  readonly onFailed: (error: AppError) => void;
}

/** Owned by a session; for bots see {@link Live}. */
export class LiveResource {
  readonly #options: LiveResourceOptions;
  readonly #abort = linkForeignAbort();
  #opened: { readonly value: unknown } | { readonly error: AppError } | undefined;
  #isClosed = false;

  constructor(options: LiveResourceOptions) {
    this.#options = options;
  }

  /** The resource; opened at the first access. @throws AppError `bot_failed` when `open` threw, at every access. */
  get value(): unknown {
    this.#opened ??= this.#isClosed ? { value: undefined } : this.#open();
    if ('error' in this.#opened) throw this.#opened.error;
    return this.#opened.value;
  }

  /** Closes the resource if it was opened; only the first call counts. Never rejects, and takes 2 s at most. */
  async close(why: LiveEnd): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { bot, clock, onFailed } = this.#options;
    try {
      if (this.#opened === undefined || 'error' in this.#opened) return;
      const closed = Promise.resolve(bot.live?.close?.(this.#opened.value, why));
      const { kind } = await waitAtMost(closed, CLOSE_LIMIT_MS, clock);
      if (kind !== 'value') onFailed(new AppError('bot_timeout', 'live.close took too long'));
    } catch (thrown) {
      onFailed(toAppError(thrown, 'bot_failed', 'live.close threw'));
    } finally {
      this.#abort.abort('hang_up');
      this.#abort.dispose();
    }
  }

  #open(): { readonly value: unknown } | { readonly error: AppError } {
    const { bot, snapshot, ear, wake, clock, log } = this.#options;
    const { call } = snapshot;
    // A state of another version is not passed to this version of the bot.
    const isOwn = snapshot.started && snapshot.bot.version === bot.version;
    try {
      const value = bot.live?.open({
        ...{ call, ear, wake, clock, signal: this.#abort.signal },
        state: isOwn ? snapshot.state : undefined,
        log: log.child({ bot: bot.id, ...logIds(call, { id: `${call.conversationId}#live` }) }),
      });
      return { value };
    } catch (thrown) {
      return { error: toAppError(thrown, 'bot_failed', 'live.open threw') };
    }
  }
}
