// One input brought to one bot: recognition, the handler, its deadline, and what becomes of it when the caller acts
// over it. Knows neither store nor the end of the turn.
import { linkAbort } from '../base/abort.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { BotContext, ReplyingEvent } from '../bot/bot.ts';
import { runHandler } from '../bot/run-handler.ts';
import type { Answer } from '../bot/saying.ts';
import type { Prompt, TerminatorKey } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import { Deadline } from './deadline.ts';
import type { EngineParts, RunningSession } from './parts.ts';
import type { SessionRecord } from './record.ts';
import type { ReplyWriter } from './reply-writer.ts';
import type { CompleteInput, Turn } from './turn.ts';

/** How long an interrupted handler may still take to finish its state, ms; the next input waits for it. */
const INTERRUPTED_GRACE_MS = 300;

/** What became of a question. */
export type Heard =
  | { readonly kind: 'answer'; readonly answer: Answer<JsonValue> }
  | { readonly kind: 'failed'; readonly error: AppError }
  /** The caller acted over it and the handler did not finish in time; its state is not kept. */
  | { readonly kind: 'abandoned' };

/** Asked once. */
export class BotQuestion {
  readonly #parts: EngineParts;
  readonly #session: RunningSession;
  readonly #turn: Turn;
  readonly #record: SessionRecord;
  readonly #writer: ReplyWriter;
  /** The handler's signal: the reply is not wanted, or not waited for. */
  readonly #thinking;
  /** The recognizer's signal: an interruption does not make what was said before it unheard. */
  readonly #listening;
  #isWaitedFor = true;
  #deadline: Deadline | undefined;
  #hasHandlerBegun = false;
  #onHandlerBegun: () => void = () => undefined;

  constructor(parts: EngineParts, session: RunningSession, turn: Turn, record: SessionRecord, writer: ReplyWriter) {
    this.#parts = parts;
    this.#session = session;
    this.#turn = turn;
    this.#record = record;
    this.#writer = writer;
    this.#thinking = linkAbort(turn.signal);
    this.#listening = linkAbort(turn.over);
  }

  /** @throws AppError `slow_reader` when the client did not read what the handler said early. */
  async ask(input: CompleteInput): Promise<Heard> {
    const { clock, settings } = this.#parts;
    let cancelGrace: () => void = () => undefined;
    let giveUp: () => void = () => undefined;
    const stopped = new Promise<'deadline' | 'abandoned'>((resolve) => {
      this.#deadline = new Deadline(clock, settings.turnDeadlineMs, () => {
        resolve('deadline');
      });
      giveUp = () => {
        if (!this.#hasHandlerBegun) return;
        cancelGrace = clock.after(INTERRUPTED_GRACE_MS, () => {
          resolve('abandoned');
        });
      };
    });
    this.#turn.signal.addEventListener('abort', giveUp, { once: true });
    this.#onHandlerBegun = () => {
      if (this.#turn.signal.aborted) giveUp();
    };
    try {
      const outcome = await Promise.race([this.#think(input), stopped]);
      if (outcome === 'abandoned') return { kind: 'abandoned' };
      if (outcome !== 'deadline') return { kind: 'answer', answer: outcome };
      return {
        kind: 'failed',
        error: new AppError('bot_timeout', 'the bot took too long for its reply', { details: { limitMs: settings.turnDeadlineMs } }),
      };
    } catch (thrown) {
      const error = toAppError(thrown, 'bot_failed');
      if (error.code === 'slow_reader') throw error;
      return this.#turn.signal.aborted && isAbort(error.cause) ? { kind: 'abandoned' } : { kind: 'failed', error };
    } finally {
      this.#isWaitedFor = false;
      cancelGrace();
      this.#deadline?.cancel();
      this.#turn.signal.removeEventListener('abort', giveUp);
      for (const signal of [this.#thinking, this.#listening]) {
        signal.abort('deadline');
        signal.dispose();
      }
    }
  }

  async #think(input: CompleteInput): Promise<Answer<JsonValue>> {
    const event = this.#record.started ? await this.#event(input) : startOf(input);
    this.#hasHandlerBegun = true;
    this.#onHandlerBegun();
    const isWelcome = event.type === 'session_start';
    const welcome: Prompt[] = [];
    const spoken = (prompts: readonly Prompt[]): readonly Prompt[] => {
      if (!isWelcome) return prompts;
      // G-27: whether the welcome can be cut is the operator's choice.
      const kept = this.#parts.settings.welcomeBargeIn ? prompts : prompts.map((prompt) => ({ ...prompt, bargeIn: false }));
      welcome.push(...kept);
      return kept;
    };
    const context = botContext(this.#parts, this.#session, this.#turn.id, this.#thinking.signal);
    const { state, reply } = await runHandler(this.#session.bot, this.#record.state, event, context, (prompts) =>
      this.#speakEarly(spoken(prompts)),
    );
    this.#demandSmall(state);
    const prompts = spoken(reply.prompts);
    if (isWelcome) this.#session.keepWelcome(welcome);
    return { state, reply: { ...reply, prompts } };
  }

  // The client's time to read is not the bot's time to think.
  async #speakEarly(prompts: readonly Prompt[]): Promise<boolean> {
    if (!this.#isWaitedFor) return false;
    this.#deadline?.pause();
    await this.#writer.speak(prompts);
    this.#deadline?.resume();
    return this.#isWaitedFor;
  }

  async #event(input: CompleteInput): Promise<ReplyingEvent> {
    switch (input.kind) {
      case 'session_start':
        return startOf(input);
      case 'dtmf': {
        const terminator = this.#record.listen.terminator ?? this.#parts.settings.listen.terminator;
        return { type: 'dtmf_input', digits: withoutTerminator(input.digits, terminator) };
      }
      case 'no_input':
        return { type: 'no_input' };
      case 'custom_event':
        return { type: 'custom_event', name: input.name, parameters: input.parameters };
      case 'speech':
        return { type: 'speech_input', utterance: input.utterance, text: await this.#recognize(input.utterance) };
    }
  }

  async #recognize(utterance: Utterance): Promise<string | undefined> {
    try {
      return await this.#parts.recognizer?.recognize(utterance, this.#listening.signal);
    } catch (thrown) {
      // Without text the bot still has the audio and its own "sorry?": better than no turn at all.
      const error = toAppError(thrown, 'recognition_failed');
      const ids = { conversationId: this.#session.call.conversationId, turnId: this.#turn.id };
      this.#parts.log.warn({ ...ids, code: error.code, err: error }, 'the utterance goes to the bot without text');
      return undefined;
    }
  }

  #demandSmall(state: JsonValue): void {
    const limitBytes = this.#parts.settings.maxRecordBytes;
    const bytes = Buffer.byteLength(JSON.stringify(state));
    if (bytes > limitBytes) {
      throw new AppError('bot_failed', 'the bot keeps more state than a record may hold', { details: { bytes, limitBytes } });
    }
  }
}

/** What surrounds a handler. */
export function botContext({ clock, log }: EngineParts, session: RunningSession, turnId: string, signal: AbortSignal): BotContext {
  const { call, bot } = session;
  return { call, turnId, signal, clock, log: log.child({ bot: bot.id, conversationId: call.conversationId, turnId }) };
}

function startOf(input: CompleteInput): ReplyingEvent {
  if (input.kind === 'session_start') return { type: 'session_start', name: input.name, parameters: input.parameters };
  return { type: 'session_start', name: '', parameters: {} };
}

// G-67: whether the platform hands over the key that ended the collection is not known; bots never see it.
function withoutTerminator(digits: string, terminator: TerminatorKey): string {
  return terminator !== 'none' && digits.endsWith(terminator) ? digits.slice(0, -1) : digits;
}

function isAbort(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'AbortError';
}
