// One turn of an assistant in progress: the state at its start, and every change since. The assistant makes all its prompts here, so the
// history contains them.
import type { JsonObject } from '../base/json.ts';
import type { BotContext } from '../bot/bot.ts';
import { play, Saying, say, type SayOptions } from '../bot/saying.ts';
import type { Reply } from '../dialog/reply.ts';
import type { ModelBudget, ModelCall, ModelFailure, TurnReport } from '../dialog/turn-report.ts';
import { shortened, type AssistantMessage, type Message, type ToolMessage, type ToolOutcome } from './history.ts';
import type { AssistantState, AssistantTurn } from './options.ts';
import { phrasesOf, type AssistantRules } from './rules.ts';
import type { Phrases } from './phrases.ts';
import { ToolRuns, type RunEnd } from './tool-runs.ts';

/** The part of a handler's context that every bot has. */
export type AnyContext = BotContext<unknown>;

/** Longest history, characters of JSON: the whole snapshot of a call may have 64 KB. */
const MAX_STATE_CHARS = 48_000;

/** G.711 µ-law at 8 kHz: 8 bytes are 1 ms of audio. */
const BYTES_PER_MS = 8;

const NO_SOUND = { prompts: 0, ms: 0 } as const;

/** The creator makes one per turn. */
export class Draft<D extends JsonObject> {
  readonly rules: AssistantRules<D>;
  readonly context: AnyContext;
  readonly runs: ToolRuns;
  #state: AssistantState<D>;
  /** Whether anything was said in this turn. */
  hasSpoken = false;
  readonly #beganAtMs: number;
  readonly #report = { firstTokenMs: 0, firstSentenceMs: 0, waitedMs: 0, tokensIn: 0, tokensOut: 0, model: '', isFallback: false };
  #preparedMs: number | undefined;
  /** Monotonic ms at which the draft began to wait for the model. */
  #waitingSinceMs = 0;
  #asked: Pick<ModelCall, 'model' | 'atMs'> | undefined;
  readonly #calls: ModelCall[] = [];
  readonly #tools: TurnReport['tools'][number][] = [];
  readonly #failures: ModelFailure[] = [];
  readonly #fallbacks: ModelFailure[] = [];
  #usedUp: ModelBudget | undefined;

  constructor(rules: AssistantRules<D>, state: AssistantState<D>, context: AnyContext) {
    this.rules = rules;
    this.context = context;
    this.runs = ToolRuns.of(context.call);
    this.#state = state;
    this.#beganAtMs = context.clock.monotonicMs();
  }

  /** The current state, in the form in which it is saved. */
  get state(): AssistantState<D> {
    return { ...this.#state, messages: shortened(this.#state.messages, MAX_STATE_CHARS) };
  }

  get phrases(): Phrases {
    return phrasesOf(this.rules, this.#state.language);
  }

  /** Whether this turn's reply is no longer wanted. */
  isInterrupted(): boolean {
    return this.context.signal.aborted;
  }

  change(changes: Partial<AssistantState<D>>): void {
    this.#state = { ...this.#state, ...changes };
  }

  add(message: Message): void {
    this.change({ messages: [...this.#state.messages, message] });
  }

  /** Says a text and adds it to the history: before a tool use without an outcome, because the model continues from that tool use. */
  say(text: string, options: SayOptions = {}): Saying {
    this.hasSpoken = true;
    const { messages, language } = this.#state;
    const end = messages.at(-1);
    const coming = end?.by === 'tool' && end.outcome === undefined ? [end] : [];
    const before = messages.slice(0, messages.length - coming.length);
    const last = before.at(-1);
    const open = last?.by === 'assistant' ? last.prompts : undefined;
    const prompts = [...(open ?? []), text];
    const message = { by: 'assistant', text: prompts.join(' '), prompts } as const;
    this.change({ messages: [...(open === undefined ? before : before.slice(0, -1)), message, ...coming] });
    const voice = language === undefined ? undefined : this.rules.languages?.[language]?.voice;
    return say(text, { ...options, ...(language !== undefined && { language }), ...(voice !== undefined && { voice }) });
  }

  /** Plays audio of a speech-to-speech model. @param mulaw - G.711 µ-law, 8 kHz. */
  play(item: string, mulaw: Uint8Array): Saying {
    this.hasSpoken = true;
    const durationMs = mulaw.length / BYTES_PER_MS;
    this.#changeSpoken(item, ({ sound = NO_SOUND }) => ({ sound: { prompts: sound.prompts + 1, ms: sound.ms + durationMs } }));
    return play({ mulaw, durationMs });
  }

  /** Adds words of a speech-to-speech model. The words may come before or after their audio. */
  transcribe(item: string, words: string): void {
    this.#changeSpoken(item, ({ text }) => ({ text: text + words }));
  }

  /** Marks an item of a speech-to-speech model as complete: no more of it comes. */
  spoken(item: string): void {
    this.#changeSpoken(item, ({ sound = NO_SOUND }) => ({ sound: { ...sound, isWhole: true } }));
  }

  #changeSpoken(item: string, change: (spoken: AssistantMessage) => Partial<AssistantMessage>): void {
    const { messages } = this.#state;
    const isSame = (message: Message): message is AssistantMessage => message.by === 'assistant' && message.item === item;
    const known = messages.some(isSame) ? messages : [...messages, { by: 'assistant', text: '', item, sound: NO_SOUND } as const];
    this.change({ messages: known.map((message) => (isSame(message) ? { ...message, ...change(message) } : message)) });
  }

  /** A reply without prompts of its own; the turn's earlier prompts are still played. */
  readonly silent = new Saying([]);

  /** Ends the turn and listens. */
  listen(): AssistantTurn<D> {
    return this.reply(this.silent.listen(this.#listenOptions()));
  }

  /** Says something, ends the turn and listens. */
  ask(text: string): AssistantTurn<D> {
    return this.reply(this.say(text).listen(this.#listenOptions()));
  }

  reply(reply: Reply): AssistantTurn<D> {
    return { state: this.state, reply };
  }

  #listenOptions(): NonNullable<AssistantRules<D>['listen']> {
    const { language } = this.#state;
    return { ...this.rules.listen, ...(language !== undefined && { language }) };
  }

  /** Adds a tool use that begins now. @returns its entry in the history. */
  begin(tool: string, input: ToolMessage['input'], rest: Pick<ToolMessage, 'metadata' | 'isWithLast'>): ToolMessage {
    const uses = this.#state.uses + 1;
    const message = { by: 'tool', id: `${this.context.call.conversationId}-${String(uses)}`, tool, input, ...rest } as const;
    this.change({ uses });
    this.add(message);
    return message;
  }

  /** Records the outcome of a tool use. */
  end(useId: string, { outcome, data }: { readonly outcome: ToolOutcome; readonly data?: JsonObject }): void {
    const messages = this.#state.messages.map((message) =>
      message.by === 'tool' && message.id === useId ? { ...message, outcome } : message,
    );
    this.change({ messages, data: { ...this.#state.data, ...data } });
  }

  /** Records the outcomes of earlier tool uses that have ended. A tool use that began in another process gets no outcome. */
  collect(): void {
    for (const message of this.#state.messages) {
      if (message.by !== 'tool' || message.outcome !== undefined) continue;
      const end: RunEnd | 'running' | undefined = this.runs.take(message.id);
      if (end !== undefined && end !== 'running') this.end(message.id, end);
    }
  }

  /** Undefined: the tool still runs, or its outcome was lost. */
  outcomeOf(useId: string): ToolOutcome | undefined {
    const message = this.#state.messages.find((entry) => entry.by === 'tool' && entry.id === useId);
    return message?.by === 'tool' ? message.outcome : undefined;
  }

  /** Ends the question for digits. */
  forgetKeying(): void {
    const { keying: _, ...state } = this.#state;
    this.#state = state;
  }

  /** Notes the start of a wait for a model. @param askedAtMs - monotonic ms; set when the model was asked before this turn. */
  noteAsked(model: string, askedAtMs?: number): void {
    this.#endCall();
    this.#waitingSinceMs = this.context.clock.monotonicMs();
    if (askedAtMs !== undefined) this.#preparedMs = Math.round(this.#beganAtMs - askedAtMs);
    this.#asked = { model, atMs: Math.round((askedAtMs ?? this.#waitingSinceMs) - this.#beganAtMs) };
  }

  #endCall(end: Pick<ModelCall, 'tokensIn' | 'tokensOut' | 'failure'> = {}): void {
    if (this.#asked === undefined) return;
    const ms = Math.round(this.context.clock.monotonicMs() - this.#beganAtMs) - this.#asked.atMs;
    this.#calls.push({ ...this.#asked, ms, ...end });
    this.#asked = undefined;
  }

  noteToken(model: string, isFallback: boolean): void {
    Object.assign(this.#report, { model, isFallback });
    this.#noteWait();
    this.#report.firstTokenMs ||= this.#sinceMs();
  }

  noteSentence(): void {
    this.#report.firstSentenceMs ||= this.#sinceMs();
  }

  noteTokens(tokensIn: number, tokensOut: number): void {
    this.#noteWait();
    this.#report.tokensIn += tokensIn;
    this.#report.tokensOut += tokensOut;
    this.#endCall({ tokensIn, tokensOut });
    this.change({ tokens: this.#state.tokens + tokensIn + tokensOut });
  }

  noteFailure(why: ModelFailure): void {
    this.#noteWait();
    this.#failures.push(why);
    this.#endCall({ failure: why });
  }

  /** Notes that the last failure was followed by another attempt, with the fallback or with the same model. */
  noteFallback(): void {
    this.#fallbacks.push(...this.#failures.slice(-1));
  }

  noteUsedUp(what: ModelBudget): void {
    this.#usedUp = what;
  }

  /** @param beganAtMs - monotonic ms. */
  noteTool(name: string, beganAtMs: number, ok: boolean): void {
    const atMs = Math.round(beganAtMs - this.#beganAtMs);
    this.#tools.push({ name, atMs, ms: Math.round(this.context.clock.monotonicMs() - beganAtMs), ok });
  }

  #noteWait(): void {
    const nowMs = this.context.clock.monotonicMs();
    if (!this.hasSpoken) this.#report.waitedMs += nowMs - this.#waitingSinceMs;
    this.#waitingSinceMs = nowMs;
  }

  report(): TurnReport {
    this.#endCall();
    const { firstTokenMs, firstSentenceMs, waitedMs, ...rest } = this.#report;
    return {
      ...(firstTokenMs > 0 && { firstTokenMs }),
      ...(firstSentenceMs > 0 && { firstSentenceMs }),
      ...rest,
      ...(this.#preparedMs !== undefined && { preparedMs: this.#preparedMs }),
      waitedMs: Math.round(waitedMs),
      ms: this.#sinceMs(),
      calls: this.#calls,
      tools: this.#tools,
      failures: this.#failures,
      fallbacks: this.#fallbacks,
      ...(this.#usedUp !== undefined && { usedUp: this.#usedUp }),
      isInterrupted: this.isInterrupted(),
    };
  }

  #sinceMs(): number {
    return Math.round(this.context.clock.monotonicMs() - this.#beganAtMs) || 1;
  }
}
