// One call of a test: asks the bot as the engine does, without server and audio. `TestCall` is what authors see of it.
import { linkForeignAbort, waitAtMost } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { JumpingClock, tick } from '../base/jumping-clock.ts';
import type { JsonValue } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import { callId, type CallFacts } from '../dialog/call.ts';
import type { Heard } from '../dialog/heard.ts';
import type { Prompt, Reply } from '../dialog/reply.ts';
import type { Bot, BotContext, ReplyingEvent } from './bot.ts';
import { separated } from './conditional-sayings.ts';
import type { BotEar, LiveEnd } from './live.ts';
import { INTERRUPTED_GRACE_MS, runHandler, runNote } from './run-handler.ts';
import type { Keep } from './saying.ts';
import { newAnswering, type Answering } from './test-answering.ts';
import { TestLive } from './test-live.ts';
import type { InterruptOptions, TestCallOptions } from './test-options.ts';
import { partsHeard, shownPrompt, TestPlayout, type Said } from './test-playout.ts';
import { conditionalSayings, fillersLater } from './test-silences.ts';
import { failure } from './test-failure.ts';
import { collectUses, type UsedTool } from './test-tools.ts';
import { isTimer, reportAfterMs, TIMER, Wakes, type Silence, type Woken } from './wakes.ts';

/** About how long a voice takes for one character, ms. */
const MS_PER_CHARACTER = 65;

const STEP_MS = 20;

/** As the default of a server's settings (`listen.no_input_ms`). */
const NO_INPUT_MS = 10_000;

/** Most yields of one handler. On a server a generator pauses when it is ahead of its caller; here nobody listens. */
const MAX_YIELDS = 10_000;

const quiet: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, child: () => quiet };

/** Owned by a `TestCall`. */
export class TestSession {
  readonly facts: CallFacts;
  state: JsonValue = null;
  /** Of the last turn. */
  prompts: readonly Prompt[] = [];
  /** The states of all checkpoints. */
  readonly kept: JsonValue[] = [];
  /** By the id of the use. */
  readonly used = new Map<string, UsedTool>();
  readonly reported: ('speech_started' | 'speech_ended')[] = [];
  readonly ear: BotEar = {
    speechStarted: () => this.reported.push('speech_started'),
    speechEnded: () => this.reported.push('speech_ended'),
  };
  readonly #bot: Bot;
  readonly #fake: JumpingClock | undefined;
  readonly #msPerCharacter: number;
  readonly #playout: TestPlayout;
  readonly #wakes = new Wakes();
  #reply: Reply | undefined;
  #turns = 0;
  #misses = 0;
  #silentMs = 0;
  /** Set when the last reply was interrupted. */
  #heard: Heard | undefined;
  #answering: Answering | undefined;
  /** Called when something is said. */
  #onSaid: () => void = () => undefined;
  #cancelReport: () => void = () => undefined;
  /** Of the answer to a report that came by itself. */
  #failure: { readonly thrown: unknown } | undefined;
  readonly #live: TestLive;

  constructor(bot: Bot, own: Partial<CallFacts>, { clock = 'real', msPerCharacter = MS_PER_CHARACTER }: TestCallOptions) {
    this.#bot = bot;
    this.facts = {
      ...{ organizationId: 'test-organization', conversationId: 'test-conversation', agentId: bot.id },
      ...{ startedAtMs: 0, vendorConfig: '', parameters: {} },
      ...own,
    };
    this.#fake = clock === 'fake' ? new JumpingClock(this.facts.startedAtMs) : undefined;
    const { facts: call, ear } = this;
    this.#live = new TestLive(bot, this.#wakes, { call, ear, log: quiet, clock: this.#fake ?? systemClock });
    this.#msPerCharacter = msPerCharacter;
    this.#playout = new TestPlayout(msPerCharacter);
  }

  get reply(): Reply {
    if (this.#reply === undefined) throw new Error('the call has not started; call start() first');
    return this.#reply;
  }

  get said(): readonly Said[] {
    return this.#playout.said(this.#timeMs);
  }

  /** A report of no input comes. */
  async silence(): Promise<void> {
    this.mustBeOpen();
    const afterMs = reportAfterMs(this.#silence) || NO_INPUT_MS;
    this.#cancelReport();
    await this.#fake?.advance(this.#playingMs + afterMs);
    await this.#report(afterMs);
  }

  async advance(ms: number): Promise<void> {
    if (this.#fake === undefined) throw new TypeError("only a fake clock can be moved: new TestCall(bot, {}, { clock: 'fake' })");
    await this.#fake.advance(ms);
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.thrown;
  }

  /** @param heard - default nothing, or with a fake clock what was heard by now. */
  async interrupt(by: 'speech' | 'keys', heard: Partial<Heard>): Promise<void> {
    this.mustBeOpen();
    this.#cancelReport();
    // The caller interrupts something: the handler says at once what it can.
    await tick();
    const given = this.#fake !== undefined && Object.keys(heard).length === 0 ? this.#playout.heardBy(this.#timeMs) : heard;
    const { text = '', ms = 0 } = given;
    this.#heard = { complete: false, text, ms, parts: partsHeard(this.prompts, this.#msPerCharacter, { text, ms }), ...given };
    this.#playout.cut(this.#heard, this.#fake?.monotonicMs());
    await this.#stop('barge_in');
    const event = { type: 'barge_in', by, heard: this.#heard } as const;
    // A bot that has ended the call is not notified any more.
    if (this.reply.next.kind === 'listen') this.#keepState(await runNote(this.#bot, this.state, event, this.#context()));
  }

  async hangUp(): Promise<void> {
    this.mustBeOpen();
    this.#cancelReport();
    await tick();
    await this.#stop('hang_up');
    this.state = await runNote(this.#bot, this.state, { type: 'session_end', by: 'caller' }, this.#context());
    this.#reply = { prompts: [], next: { kind: 'end', outcome: 'hung up' } };
    await this.closeLive('ended');
  }

  /** Asks the bot, and waits for its answer. @throws what its handler throws, unless nobody waits for it. */
  async turn(event: ReplyingEvent, { interruptAt, by = 'speech' }: InterruptOptions = {}): Promise<void> {
    if (this.#answering !== undefined) throw new Error('the step before is still being answered: await it first');
    if (event.type !== 'session_start') this.mustBeOpen();
    else if (this.#reply !== undefined) throw new Error('the call has started already');
    this.#cancelReport();
    this.#turns += 1;
    const answering = newAnswering();
    this.#answering = answering;
    answering.ended = this.#answer(event, answering)
      .then(
        () => undefined,
        (thrown: unknown) => ({ thrown }),
      )
      .finally(() => {
        this.#over(answering);
      });
    if (interruptAt !== undefined) await this.#comeIn(interruptAt, by, answering);
    const failed = await Promise.race([answering.ended, answering.left]);
    if (failed !== undefined) throw failed.thrown;
    this.#expectReport();
  }

  #over(answering: Answering): void {
    answering.stop.abort('deadline');
    answering.isOver = true;
    this.#onSaid();
    if (this.#answering === answering) this.#answering = undefined;
  }

  async #answer(event: ReplyingEvent, answering: Answering): Promise<void> {
    const { stop } = answering;
    const early: Prompt[] = [];
    let yields = 0;
    this.prompts = early;
    // A caller who does not come in hears everything first.
    if (this.#fake !== undefined && this.#playingMs > 0) await this.#fake.advance(this.#playingMs);
    this.#playout.begin();
    const say = (prompts: readonly Prompt[]): void => {
      if (stop.isAborted) return;
      early.push(...prompts);
      this.#hears(prompts);
    };
    const conditional = conditionalSayings(this.#fake, this.#playout, stop.signal, say);
    const cancelFillers = fillersLater(this.#fake, this.#playout, this.#bot, () => !stop.isAborted && early.length === 0);
    try {
      const speakEarly = (prompts: readonly Prompt[]): Promise<boolean> | boolean => {
        yields += 1;
        if (yields > MAX_YIELDS) throw failure(`the handler yielded more than ${String(MAX_YIELDS)} times`, yields, MAX_YIELDS);
        const all = separated(prompts);
        if (all.said.length > 0) conditional.drop();
        say(all.said);
        for (const prompt of all.conditional) conditional.add(prompt);
        return !answering.isOver;
      };
      const keepState = ({ keep: state }: Keep<JsonValue>): boolean => {
        if (answering.isOver) return false;
        this.#keepState(state);
        this.kept.push(state);
        return true;
      };
      const { state, reply } = await runHandler(this.#bot, this.state, event, this.#context(stop), { speakEarly, keepState });
      if (answering.isOver) return;
      const isSilent = early.length + reply.prompts.length === 0;
      this.#silentMs = event.type === 'woken' && isSilent ? event.silentMs : 0;
      if (event.type === 'woken') this.#wakes.answered();
      else this.#misses = event.type === 'no_input' ? event.count : 0;
      this.#keepState(state);
      this.#reply = reply;
      if (reply.next.kind !== 'listen') await this.closeLive('ended');
      // A farewell is heard also by a caller who talked over what came before (G-55).
      if (!stop.isAborted || reply.next.kind !== 'listen') {
        this.prompts = [...early, ...reply.prompts];
        this.#hears(reply.prompts);
      }
    } catch (failed) {
      if (!stop.isAborted) throw failed;
    } finally {
      conditional.drop();
      cancelFillers();
    }
  }

  #hears(prompts: readonly Prompt[]): void {
    for (const prompt of prompts) this.#playout.add(prompt, this.#timeMs);
    this.#onSaid();
  }

  #keepState(state: JsonValue): void {
    this.state = state;
    collectUses(state, this.used);
  }

  /** The caller comes in on the reply that is being made. */
  async #comeIn(point: string | number, by: 'speech' | 'keys', answering: Answering): Promise<void> {
    await tick();
    let moment = this.#playout.momentOf(point);
    while (moment === undefined && !answering.isOver) {
      await new Promise<void>((resolve) => (this.#onSaid = resolve));
      moment = this.#playout.momentOf(point);
    }
    if (moment === undefined) throw failure(`the caller never hears ${String(point)} but "${this.#shown}"`, this.#shown, point);
    const isFarewell = this.#reply !== undefined && this.#reply.next.kind !== 'listen';
    if (isFarewell || !moment.isCuttable)
      throw failure(`nobody can come in at ${String(point)}: it cannot be interrupted`, this.#shown, point);
    await this.#fake?.advance(Math.max(0, moment.atMs - this.#timeMs));
    await this.interrupt(by, this.#playout.heardBy(moment.atMs));
  }

  /** Ends a running handler: it has 300 ms to return. */
  async #stop(reason: 'barge_in' | 'hang_up'): Promise<void> {
    const answering = this.#answering;
    if (answering === undefined) return;
    answering.stop.abort(reason);
    if (this.#fake === undefined) await waitAtMost(answering.ended, INTERRUPTED_GRACE_MS, systemClock);
    for (let ms = 0; this.#fake !== undefined && ms < INTERRUPTED_GRACE_MS && !answering.isOver; ms += STEP_MS)
      await this.#fake.advance(STEP_MS);
    if (answering.isOver) return;
    answering.leave();
    this.#over(answering);
  }

  /** Time in the call, ms. */
  get #timeMs(): number {
    return this.#fake?.monotonicMs() ?? Math.max(0, this.#playout.endMs);
  }

  get #playingMs(): number {
    return Math.max(0, this.#playout.endMs - this.#timeMs);
  }

  get #silence(): Silence {
    const { next } = this.reply;
    const { wakeMs, noInputMs = NO_INPUT_MS } = next.kind === 'listen' ? next : {};
    return { noInputMs, silentMs: this.#silentMs, ...(this.#bot.woken !== undefined && { wakeMs }) };
  }

  /** With a fake clock the platform reports the silence of a caller who is to answer. */
  #expectReport(): void {
    if (this.#fake === undefined || this.#answering !== undefined || this.#reply?.next.kind !== 'listen') return;
    const afterMs = reportAfterMs(this.#silence);
    if (afterMs === 0) return;
    this.#cancelReport = this.#fake.after(this.#playingMs + afterMs, () => {
      this.#report(afterMs).catch((thrown: unknown) => {
        this.#failure = { thrown };
      });
    });
  }

  #report(afterMs: number): Promise<void> {
    return this.turn(this.#woken(afterMs) ?? { type: 'no_input', count: this.#misses + 1, heard: this.takeHeard() });
  }

  #woken(sinceReplyMs: number): Woken | undefined {
    if (this.#bot.woken === undefined) return undefined;
    const isDue = isTimer(this.#silence, sinceReplyMs);
    const wake = this.#wakes.next() ?? (isDue ? { name: TIMER, data: null } : undefined);
    return wake && { type: 'woken', ...wake, heard: this.takeHeard(), silentMs: this.#silentMs + sinceReplyMs };
  }

  /** Unless it was interrupted, the caller has heard the whole reply. */
  takeHeard(): Heard {
    const text = this.#shown;
    const parts = partsHeard(this.prompts, this.#msPerCharacter);
    const heard = this.#heard ?? { complete: true, ms: text.length * this.#msPerCharacter, text, parts };
    this.#heard = undefined;
    return heard;
  }

  get #shown(): string {
    return this.prompts.map(shownPrompt).join(' ');
  }

  /** What the bot has opened for this call, in this process. */
  liveNow(): unknown {
    return this.#live.now(this.#reply === undefined ? undefined : this.state);
  }

  closeLive(why: LiveEnd): Promise<void> {
    return this.#live.close(why);
  }

  mustBeOpen(): void {
    if (this.reply.next.kind !== 'listen') throw new Error('the call is over');
  }

  #context(stop = linkForeignAbort()): BotContext<unknown> {
    return {
      call: this.facts,
      live: this.liveNow(),
      turnId: `${callId(this.facts)}/${String(this.#turns)}`,
      signal: stop.signal,
      clock: this.#fake ?? { ...systemClock, nowMs: () => this.facts.startedAtMs },
      log: quiet,
    };
  }
}
