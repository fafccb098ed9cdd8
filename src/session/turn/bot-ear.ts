// The frames of a caller on their way to a bot that wants them, and the start and end of speech on their way back. On
// the audio path: no promise, and nothing is made per frame.
import { toAppError, type AppError } from '../../base/errors.ts';
import type { Bot, BotEar } from '../../bot/bot.ts';
import type { CallFacts } from '../../dialog/call.ts';
import type { Ear } from './ear.ts';

/** What a bot's ear needs of its session. */
export interface BotEarOptions {
  readonly bot: Bot;
  readonly call: CallFacts;
  /** Asked when something is reported, not before. */
  readonly ear: () => Ear;
  /** Whether the caller may be heard now: no last words, no prompt that cannot be cut (G-37). */
  readonly mayStart: () => boolean;
  /** Told once: a bot that fails on every frame would be reported 50 times a second. */
  readonly onFailed: (error: AppError) => void;
}

/** What takes every frame of a session; undefined for bots without `audio_input`, so that they cost nothing. */
export function frameHook({ bot, call, ear, mayStart, onFailed }: BotEarOptions): ((pcm: Int16Array) => void) | undefined {
  // The type says void, and an async function fits it all the same; nobody else would hear of its rejection.
  const audioInput: ((...heard: Parameters<NonNullable<Bot['audioInput']>>) => unknown) | undefined = bot.audioInput;
  if (audioInput === undefined) return undefined;
  const isOwn = bot.endpointing === 'bot';
  const reporting: BotEar = {
    speechStarted: () => {
      if (isOwn && mayStart()) ear().startNow();
    },
    speechEnded: () => {
      if (isOwn) ear().endNow();
    },
  };
  let hasFailed = false;
  const failed = (thrown: unknown): void => {
    if (!hasFailed) onFailed(toAppError(thrown, 'bot_failed', 'audio_input of the bot threw'));
    hasFailed = true;
  };
  return (pcm) => {
    try {
      const returned = audioInput(pcm, call, reporting);
      if (returned instanceof Promise) returned.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  };
}
