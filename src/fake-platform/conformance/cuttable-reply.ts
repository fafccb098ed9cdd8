// Finds replies into which a check can speak: the welcome, and others that may be interrupted. Brings calls to these replies again,
// and measures whether this machine is fast enough to judge times. Knows no wire and no rule.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { MULAW_BYTES_PER_MS } from '../../speech/audio-format.ts';
import { LEAD_MS, type ProbeCall, type ProbeTurn, type TimedAnswer } from './call.ts';
import { isHeard, playMs } from './heard.ts';
import type { Lab } from './lab.ts';
import type { RecordedCall } from './survey.ts';
import { CheckOutcome } from './verdict.ts';
import type { Probe } from './probe.ts';
import { silenceOf } from './quiet-line.ts';

/** How much of a reply must be left after somebody has spoken into it, ms. */
export const SPARE_MS = 1000;
/** How long sound may still come after an interruption, ms: sound that was already on the way (G-53). */
export const STOP_MS = 500;
/** Longest stall of this process, and longest mean of its rounds, with which it can still judge times, ms. */
const [MAX_STALL_MS, MAX_MEAN_ROUND_MS] = [200, 40];
/** Why this machine cannot judge times. */
export const BUSY = 'this machine was too busy to tell moments apart';
/** Why a reply without an interruption proves nothing: a bot need not reply in the same way again. */
export const CAME_OTHERWISE = 'may not be cut this time, or ends the call';

/** How long speaking into a reply takes, with {@link SPARE_MS}, ms of real time. */
export function interruptionMs({ speech, suspect }: Pick<Lab, 'speech' | 'suspect'>): number {
  return (LEAD_MS + speech.length / MULAW_BYTES_PER_MS) / suspect.timing.pace + SPARE_MS;
}

/** Runs `work`, and measures at the same time how long this process stalls. */
export async function watchingStalls(work: (isBusy: () => boolean) => Promise<void>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  try {
    await work(() => delay.max / 1e6 > MAX_STALL_MS || delay.mean / 1e6 > MAX_MEAN_ROUND_MS);
  } finally {
    delay.disable();
  }
}

/** Most replies after the welcome that a check speaks into: each one takes its own call. */
const MAX_LATER = 2;
/** Most tries with one reply: a second one after a failure, and more while this machine is too busy. */
const MAX_TRIES = 3;

/** A reply that may be interrupted, and how to get it again: the same turns with the same agent. */
export interface CuttableReply<Turn extends ProbeTurn> {
  readonly agentId: string;
  readonly before: readonly Turn[];
  readonly turn: Turn;
  /** The reply's length by the measure that chose the reply, ms. */
  readonly ms: number;
  /** The name of the reply in sentences, such as `the reply to keys`. */
  readonly name: string;
}

/** The names of replies by their kind of input. Checks speak into no other replies. */
const NAMES: Readonly<Record<string, string>> = {
  session_start: 'the welcome',
  speech: 'the reply to speech',
  dtmf: 'the reply to keys',
  no_input: 'the reply to silence',
  custom_event: 'the reply to an event of the flow',
};

/** When the first sound or text of a turn came, monotonic, ms; 0 when none came. */
function heardFromMs({ answers }: { readonly answers: readonly TimedAnswer[] }): number {
  return answers.find(({ answer }) => answer.prompts.some(isHeard))?.atMs ?? 0;
}

/** How long a reply plays, ms; 0 when part of the reply may not be interrupted, or when the reply ends the call. */
export function cuttableMs({ answers, terminal }: ProbeTurn): number {
  const heard = answers.flatMap(({ answer }) => answer.prompts).filter(isHeard);
  if (terminal !== undefined || heard.some(({ bargeIn }) => !bargeIn)) return 0;
  return heard.reduce((ms, prompt) => ms + playMs(prompt), 0);
}

/** How long the server kept sending an interruptible reply while the reply played, ms. */
export function streamedMs(turn: ProbeTurn): number {
  return Math.min(cuttableMs(turn), (turn.answers.at(-1)?.atMs ?? 0) - heardFromMs(turn));
}

/**
 * The replies of the recorded calls with a measure of at least `leastMs`: the longest welcome, and then the longest replies to other
 * kinds of input. Of each kind, only the first reply counts. Leaves out calls in which the caller's keys end or transfer the call.
 */
export async function repliesBy<Turn extends ProbeTurn>(
  lab: { welcomes(): Promise<readonly RecordedCall<Turn>[]>; calls(): Promise<readonly RecordedCall<Turn>[]> },
  measure: (turn: Turn) => number,
  leastMs: number,
): Promise<readonly CuttableReply<Turn>[]> {
  const welcomes = await lab.welcomes();
  const ordinary = (await lab.calls()).filter(({ name }) => name !== 'end' && name !== 'transfer');
  const replies = [...welcomes, ...ordinary]
    .flatMap(({ agentId, turns }) =>
      turns.map((turn, at) => ({ agentId, turn, before: turns.slice(0, at), ms: measure(turn), name: NAMES[turn.kind] ?? '' })),
    )
    .filter(({ name, ms }) => name !== '' && ms >= leastMs);
  const isWelcome = ({ before }: CuttableReply<Turn>): boolean => before.length === 0;
  const firsts = replies.filter((reply) => !isWelcome(reply) && replies.find(({ name }) => name === reply.name) === reply);
  const longest = (some: readonly CuttableReply<Turn>[]) => some.toSorted((one, other) => other.ms - one.ms);
  return [...longest(replies.filter(isWelcome)).slice(0, 1), ...longest(firsts).slice(0, MAX_LATER)];
}

/**
 * Runs `probe` with each reply. Runs it again after one failure, because a busy server may have been late, and while this machine is
 * too busy. @throws CheckOutcome of the first reply that failed twice. When none failed: of the first skip if all replies were
 * skipped, or of the first skip because of this machine.
 */
export async function withEach<Reply extends { readonly name: string }>(
  lab: Pick<Lab, 'skip' | 'note'>,
  replies: readonly Reply[],
  otherwise: string,
  probe: (reply: Reply) => Promise<void>,
): Promise<void> {
  if (replies.length === 0) lab.skip(otherwise);
  const skips: CheckOutcome[] = [];
  for (const reply of replies) {
    const skip = await skipOf(lab, () => probe(reply));
    if (skip === undefined) continue;
    lab.note(`${reply.name} says nothing: ${skip.message}`);
    skips.push(skip);
  }
  const [first] = skips.length === replies.length ? skips : skips.filter(({ message }) => message === BUSY);
  if (first !== undefined) throw first;
}

/** Why a reply showed nothing; undefined when it passed. @throws CheckOutcome of the second failure. */
async function skipOf(lab: Pick<Lab, 'note'>, work: () => Promise<void>): Promise<CheckOutcome | undefined> {
  let failures = 0;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const outcome = await outcomeOf(work);
    if (outcome?.verdict === 'fail') failures += 1;
    else if (outcome?.message !== BUSY) return outcome;
    if (failures > 1) throw outcome;
    lab.note(`once more: ${outcome.message}`);
  }
  return new CheckOutcome('not_applicable', BUSY);
}

/** The outcome of an attempt that did not pass; undefined when it passed. @throws any other error, and `undecided`. */
async function outcomeOf(work: () => Promise<void>): Promise<CheckOutcome | undefined> {
  try {
    await work();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof CheckOutcome && thrown.verdict !== 'undecided') return thrown;
    throw thrown;
  }
}

/** A call whose reply has begun; `older` is the turn of the reply. */
interface Replayed<Turn extends ProbeTurn, Call extends ProbeCall<Turn>> {
  readonly call: Call;
  readonly older: Turn;
}

/** A call in which the caller speaks into a reply; `newer` is the turn that listens. */
interface SpokenInto<Turn extends ProbeTurn, Call extends ProbeCall<Turn>> extends Replayed<Turn, Call> {
  readonly newer: Turn;
  /** When the listening turn was opened, monotonic, ms. */
  readonly fromMs: number;
}

/** Repeats the call until the reply has begun. The check does not apply when the reply does not come. */
export async function replayed<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  lab: Lab<Turn, Call, Probe<Turn, Call>>,
  { agentId, before, turn, name }: CuttableReply<Turn>,
): Promise<Replayed<Turn, Call>> {
  const { press } = lab.suspect;
  lab.note(`a call as far as ${name}`);
  const call = lab.probe.call({ agentId });
  for (const { kind } of before) {
    const again = await (kind === 'speech' ? call.say(lab.speech) : call.take(kind, press));
    if (call.isOver || again.isBroken || again.terminal !== undefined) lab.skip(`the call did not come as far as ${name} again`);
    await call.heardOut(again);
  }
  const older = await call.untilReplied(turn.kind, lab.suspect);
  if (!older.hasPrompt) lab.skip(`${name} did not come again`);
  return { call, older };
}

/** Speaks into a reply until the server reports speech or the reply has ended. */
export async function speakInto<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  lab: Lab<Turn, Call, Probe<Turn, Call>>,
  reply: CuttableReply<Turn>,
): Promise<SpokenInto<Turn, Call>> {
  const { clock, timing } = lab.suspect;
  const { call, older } = await replayed(lab, reply);
  const untilMs = heardFromMs(older) + cuttableMs(reply.turn);
  const fromMs = clock.monotonicMs();
  const leftMs = Math.max(0, untilMs - fromMs) * timing.pace;
  const newer = call.listen();
  // The platform sends silence before speech (G-50); a speech detector adapts to the line meanwhile.
  const line = Buffer.concat([silenceOf(LEAD_MS), lab.speech, silenceOf(leftMs)]);
  await call.stream(newer, line, () => newer.hasStart || newer.isOver || clock.monotonicMs() > untilMs);
  if (newer.isBroken) lab.skip('the second RPC was refused');
  return { call, older, newer, fromMs };
}
