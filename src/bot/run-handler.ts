// Runs one handler of a bot to its result: plain values, promises and generators alike. Has no timers and no server, so that tests of
// bots run exactly this code. The engine adds deadlines and storage.
import { AppError, toAppError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { Prompt } from '../dialog/reply.ts';
import type { Bot, BotContext, Handled, NotifyingEvent, ReplyingEvent } from './bot.ts';
import { checkAnswer, checkKeep, checkSaying, checkState } from './reply-check.ts';
import type { Answer, Keep } from './saying.ts';

/** Time for an interrupted handler to finish its state, ms; the next input waits for it. */
export const INTERRUPTED_GRACE_MS = 300;

/**
 * Takes prompts that a generator wants to speak at once. The generator continues when the promise resolves, which is the only bound on
 * how often it yields. False: nobody waits for this handler any more, so the generator is ended.
 */
export type SpeakEarly = (prompts: readonly Prompt[]) => Promise<boolean> | boolean;

/** Takes a checkpoint. False: nobody waits for this handler any more, so the generator is ended. */
export type KeepState = (kept: Keep<JsonValue>) => Promise<boolean> | boolean;

/** The arguments of a replying handler. */
export interface HandlerOptions {
  readonly speakEarly: SpeakEarly;
  readonly keepState: KeepState;
  /** Limit of the state as JSON, bytes. Default: the limit for every bot. */
  readonly maxStateBytes?: number;
}

/**
 * Runs the handler for an event that wants a reply.
 *
 * @param state - the current state; ignored for `session_start`.
 * @throws AppError `bot_failed` when the handler throws, its result is no reply or its state is too large.
 */
export async function runHandler(
  bot: Bot,
  state: JsonValue,
  event: ReplyingEvent,
  context: BotContext<unknown>,
  options: HandlerOptions,
): Promise<Answer<JsonValue>> {
  try {
    const handled = handledBy(bot, state, event, context);
    const returned: unknown = isGenerator(handled) ? await drain(handled, options) : await handled;
    return checkAnswer(returned, options.maxStateBytes);
  } catch (thrown) {
    throw toAppError(thrown, 'bot_failed', `the handler of ${event.type} threw`);
  }
}

function handledBy(bot: Bot, state: JsonValue, event: ReplyingEvent, context: BotContext<unknown>): Handled<JsonValue> {
  if (event.type === 'session_start') return bot.start(event, context);
  if (event.type !== 'woken') return bot.reply(state, event, context);
  if (bot.woken === undefined) throw new AppError('internal', 'a bot without a handler for it was woken');
  return bot.woken(state, event, context);
}

/**
 * Notifies the bot; it cannot reply.
 *
 * @param maxStateBytes - limit of the new state as JSON.
 * @returns the new state, or `state` itself when the bot keeps it.
 * @throws AppError `bot_failed`.
 */
export async function runNote(
  bot: Bot,
  state: JsonValue,
  event: NotifyingEvent,
  context: BotContext<unknown>,
  maxStateBytes?: number,
): Promise<JsonValue> {
  try {
    const noted = await bot.note(state, event, context);
    return noted === undefined ? state : checkState(noted, maxStateBytes);
  } catch (thrown) {
    throw toAppError(thrown, 'bot_failed', `the handler of ${event.type} threw`);
  }
}

type Talk = Generator<unknown, unknown> | AsyncGenerator<unknown, unknown>;

async function drain(talk: Talk, { speakEarly, keepState, maxStateBytes }: HandlerOptions): Promise<unknown> {
  let isDone = false;
  try {
    for (;;) {
      const step = await talk.next();
      if (step.done === true) {
        isDone = true;
        return step.value;
      }
      const kept = checkKeep(step.value, maxStateBytes);
      const isWaitedFor = await (kept === undefined ? speakEarly(checkSaying(step.value)) : keepState(kept));
      if (!isWaitedFor) throw new AppError('bot_failed', 'the reply came too late and was not waited for');
    }
  } finally {
    if (!isDone) leave(talk);
  }
}

/** Lets the generator's finally blocks run. Nobody waits for them: they may never end, and their errors are ignored. */
function leave(talk: Talk): void {
  const left = async (): Promise<unknown> => talk.return(undefined);
  left().catch(() => undefined);
}

function isGenerator(handled: Handled<JsonValue>): handled is Extract<Handled<JsonValue>, Talk> {
  return typeof handled === 'object' && 'next' in handled && typeof handled.next === 'function' && Symbol.toStringTag in handled;
}
