// Passes caller frames to a bot with `audio_input`, and the bot's reports of speech start and end back. On the audio path: no
// promises and no allocation per frame.
import { toAppError, type AppError } from '../../base/errors.ts';
import type { Bot } from '../../bot/bot.ts';
import type { BotEar } from '../../bot/live.ts';
import type { CallFacts } from '../../dialog/call.ts';
import type { LiveResource } from '../live-resource.ts';
import type { CallerAudio } from './caller-audio.ts';

export interface EarOptions {
  readonly bot: Bot;
  /** Called when the bot reports something. */
  readonly callerAudio: () => CallerAudio;
  /** Whether speech may start now: no farewell and no uninterruptible prompt is playing (G-37). */
  readonly mayStart: () => boolean;
}

/** The interface through which the bot of one session reports speech. */
export function earOf({ bot, callerAudio, mayStart }: EarOptions): BotEar {
  const isOwn = bot.endpointing === 'bot';
  return {
    speechStarted: () => {
      if (isOwn && mayStart()) callerAudio().startNow();
    },
    speechEnded: () => {
      if (isOwn) callerAudio().endNow();
    },
  };
}

export interface FrameHookOptions {
  readonly bot: Bot;
  readonly call: CallFacts;
  readonly ear: BotEar;
  readonly live: LiveResource;
  /** Called once, even if the bot fails on every frame. */
  readonly onFailed: (error: AppError) => void;
}

/** A function for every frame of a session; undefined for bots without `audio_input`. */
export function frameHook({ bot, call, ear, live, onFailed }: FrameHookOptions): ((pcm: Int16Array) => void) | undefined {
  // An async function also fits the type `void`; its rejection must be handled.
  const audioInput: ((...heard: Parameters<NonNullable<Bot['audioInput']>>) => unknown) | undefined = bot.audioInput;
  if (audioInput === undefined) return undefined;
  let hasFailed = false;
  const failed = (thrown: unknown): void => {
    if (!hasFailed) onFailed(toAppError(thrown, 'bot_failed', 'audio_input of the bot threw'));
    hasFailed = true;
  };
  return (pcm) => {
    try {
      const returned = audioInput(pcm, call, ear, live.value);
      if (returned instanceof Promise) returned.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  };
}
