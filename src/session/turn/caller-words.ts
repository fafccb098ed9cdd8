// The caller's words while they are spoken: recognizes them early, notifies the bot, and lets them decide how long a pause may be.
import { toAppError } from '../../base/errors.ts';
import type { Bot } from '../../bot/bot.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import { botContext } from '../answer/bot-question.ts';
import type { Prepared } from '../answer/caller-event.ts';
import { Preparation } from '../answer/preparation.ts';
import { silenceAfter } from '../answer/word-patience.ts';
import type { Conversation } from '../conversation.ts';
import type { EngineParts } from '../parts.ts';
import type { HeardWords, Recognizer } from '../ports.ts';
import { isWeighed, type CallerAudio } from './caller-audio.ts';
import { earlyRecognition, type EarlyRecognition, type RunningRecognition } from './early-recognition.ts';
import type { Turn } from './turn.ts';

/** Shortest time between two notifications of the bot, ms. */
const HEARING_MS = 200;

export interface CallerWordsOptions {
  readonly parts: EngineParts;
  readonly conversation: Conversation;
  readonly callerAudio: CallerAudio;
  readonly recognizer: Recognizer;
  /** Whether no work is running that changes the bot's state. */
  readonly isBotIdle: () => boolean;
}

/** One per session. */
export class CallerWords {
  readonly #options: CallerWordsOptions;
  readonly #recognition: EarlyRecognition;
  readonly #preparation: Preparation;
  /** The turn of the current utterance. */
  #turn: Turn | undefined;
  #isPaused = false;
  /** Words since the last pause, and words of the piece before it that were recognized late. */
  #words: HeardWords | undefined;
  #heardAtMs = -Infinity;

  constructor(options: CallerWordsOptions) {
    const { parts, conversation, recognizer } = options;
    this.#options = options;
    this.#recognition = earlyRecognition(recognizer, (words) => {
      this.#heard(words);
    });
    this.#preparation = new Preparation(parts, conversation);
  }

  /** An utterance begins. */
  begin(turn: Turn): void {
    this.#turn = turn;
    this.#isPaused = false;
    this.#words = undefined;
    this.#preparation.reset();
    this.#recognition.begin(this.#options.conversation.expected);
  }

  /** Takes audio of the utterance, G.711 µ-law. */
  push(mulaw: Uint8Array): void {
    this.#recognition.push(mulaw);
  }

  /** The caller pauses and may be done. */
  pause(): void {
    const { callerAudio, conversation } = this.#options;
    this.#isPaused = true;
    this.#recognition.pause(() => callerAudio.utteranceSoFar(), conversation.expected);
    // Some services send words while the caller speaks: these may be all by now, although the last ones may still change.
    if (this.#words !== undefined && this.#words.text !== this.#words.stable) this.#weigh(this.#words);
  }

  /** The caller goes on. */
  resume(): void {
    this.#isPaused = false;
    // These words say nothing about the next pause.
    this.#words = undefined;
    this.#recognition.resume();
  }

  /** The utterance has ended. */
  take(utterance: Utterance): { readonly recognition: RunningRecognition | undefined; readonly prepared: Prepared | undefined } {
    this.#turn = undefined;
    const recognition = this.#recognition.take(utterance, this.#options.conversation.expected);
    return { recognition, prepared: this.#preparation.take() };
  }

  /** The utterance is no longer wanted. */
  drop(): void {
    this.#turn = undefined;
    this.#preparation.drop();
    this.#recognition.drop();
  }

  close(): void {
    this.drop();
    this.#recognition.close();
  }

  #heard(words: HeardWords): void {
    if (this.#turn === undefined) return;
    this.#words = words;
    this.#options.conversation.recorder?.heard(this.#turn, words);
    this.#tell(words, this.#turn);
    // Some services send the words before a pause one by one.
    if (this.#isPaused && words.isWhole) this.#weigh(words);
  }

  #tell({ text, stable, isWhole }: HeardWords, turn: Turn): void {
    const { parts, conversation } = this.#options;
    const { bot, call } = conversation;
    const nowMs = parts.clock.monotonicMs();
    // A bot always gets all words before a pause.
    if (bot.hearing === undefined || (!isWhole && nowMs - this.#heardAtMs < HEARING_MS)) return;
    this.#heardAtMs = nowMs;
    const failed = (thrown: unknown): void => {
      parts.observer.botFailed?.(call, turn.id, toAppError(thrown, 'bot_failed', 'hearing of the bot threw'));
    };
    // An async function also fits the type `void`; its rejection must be handled.
    const hearing: (...heard: Parameters<NonNullable<Bot['hearing']>>) => unknown = bot.hearing;
    try {
      const returned = hearing({ text, stable }, botContext(parts, conversation, turn, turn.wanted.signal));
      if (returned instanceof Promise) returned.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  /** Decides from the words how long the pause may be, and whether they may be the whole input. */
  #weigh({ text, isWhole }: HeardWords): void {
    const { parts, conversation, callerAudio, isBotIdle } = this.#options;
    const { words, language } = parts.settings;
    const { bot, snapshot, callerLanguage } = conversation;
    if (words === undefined || this.#turn === undefined) return;
    const bounds = silenceAfter(text, snapshot.listen, callerLanguage ?? language, words);
    const isUnfinished = bounds !== undefined && bounds[0] > 0;
    if (isBotIdle() && !isUnfinished) this.#preparation.begin(text, this.#turn);
    if (bounds !== undefined && isWhole && isWeighed(snapshot.listen, bot)) callerAudio.endWithin(...bounds);
  }
}
