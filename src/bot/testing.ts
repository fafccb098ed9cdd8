// The test bench for bot authors: `import { TestCall } from '#bot/testing'`. Runs the real handler runner without
// server, timers or audio; after every turn the state goes through JSON and comes back frozen, as in production.
import { AssertionError } from 'node:assert';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import { callId, type CallFacts } from '../dialog/call.ts';
import type { End, Prompt, Reply, Transfer } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { Bot, BotContext, ReplyingEvent } from './bot.ts';
import { runHandler, runNote } from './run-handler.ts';

const quiet: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, child: () => quiet };

/** One call to one bot, played step by step. Each step fails when the call is already over. */
export class TestCall {
  readonly #bot: Bot;
  readonly #facts: CallFacts;
  #state: JsonValue = null;
  #reply: Reply | undefined;
  #prompts: readonly Prompt[] = [];
  #turns = 0;

  /** @param facts - what the bot shall see of the call; the rest has plain test values. */
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

  /** The caller presses keys; a terminator is not among them, as bots never see it (G-67). */
  press(digits: string): Promise<this> {
    return this.#turn({ type: 'dtmf_input', digits });
  }

  /**
   * The caller speaks.
   *
   * @param text - what a recognizer would understand; undefined plays a server without one.
   * @param mulaw - the audio itself, 8 kHz µ-law; default one second of silence.
   */
  speak(text?: string, mulaw: Uint8Array = new Uint8Array(8000).fill(0xff)): Promise<this> {
    const utterance: Utterance = { mulaw, durationMs: mulaw.length / 8 };
    return this.#turn({ type: 'speech_input', text, utterance });
  }

  /** The caller does nothing until the platform reports it. */
  silence(): Promise<this> {
    return this.#turn({ type: 'no_input' });
  }

  /** The platform's flow sends an event of its own. */
  custom(name: string, parameters: JsonObject = {}): Promise<this> {
    return this.#turn({ type: 'custom_event', name, parameters });
  }

  /** The caller hangs up. */
  async hangUp(): Promise<this> {
    this.#mustBeOpen();
    this.#state = await runNote(this.#bot, this.#state, { type: 'session_end', by: 'caller' }, this.#context());
    this.#reply = { prompts: [], next: { kind: 'end', outcome: 'hung up' } };
    return this;
  }

  /** Demands that the last turn said something that matches. */
  hears(pattern: RegExp | string): this {
    const heard = this.heard;
    const matches = typeof pattern === 'string' ? heard.includes(pattern) : pattern.test(heard);
    if (!matches) throw failure(`the caller should hear ${String(pattern)} but hears "${heard}"`, heard, pattern);
    return this;
  }

  /** Demands that the last turn transferred the caller, with at least these facts. */
  transferred(expected: Partial<Omit<Transfer, 'kind'>> = {}): this {
    return this.#ending('transfer', expected);
  }

  /** Demands that the last turn ended the call, with this outcome when one is given. */
  ended(outcome?: End['outcome']): this {
    return this.#ending('end', outcome === undefined ? {} : { outcome });
  }

  /** Everything said in the last turn, one text after the other; recordings stand as `[file]`, audio as `[audio]`. */
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

  /** The bot's state after the last turn, as a store would hand it out. */
  get state(): JsonValue {
    return this.#state;
  }

  async #turn(event: ReplyingEvent): Promise<this> {
    if (event.type === 'session_start') {
      if (this.#reply !== undefined) throw new Error('the call has started already');
    } else {
      this.#mustBeOpen();
    }
    this.#turns += 1;
    const early: Prompt[] = [];
    const answer = await runHandler(this.#bot, this.#state, event, this.#context(), (prompts) => {
      early.push(...prompts);
      return true;
    });
    this.#state = answer.state;
    this.#reply = answer.reply;
    this.#prompts = [...early, ...answer.reply.prompts];
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

  #mustBeOpen(): void {
    if (this.reply.next.kind !== 'listen') throw new Error('the call is over');
  }

  #context(): BotContext {
    return {
      call: this.#facts,
      turnId: `${callId(this.#facts)}/${String(this.#turns)}`,
      signal: new AbortController().signal,
      clock: { nowMs: () => this.#facts.startedAtMs },
      log: quiet,
    };
  }
}

function failure(message: string, actual: unknown, expected: unknown): AssertionError {
  return new AssertionError({ message, actual, expected });
}
