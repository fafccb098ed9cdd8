// `TestCall` for bot authors: `import { TestCall } from 'parley-voice/testing'`. Runs the real handler runner without server, timers or
// audio. After every turn the state goes through JSON and comes back frozen, as in production.
import { AssertionError } from 'node:assert';
import { linkForeignAbort, type LinkedAbort } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import { callId, type CallFacts } from '../dialog/call.ts';
import type { Heard, HeardPart } from '../dialog/heard.ts';
import type { End, Prompt, Reply, Transfer } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { Bot, BotContext, ReplyingEvent, SpeechInput } from './bot.ts';
import type { BotEar, LiveEnd } from './live.ts';
import { runHandler, runNote } from './run-handler.ts';
import type { Keep } from './saying.ts';

/** About how long a voice takes for one character, ms. */
const MS_PER_CHARACTER = 65;

/** Most yields of one handler. On a server a generator pauses when it is ahead of its caller; here nobody listens. */
const MAX_YIELDS = 10_000;

const quiet: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, child: () => quiet };

const SILENCE = new Uint8Array(8000).fill(0xff);

/** How a caller speaks: see {@link TestCall.speak}. */
export interface SpeakOptions {
  readonly mulaw?: Uint8Array;
  readonly understood?: SpeechInput['understood'];
}

/** A turn whose handler is running. */
interface Answering {
  readonly stop: LinkedAbort;
  /** Resolves when its handler has finished, with or without an error. */
  readonly done: Promise<unknown>;
}

/** One call to one bot, played step by step. Each step fails when the call is already over. */
export class TestCall {
  readonly #bot: Bot;
  readonly #facts: CallFacts;
  #state: JsonValue = null;
  #reply: Reply | undefined;
  #prompts: readonly Prompt[] = [];
  #turns = 0;
  #misses = 0;
  /** Set when the last reply was interrupted. */
  #heard: Heard | undefined;
  #answering: Answering | undefined;
  readonly #kept: JsonValue[] = [];
  readonly #reported: ('speech_started' | 'speech_ended')[] = [];
  readonly #ear: BotEar = {
    speechStarted: () => this.#reported.push('speech_started'),
    speechEnded: () => this.#reported.push('speech_ended'),
  };
  #live: { readonly value: unknown; readonly abort: LinkedAbort } | undefined;

  /** @param facts - the facts of the call that the bot sees; the rest has plain test values. */
  constructor(bot: Bot, facts: Partial<CallFacts> = {}) {
    this.#bot = bot;
    this.#facts = {
      organizationId: 'test-organization',
      conversationId: 'test-conversation',
      agentId: bot.id,
      startedAtMs: 0,
      vendorConfig: '',
      parameters: {},
      ...facts,
    };
  }

  /** The call begins; the bot says its welcome. */
  start(): Promise<this> {
    return this.#turn({ type: 'session_start', name: '', parameters: this.#facts.parameters });
  }

  /** The caller presses keys, without the terminator, which bots never see (G-67). */
  press(digits: string): Promise<this> {
    demandKeys(digits);
    return this.#turn({ type: 'dtmf_input', by: 'keys', digits, heard: this.#takeHeard() });
  }

  /** The caller says digits, and a recognizer understands them, where the bot has asked for digits. */
  speakDigits(digits: string): Promise<this> {
    demandKeys(digits);
    return this.#turn({ type: 'dtmf_input', by: 'speech', digits, heard: this.#takeHeard() });
  }

  /**
   * The caller speaks.
   *
   * @param text - what a recognizer would understand; undefined acts as a server without one.
   * @param options.mulaw - the audio itself, 8 kHz µ-law; default one second of silence.
   * @param options.understood - why there is no text; default `not_asked`.
   */
  speak(text?: string, { mulaw = SILENCE, understood = text === undefined ? 'not_asked' : 'words' }: SpeakOptions = {}): Promise<this> {
    if ((text === undefined) === (understood === 'words')) throw new TypeError(`a text goes with "words" alone, not with "${understood}"`);
    const utterance: Utterance = { mulaw, durationMs: mulaw.length / 8 };
    return this.#turn({ type: 'speech_input', text, understood, utterance, heard: this.#takeHeard() });
  }

  /** Caller audio reaches the bot's `audio_input`: 20 ms, 160 samples, 8 kHz. */
  audio(pcm: Int16Array): this {
    this.#mustBeOpen();
    this.#bot.audioInput?.(pcm, this.#facts, this.#ear, this.#liveNow());
    return this;
  }

  /** The caller does nothing until the platform reports it. */
  silence(): Promise<this> {
    return this.#turn({ type: 'no_input', count: this.#misses + 1, heard: this.#takeHeard() });
  }

  /** The platform's flow sends a custom event. */
  custom(name: string, parameters: JsonObject = {}): Promise<this> {
    return this.#turn({ type: 'custom_event', name, parameters, heard: this.#takeHeard() });
  }

  /**
   * The caller acts while the last reply is still playing or being made: the bot is notified (`barge_in`), and so is its next
   * event. If a handler is running, because its step was not awaited yet, its signal aborts and this method waits for it. An error it
   * then throws is ignored, and its state is that of its last checkpoint. What it returns is kept and not heard, unless it ends the call.
   *
   * @param heard - what the caller heard of the reply; default nothing.
   */
  async interrupt(by: 'speech' | 'keys' = 'speech', heard: Partial<Heard> = {}): Promise<this> {
    this.#mustBeOpen();
    await this.#stop('barge_in');
    this.#heard = { complete: false, ms: 0, text: '', parts: partsHeard(this.#prompts, { text: '', ms: 0, ...heard }), ...heard };
    const event = { type: 'barge_in', by, heard: this.#heard } as const;
    // A bot that has ended the call is not notified any more.
    if (this.reply.next.kind === 'listen') this.#state = await runNote(this.#bot, this.#state, event, this.#context());
    return this;
  }

  /** The caller hangs up; a running handler is cancelled, as by {@link TestCall.interrupt}. */
  async hangUp(): Promise<this> {
    this.#mustBeOpen();
    await this.#stop('hang_up');
    this.#state = await runNote(this.#bot, this.#state, { type: 'session_end', by: 'caller' }, this.#context());
    this.#reply = { prompts: [], next: { kind: 'end', outcome: 'hung up' } };
    await this.#closeLive('ended');
    return this;
  }

  /** The call goes on in another process: what the bot keeps for it is closed as `moved`, and opened again with the next step. */
  async move(): Promise<this> {
    this.#mustBeOpen();
    await this.#closeLive('moved');
    return this;
  }

  /** Asserts that the last turn said something that matches; capital and small letters differ. */
  hears(pattern: RegExp | string): this {
    const heard = this.heard;
    const matches = typeof pattern === 'string' ? heard.includes(pattern) : pattern.test(heard);
    if (!matches) throw failure(`the caller should hear ${String(pattern)} but hears "${heard}"`, heard, pattern);
    return this;
  }

  /** Asserts that the last turn transferred the caller, with at least these facts. */
  transferred(expected: Partial<Omit<Transfer, 'kind'>> = {}): this {
    return this.#ending('transfer', expected);
  }

  /** Asserts that the last turn ended the call, with this outcome when one is given. */
  ended(outcome?: End['outcome']): this {
    return this.#ending('end', outcome === undefined ? {} : { outcome });
  }

  /** Everything said in the last turn, one text after the other; recordings appear as `[file]`, audio as `[audio]`. */
  get heard(): string {
    return this.#prompts
      .map((prompt) => (prompt.kind === 'text' ? prompt.text : prompt.kind === 'file' ? `[${prompt.file}]` : '[audio]'))
      .join(' ');
  }

  /** The prompts of the last turn. */
  get prompts(): readonly Prompt[] {
    return this.#prompts;
  }

  /** The last reply. */
  get reply(): Reply {
    if (this.#reply === undefined) throw new Error('the call has not started; call start() first');
    return this.#reply;
  }

  /** What the bot has reported through its {@link BotEar}, in order. */
  get reported(): readonly ('speech_started' | 'speech_ended')[] {
    return this.#reported;
  }

  /** The states of all checkpoints so far, in order. */
  get kept(): readonly JsonValue[] {
    return this.#kept;
  }

  /** The bot's state after the last turn, as a store would return it. */
  get state(): JsonValue {
    return this.#state;
  }

  async #turn(event: ReplyingEvent): Promise<this> {
    if (this.#answering !== undefined) throw new Error('the step before is still being answered: await it first');
    if (event.type === 'session_start') {
      if (this.#reply !== undefined) throw new Error('the call has started already');
    } else {
      this.#mustBeOpen();
    }
    this.#turns += 1;
    const stop = linkForeignAbort();
    const answered = this.#answer(event, stop);
    this.#answering = { stop, done: answered.catch(() => undefined) };
    try {
      await answered;
    } finally {
      stop.abort('deadline');
      this.#answering = undefined;
    }
    return this;
  }

  async #answer(event: ReplyingEvent, stop: LinkedAbort): Promise<void> {
    const early: Prompt[] = [];
    let yields = 0;
    this.#prompts = early;
    try {
      const speakEarly = (prompts: readonly Prompt[]): boolean => {
        if (!stop.isAborted) early.push(...prompts);
        yields += 1;
        if (yields > MAX_YIELDS) throw failure(`the handler yielded more than ${String(MAX_YIELDS)} times`, yields, MAX_YIELDS);
        return true;
      };
      const keepState = ({ keep: state }: Keep<JsonValue>): boolean => {
        this.#state = state;
        this.#kept.push(state);
        return true;
      };
      const { state, reply } = await runHandler(this.#bot, this.#state, event, this.#context(stop), { speakEarly, keepState });
      this.#misses = event.type === 'no_input' ? event.count : 0;
      this.#state = state;
      this.#reply = reply;
      if (reply.next.kind !== 'listen') await this.#closeLive('ended');
      // A farewell is heard also by a caller who talked over what came before (G-55).
      if (!stop.isAborted || reply.next.kind !== 'listen') this.#prompts = [...early, ...reply.prompts];
    } catch (failed) {
      if (!stop.isAborted) throw failed;
    }
  }

  async #stop(reason: 'barge_in' | 'hang_up'): Promise<void> {
    // The caller interrupts something: the handler says at once what it can.
    await new Promise((resolve) => setImmediate(resolve));
    this.#answering?.stop.abort(reason);
    await this.#answering?.done;
  }

  /** Unless it was interrupted, the caller has heard the whole reply, at the pace of a calm voice. */
  #takeHeard(): Heard {
    const text = this.heard;
    const heard = this.#heard ?? { complete: true, ms: text.length * MS_PER_CHARACTER, text, parts: partsHeard(this.#prompts) };
    this.#heard = undefined;
    return heard;
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

  /** What the bot has opened for this call, in this process. */
  #liveNow(): unknown {
    if (this.#live !== undefined) return this.#live.value;
    const abort = linkForeignAbort();
    const value = this.#bot.live?.open({
      ...{ call: this.#facts, signal: abort.signal, log: quiet, clock: systemClock },
      state: this.#reply === undefined ? undefined : this.#state,
      ear: this.#ear,
    });
    this.#live = { value, abort };
    return value;
  }

  async #closeLive(why: LiveEnd): Promise<void> {
    const live = this.#live;
    this.#live = undefined;
    if (live === undefined) return;
    await this.#bot.live?.close?.(live.value, why);
    live.abort.abort('hang_up');
  }

  #mustBeOpen(): void {
    if (this.reply.next.kind !== 'listen') throw new Error('the call is over');
  }

  #context(stop = linkForeignAbort()): BotContext<unknown> {
    return {
      call: this.#facts,
      live: this.#liveNow(),
      turnId: `${callId(this.#facts)}/${String(this.#turns)}`,
      signal: stop.signal,
      clock: { ...systemClock, nowMs: () => this.#facts.startedAtMs },
      log: quiet,
    };
  }
}

function demandKeys(digits: string): void {
  if (!/^[0-9A-D*#]*$/u.test(digits)) throw new TypeError(`"${digits}" cannot be pressed: keys are 0 to 9, A to D, * and #`);
}

/** The parts of a reply of which these words, or so many ms of recordings, were heard; all of them, when nothing is said. */
function partsHeard(prompts: readonly Prompt[], heard?: { readonly text: string; readonly ms: number }): readonly HeardPart[] {
  let left = heard?.text.trim() ?? Infinity;
  let leftMs = heard?.ms ?? Infinity;
  return prompts.map((prompt) => {
    if (prompt.kind === 'audio') {
      const lengthMs = prompt.mulaw.length / 8;
      const ms = Math.min(lengthMs, leftMs);
      leftMs -= ms;
      return { text: '', heard: '', ms, complete: ms === lengthMs };
    }
    const text = prompt.kind === 'text' ? prompt.text : '';
    const words = typeof left === 'number' ? text : left.slice(0, text.length);
    if (typeof left === 'string') left = left.slice(text.length).trimStart();
    return { text, heard: words, ms: words.length * MS_PER_CHARACTER, complete: words === text };
  });
}

function failure(message: string, actual: unknown, expected: unknown): AssertionError {
  return new AssertionError({ message, actual, expected });
}
