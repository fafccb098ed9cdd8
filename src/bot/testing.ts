// `TestCall` for bot authors: `import { TestCall } from 'parley-voice/testing'`. Runs the real handler runner without server or audio.
// After every turn the state goes through JSON and comes back frozen, as in production.
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { Heard } from '../dialog/heard.ts';
import type { End, Prompt, Reply, Transfer } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { Bot, SpeechInput } from './bot.ts';
import type { Said } from './test-playout.ts';
import { failure } from './test-failure.ts';
import type { InterruptOptions, TestCallOptions } from './test-options.ts';
import { TestSession } from './test-session.ts';
import { shownPrompt } from './test-playout.ts';
import type { UsedTool } from './test-tools.ts';

export type { InterruptOptions, Said, TestCallOptions, UsedTool };

const SILENCE = new Uint8Array(8000).fill(0xff);

/** See {@link TestCall.speak}. */
export interface SpeakOptions extends InterruptOptions {
  readonly mulaw?: Uint8Array;
  readonly understood?: SpeechInput['understood'];
}

/** One call to one bot, step by step. A step fails when the call is over. */
export class TestCall {
  readonly #bot: Bot;
  readonly #session: TestSession;

  /** @param facts - the rest has plain test values. */
  constructor(bot: Bot, facts: Partial<CallFacts> = {}, options: TestCallOptions = {}) {
    this.#bot = bot;
    this.#session = new TestSession(bot, facts, options);
  }

  start(): Promise<this> {
    return this.#then(this.#session.turn({ type: 'session_start', name: '', parameters: this.#session.facts.parameters }));
  }

  /** Keys without the terminator, which bots never see (G-67). */
  press(digits: string, options: InterruptOptions = {}): Promise<this> {
    demandKeys(digits);
    return this.#then(this.#session.turn({ type: 'dtmf_input', by: 'keys', digits, heard: this.#session.takeHeard() }, options));
  }

  /** The caller says digits where the bot has asked for digits. */
  speakDigits(digits: string): Promise<this> {
    demandKeys(digits);
    return this.#then(this.#session.turn({ type: 'dtmf_input', by: 'speech', digits, heard: this.#session.takeHeard() }));
  }

  /**
   * @param text - what a recognizer would understand; undefined acts as a server without one.
   * @param options.mulaw - the audio itself, 8 kHz µ-law; default one second of silence.
   * @param options.understood - why there is no text; default `not_asked`.
   *
   * @example
   * await call.speak('Tuesday please', { interruptAt: 'One moment' });
   */
  speak(
    text?: string,
    { mulaw = SILENCE, understood = text === undefined ? 'not_asked' : 'words', ...options }: SpeakOptions = {},
  ): Promise<this> {
    if ((text === undefined) === (understood === 'words')) throw new TypeError(`a text goes with "words" alone, not with "${understood}"`);
    const utterance: Utterance = { mulaw, durationMs: mulaw.length / 8 };
    return this.#then(this.#session.turn({ type: 'speech_input', text, understood, utterance, heard: this.#session.takeHeard() }, options));
  }

  /** Caller audio reaches the bot's `audio_input`: 20 ms, 160 samples, 8 kHz. */
  audio(pcm: Int16Array): this {
    this.#session.mustBeOpen();
    this.#bot.audioInput?.(pcm, this.#session.facts, this.#session.ear, this.#session.liveNow());
    return this;
  }

  /** The caller does nothing until the platform reports it; with `wakeMs` or a waiting `wake`, `woken` is asked instead of `no_input`. */
  silence(): Promise<this> {
    return this.#then(this.#session.silence());
  }

  custom(name: string, parameters: JsonObject = {}): Promise<this> {
    return this.#then(this.#session.turn({ type: 'custom_event', name, parameters, heard: this.#session.takeHeard() }));
  }

  /**
   * Time passes, with a fake clock: what is said is heard, fillers and texts with `ifSilentMs` are said, timers of the bot and limits of tools run out, and a caller who
   * is to answer is silent, so that `woken` and `no_input` are asked when they are due.
   */
  advance(ms: number): Promise<this> {
    return this.#then(this.#session.advance(ms));
  }

  /**
   * The caller acts while the last reply is playing or being made: the bot gets `barge_in`. The signal of a handler that runs, because its
   * step was not awaited yet, aborts, and it has 300 ms to return. What it returns in time is kept and not heard, unless it ends the call.
   * After an error, or later, the state is that of its last checkpoint.
   *
   * @param heard - what the caller heard of the reply; default nothing, or with a fake clock what was heard by now.
   */
  interrupt(by: 'speech' | 'keys' = 'speech', heard: Partial<Heard> = {}): Promise<this> {
    return this.#then(this.#session.interrupt(by, heard));
  }

  /** The caller hangs up; a running handler is cancelled, as by {@link TestCall.interrupt}. */
  hangUp(): Promise<this> {
    return this.#then(this.#session.hangUp());
  }

  /** The call goes on in another process: `live` is closed as `moved`, and opened again with the next step. */
  async move(): Promise<this> {
    this.#session.mustBeOpen();
    await this.#session.closeLive('moved');
    return this;
  }

  /** Asserts that the last turn said something that matches; capital and small letters differ. */
  hears(pattern: RegExp | string): this {
    const heard = this.heard;
    const matches = typeof pattern === 'string' ? heard.includes(pattern) : pattern.test(heard);
    if (!matches) throw failure(`the caller should hear ${String(pattern)} but hears "${heard}"`, heard, pattern);
    return this;
  }

  /** Asserts a transfer, with at least these facts. */
  transferred(expected: Partial<Omit<Transfer, 'kind'>> = {}): this {
    return this.#ending('transfer', expected);
  }

  /** Asserts the end of the call, with this outcome when one is given. */
  ended(outcome?: End['outcome']): this {
    return this.#ending('end', outcome === undefined ? {} : { outcome });
  }

  /** What was said in the last turn; recordings appear as `[file]`, audio as `[audio]`. */
  get heard(): string {
    return this.prompts.map(shownPrompt).join(' ');
  }

  /** Of the last turn. */
  get prompts(): readonly Prompt[] {
    return this.#session.prompts;
  }

  get reply(): Reply {
    return this.#session.reply;
  }

  /** What the bot has reported through its {@link BotEar}. */
  get reported(): readonly ('speech_started' | 'speech_ended')[] {
    return this.#session.reported;
  }

  /** All that was said in the call, fillers too. Without a fake clock, time passes only while it is heard. */
  get said(): readonly Said[] {
    return this.#session.said;
  }

  /** The tools that an assistant has used, as far as the bot keeps its state. */
  get used(): readonly UsedTool[] {
    return [...this.#session.used.values()];
  }

  /** The states of all checkpoints. */
  get kept(): readonly JsonValue[] {
    return this.#session.kept;
  }

  /** The bot's state after the last turn, as a store would return it. */
  get state(): JsonValue {
    return this.#session.state;
  }

  async #then(step: Promise<void>): Promise<this> {
    await step;
    return this;
  }

  #ending(kind: 'transfer' | 'end', expected: object): this {
    const { next } = this.reply;
    const actual: Readonly<Record<string, unknown>> = { ...next };
    if (next.kind !== kind)
      throw failure(`the call should ${kind === 'end' ? 'end' : 'be transferred'} but the bot wants to ${next.kind}`, next, kind);
    for (const [name, value] of Object.entries(expected)) {
      if (JSON.stringify(actual[name]) !== JSON.stringify(value)) throw failure(`the ${kind} carries another ${name}`, next, expected);
    }
    return this;
  }
}

function demandKeys(digits: string): void {
  if (!/^[0-9A-D*#]*$/u.test(digits)) throw new TypeError(`"${digits}" cannot be pressed: keys are 0 to 9, A to D, * and #`);
}
