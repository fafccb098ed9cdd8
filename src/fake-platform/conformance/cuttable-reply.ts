// Which replies of recorded calls a check speaks into: the welcome, and others that may be interrupted. Knows no wire and no rule.
import type { ProbeTurn, TimedAnswer } from './call.ts';
import { isHeard } from './heard.ts';
import { BUSY, cuttablePlayMs } from './interrupting.ts';
import type { Lab } from './lab.ts';
import type { RecordedCall } from './survey.ts';
import { CheckOutcome } from './verdict.ts';

/** Replies after the welcome that are spoken into: each takes its own call. */
const MAX_LATER = 2;
/** How often a reply is tested: twice to be sure, and more often on a busy machine. */
const MAX_TRIES = 3;

/** A reply that may be interrupted, and how to get it: the same turns with the same agent. */
export interface CuttableReply<Turn extends ProbeTurn> {
  readonly agentId: string;
  readonly before: readonly Turn[];
  readonly turn: Turn;
  /** The result of the measure that chose the reply, ms. */
  readonly ms: number;
  /** For sentences, such as `the reply to keys`. */
  readonly name: string;
}

/** The name of the reply to each kind of input; replies to other input are not spoken into. */
const NAMES: Readonly<Record<string, string>> = {
  session_start: 'the welcome',
  speech: 'the reply to speech',
  dtmf: 'the reply to keys',
  no_input: 'the reply to silence',
  custom_event: 'the reply to an event of the flow',
};

/** When the first sound or text of a turn came, monotonic, ms; 0 where none did. */
export function heardFromMs({ answers }: { readonly answers: readonly TimedAnswer[] }): number {
  return answers.find(({ answer }) => answer.prompts.some(isHeard))?.atMs ?? 0;
}

/** How long a reply plays if all of it may be interrupted, ms; otherwise, and where it ends the call, 0. */
export function cuttableMs({ answers, terminal }: ProbeTurn): number {
  return terminal === undefined ? cuttablePlayMs(answers.flatMap(({ answer }) => answer.prompts)) : 0;
}

/** How long the server went on sending an interruptible reply while it played, ms. */
export function streamedMs(turn: ProbeTurn): number {
  return Math.min(cuttableMs(turn), (turn.answers.at(-1)?.atMs ?? 0) - heardFromMs(turn));
}

/**
 * The replies of the recorded calls that a measure finds long enough: the longest welcome, and then the longest replies to other
 * kinds of input, one of each kind and the first of its kind that is long enough. Excludes calls that the caller's keys end or transfer: that is final.
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
 * Does this with each reply; again where it failed once, which may be a short delay of a busy server, and where this machine was
 * too busy. @throws CheckOutcome of the first that failed twice; of the first skip where no reply could be tested, and of one that
 * this machine caused.
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

/** Why nothing could be found out; undefined where all is well. @throws CheckOutcome of the second failure. */
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

/** The outcome of an attempt that did not pass; undefined where all is well. @throws any other Error. */
async function outcomeOf(work: () => Promise<void>): Promise<CheckOutcome | undefined> {
  try {
    await work();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof CheckOutcome && thrown.verdict !== 'undecided') return thrown;
    throw thrown;
  }
}
