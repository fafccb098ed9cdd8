// One run by voice: the fake platform places a call, and a language model chooses the caller's next step after each reply. The model gets
// only what the caller heard.
import { randomUUID } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { wordsUpTo } from '../../dialog/heard.ts';
import type { CallOptions, CallResult } from '../../fake-platform/caller/caller.ts';
import { keysOf } from '../../fake-platform/caller/key.ts';
import type { CallSoFar, Step } from '../../fake-platform/caller/script.ts';
import type { Reply } from '../../fake-platform/caller/turn.ts';
import { nextAct, type SpokenLine } from './persona.ts';
import type { Run, Talked } from './run.ts';
import type { RunEnd } from './verdict.ts';
import type { WatchedBots, WatchedCall } from './watched-bots.ts';

/** How calls are placed. */
export interface VoiceLine {
  /** Makes the step that says a text. @throws AppError `synthesis_failed`. */
  readonly speak: (text: string) => Promise<Step>;
  readonly place: (call: Pick<CallOptions, 'conversationId' | 'improvise' | 'signal'>) => Promise<CallResult>;
  /** Undefined: the server runs in another process. */
  readonly bots?: WatchedBots | undefined;
  /** Writes the recording of a call. @returns the file. */
  readonly keep?: ((call: CallResult, run: number) => Promise<string>) | undefined;
}

/** Inputs after which the caller waits for a reply. */
const AFTER_INPUT: ReadonlySet<Reply['kind']> = new Set(['speech', 'dtmf'] as const);

const NO_TEXT = 'nobody knows what the bot said: the server must send its texts (media.reveal_prompt_text)';

/** Makes one run. Rejects only for errors in the program. */
export async function voiceCall(run: Run, line: VoiceLine): Promise<Talked> {
  const conversationId = randomUUID();
  const { bots, place, keep } = line;
  const watched = bots?.watch(conversationId);
  const caller = new SpeakingCaller(run, line.speak, watched);
  try {
    const call = await place({ conversationId, improvise: (soFar) => caller.step(soFar), signal: run.signal });
    const replies = call.replies.filter(({ wasHeard }) => wasHeard);
    const facts = {
      end: endOf(call, caller.hasGivenUp),
      lines: caller.lines(call),
      tools: (await watched?.tools()) ?? [],
      answerMs: replies.flatMap(({ kind, latencyMs = 0 }) => (AFTER_INPUT.has(kind) ? [Math.round(latencyMs / call.pace)] : [])),
      gapMs: Math.round(Math.max(0, ...replies.map(({ maxGapMs }) => maxGapMs))),
    };
    return { facts, broken: caller.failure ?? failureOf(call), ...(keep !== undefined && { keep: () => keep(call, run.number) }) };
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    return { facts: { end: 'too_long', lines: [], tools: [], answerMs: [] }, broken: thrown.message };
  } finally {
    bots?.forget(conversationId);
  }
}

const LEAVE: Step = { kind: 'hang_up' };

/** The caller of one run. */
class SpeakingCaller {
  /** Set when the caller could not go on: the reason. */
  failure: string | undefined;
  /** Whether the caller has used all turns. */
  hasGivenUp = false;
  readonly #run: Run;
  readonly #speak: VoiceLine['speak'];
  readonly #watched: WatchedCall | undefined;
  /** The caller's steps as lines of the transcript. */
  readonly #acts: string[] = [];
  /** The bot's own texts of replies that came as sound without text, by number of the turn. */
  readonly #spoken = new Map<number, string>();

  constructor(run: Run, speak: VoiceLine['speak'], watched: WatchedCall | undefined) {
    this.#run = run;
    this.#speak = speak;
    this.#watched = watched;
  }

  /** The next step. Never rejects. */
  async step(call: CallSoFar): Promise<Step> {
    try {
      return await this.#decided(call);
    } catch (thrown) {
      this.failure = `the caller cannot speak: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
      return LEAVE;
    }
  }

  /** What the caller has heard and said. @param cut - heard part of a last reply that is about to be interrupted, 0 to 1. */
  lines({ replies, steps }: Pick<CallSoFar, 'replies' | 'steps'>, cut?: number): readonly SpokenLine[] {
    const last = replies.at(-1);
    const said = this.#watched?.lastSaid ?? '';
    if (last !== undefined && isMute(last) && said !== '') this.#spoken.set(last.turn, said);
    const heard = replies.flatMap((reply) => {
      const whole = reply.texts.join(' ') || (this.#spoken.get(reply.turn) ?? '');
      const text = heardOf(whole, reply, reply === last ? cut : undefined);
      return reply.wasHeard && whole !== '' ? [{ by: 'bot' as const, atMs: reply.atMs, text }] : [];
    });
    const done = this.#acts.flatMap((text, index) => {
      const mark = steps[index];
      return mark === undefined ? [] : [{ by: 'caller' as const, atMs: mark.atMs, text }];
    });
    return merged([...heard, ...done].toSorted((one, other) => one.atMs - other.atMs));
  }

  async #decided(call: CallSoFar): Promise<Step> {
    const { persona, maxTurns, random, signal, onTokens } = this.#run;
    // Drawn for every step, even if unused, so that a seed gives the same interruptions whatever the server does.
    const [chance, place] = [random(), random()];
    const reply = call.replies.at(-1);
    const isCut = call.mayInterrupt && this.#acts.length > 0 && chance < (persona.interrupts ?? 0);
    const lines = this.lines(call, isCut ? place : undefined);
    this.hasGivenUp = this.#acts.length === maxTurns;
    if (this.hasGivenUp) return LEAVE;
    if (reply !== undefined && isMute(reply) && !this.#spoken.has(reply.turn)) {
      this.failure = NO_TEXT;
      return LEAVE;
    }
    const act = await nextAct(persona, lines, signal, onTokens);
    if (act === undefined) this.failure = 'the model of the caller failed';
    if (act === undefined || act.kind === 'hang_up') return LEAVE;
    this.#acts.push(act.kind === 'press' ? `[keys ${act.keys}]` : act.text);
    const interrupt = isCut && reply !== undefined ? { interruptMs: place * reply.audioMs } : {};
    if (act.kind === 'press') return { kind: 'press', keys: keysOf(act.keys) ?? [], ...interrupt };
    return { ...(await this.#speak(act.text)), ...interrupt };
  }
}

/** Whether a reply has sound and no text. */
function isMute({ audioMs, texts }: Reply): boolean {
  return audioMs > 0 && texts.length === 0;
}

/** @param planned - heard part of a reply that is about to be interrupted, 0 to 1; undefined for other replies. */
function heardOf(text: string, { heardMs, audioMs }: Reply, planned: number | undefined): string {
  const part = planned ?? (heardMs === undefined || audioMs === 0 ? 1 : heardMs / audioMs);
  return part < 1 ? `${wordsUpTo(text, part)} —`.trim() : text;
}

/** Joins consecutive lines of one side, because models expect messages to alternate. */
function merged(lines: readonly SpokenLine[]): readonly SpokenLine[] {
  const whole: SpokenLine[] = [];
  for (const { by, text } of lines) {
    const last = whole.at(-1);
    if (last?.by === by) whole.splice(-1, 1, { by, text: `${last.text} ${text}` });
    else whole.push({ by, text });
  }
  return whole;
}

function endOf({ terminal, outcome }: CallResult, hasGivenUp: boolean): RunEnd {
  if (terminal !== undefined) return terminal.kind === 'transfer' ? 'transferred' : 'ended';
  return outcome === 'hung_up' && !hasGivenUp ? 'hung_up' : 'too_long';
}

/** Why the run cannot be judged: the call or the bot failed. Undefined: neither has. */
function failureOf({ outcome, findings, replies }: CallResult): string | undefined {
  const fatal = findings.find((finding) => finding.fatal);
  if (outcome === 'failed') return `the call failed: ${fatal?.message ?? 'no reason given'}`;
  return replies.some(({ isApology }) => isApology) ? 'the bot failed, and the server apologized for it' : undefined;
}
