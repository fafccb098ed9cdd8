// What the caller of a counting bot has heard, beside what was to be heard: says whether the bot lost what it knew, counted an
// input twice, or answered something else. Pure; see test/fixtures/fleet-bots/counter.mjs.
import type { CallResult } from '../../src/fake-platform/caller/caller.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import { timelineText } from '../../src/fake-platform/caller/result-text.ts';

/** Kinds of what a caller should not hear, the worst first. */
export const ODDITIES = [
  /** The bot greeted again in the middle of the call: it knew nothing any more. */
  'startedOver',
  /** It counted from a number that was already past: what it knew was lost in part. */
  'wentBack',
  /** It counted an input that was answered once as a second one. */
  'countedTwice',
  /** The same, but the first answer had begun to be heard when its turn broke: the server cannot know that the platform asks again. */
  'countedOnceMore',
  /** It answered another key than the one that was pressed, and none that still waited for its answer. */
  'otherKey',
  /** The caller was transferred to a human. */
  'transferred',
  /** The caller heard an apology. */
  'apology',
  /** The same answer once more, in place of one to the next input. */
  'saidAgain',
  /** The answer to an earlier input, which was not heard when it was due, in place of one to the next input. */
  'saidLate',
  /** Such an answer came in place of the goodbye: nothing was left to the caller but to hang up. */
  'noFarewell',
  /** The bot heard silence, or something that it does not know. */
  'notUnderstood',
] as const;
/** One of them. */
export type Oddity = (typeof ODDITIES)[number];

/** What of them a shared store must prevent at any price. */
const LOSSES: ReadonlySet<Oddity> = new Set<Oddity>(['startedOver', 'wentBack', 'countedTwice', 'otherKey', 'transferred']);

/** Something that a caller heard, or waited for. */
export interface Trouble {
  readonly what: string;
  /** From when to when the caller waited, ms since the call began; for what was heard both are that moment. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** A reply that comes later than this is late, ms: a spoken turn waits 800 ms for the end of what is said, and the machine is busy. */
const LATE_MS = 2000;
/** What the timeline calls turns that broke, and an apology. */
const TROUBLES: ReadonlySet<string> = new Set([
  'repeats_turn',
  'reopens_turn',
  'apologizes',
  'finds',
  'transferred',
  'failed',
  'interrupted',
]);

/** One call, in a few numbers. */
export interface HeardCall {
  readonly outcome: CallResult['outcome'];
  readonly durationMs: number;
  /** Answers that were heard and counted. */
  readonly answers: number;
  readonly oddities: readonly Oddity[];
  readonly turnsRepeated: number;
  readonly turnsReopened: number;
  readonly turnsLost: number;
  /** Longest silence inside each reply that holds one, ms. */
  readonly gapsMs: readonly number[];
  /** From the caller's last key or word to the reply, ms: of turns that were not lost. */
  readonly waitsMs: readonly number[];
  /** Those of keys alone, which wait for no silence. */
  readonly keyWaitsMs: readonly number[];
  /** From the moment the call was due to its first sound, ms; undefined when nothing was heard. */
  readonly firstSoundMs: number | undefined;
  /** What broke, as the caller names it. */
  readonly failures: readonly string[];
  /** Rules of the contract that were broken. */
  readonly breaches: readonly string[];
  /** What went wrong or came late, and when, in order of time. */
  readonly troubles: readonly Trouble[];
  /** What was heard, in order; empty for a call of which nothing needs to be explained. */
  readonly story: readonly string[];
}

/** What a call has come to. */
export type Verdict = 'whole' | 'lost_between_turns' | 'lost_in_turn' | 'refused' | 'broken_off';

const WELCOME = 'Welcome to the counter.';
const COUNTED = /^(?<word>Answer|Goodbye after|Still at) (?<number>\d+)\.$/u;
const ECHO = /^You have (?:pressed the key|said something)/u;

/** @param firstSoundMs - see {@link HeardCall}. */
export function heardCall(result: CallResult, script: readonly Step[], firstSoundMs: number | undefined): HeardCall {
  const { outcome, durationMs, turnsRepeated, turnsReopened, turnsLost } = result;
  const { answers, odd } = count(result, script);
  const oddities = odd.map(({ oddity }) => oddity);
  const failures = result.findings.flatMap(({ code, rule, message }) => (rule === undefined ? [`${code}: ${message}`] : []));
  const breaches = result.findings.flatMap(({ rule, code }) => (rule === undefined ? [] : [`${rule} ${code}`]));
  const isPlain = oddities.length === 0 && breaches.length === 0 && outcome === 'ended' && turnsRepeated + turnsReopened + turnsLost === 0;
  return {
    ...{ outcome, durationMs, answers, oddities, turnsRepeated, turnsReopened, turnsLost, firstSoundMs, failures, breaches },
    troubles: [...troublesOf(result, firstSoundMs), ...odd.map(({ oddity, atMs }) => ({ what: oddity, fromMs: atMs, toMs: atMs }))],
    gapsMs: result.replies.filter(({ prompts, maxGapMs }) => prompts > 0 && maxGapMs > 0).map(({ maxGapMs }) => maxGapMs),
    waitsMs: [...waitsOf(result, 'speech'), ...waitsOf(result, 'dtmf')],
    keyWaitsMs: waitsOf(result, 'dtmf'),
    // All of it where something was lost, or kept too long, or went against a rule.
    story: isPlain
      ? []
      : oddities.some((each) => LOSSES.has(each) || each === 'saidLate') || breaches.length > 0 || outcome !== 'ended'
        ? result.timeline.map(timelineText(false))
        : result.replies.flatMap(({ turn, kind, texts }) => (texts.length === 0 ? [] : [`${String(turn)} ${kind}: ${texts.join(' ')}`])),
  };
}

function troublesOf({ timeline }: CallResult, firstSoundMs: number | undefined): readonly Trouble[] {
  const welcome = firstSoundMs !== undefined && firstSoundMs > LATE_MS ? [{ what: 'late welcome', fromMs: 0, toMs: firstSoundMs }] : [];
  const others = timeline.flatMap(({ what, atMs, latencyMs = 0 }) => {
    if (TROUBLES.has(what)) return [{ what, fromMs: atMs, toMs: atMs }];
    return latencyMs > LATE_MS ? [{ what: `reply after ${String(latencyMs)} ms`, fromMs: atMs - latencyMs, toMs: atMs }] : [];
  });
  return [...welcome, ...others];
}

function waitsOf({ replies }: CallResult, wanted: 'speech' | 'dtmf'): readonly number[] {
  return replies.flatMap(({ kind, latencyMs }) => (latencyMs !== undefined && kind === wanted ? [latencyMs] : []));
}

/** What it has come to. @param endsInTransfer - the server may turn calls away. */
export function verdictOf({ outcome, oddities, turnsLost, answers }: HeardCall, endsInTransfer = false): Verdict {
  if (outcome === 'interrupted') return 'broken_off';
  if (endsInTransfer && outcome === 'transferred' && answers === 0) return 'refused';
  const isToItsEnd = outcome === 'ended' || (outcome === 'hung_up' && oddities.includes('noFarewell'));
  if (isToItsEnd && !oddities.some((each) => LOSSES.has(each))) return 'whole';
  return turnsLost > 0 && !oddities.some((each) => LOSSES.has(each)) ? 'lost_in_turn' : 'lost_between_turns';
}

/**
 * Holds every answer against the one before it and the step that it belongs to. An answer that was cut may have gone unheard, so as
 * many may be missing as inputs came meanwhile, and no more.
 */
function count(
  { replies, steps, outcome, timeline }: CallResult,
  script: readonly Step[],
): { readonly answers: number; readonly odd: readonly { readonly oddity: Oddity; readonly atMs: number }[] } {
  const odd: { readonly oddity: Oddity; readonly atMs: number }[] = [];
  let answers = 0;
  let hasFarewell = true;
  /** The step of the answer before. */
  let before = -1;
  let isWelcomed = false;
  const begun = turnsCutWhileHeard(timeline);
  for (const { turn, texts, atMs } of replies) {
    const { word, number } = countedIn(texts);
    if (number === undefined) {
      if (texts.includes(WELCOME)) {
        if (isWelcomed) odd.push({ oddity: answers > 0 ? 'startedOver' : 'saidAgain', atMs });
        isWelcomed = true;
      } else if (texts.length > 0 && !texts.some((text) => ECHO.test(text)))
        odd.push({ oddity: outcome === 'transferred' ? 'transferred' : 'apology', atMs });
      continue;
    }
    const step = steps.findLastIndex(({ fromTurn }) => fromTurn <= turn);
    const waiting = waitingInputs(steps, script, before, step);
    const oddity = oddityOf({ word, number, texts }, { answers, script, step, waiting, cutWhileHeard: begun.has(turn) ? 1 : 0 });
    if (oddity !== undefined) odd.push({ oddity, atMs });
    hasFarewell = step < script.length - 1 || (oddity !== 'saidAgain' && oddity !== 'saidLate');
    answers = number;
    before = Math.max(before, step);
  }
  if (!hasFarewell) odd.push({ oddity: 'noFarewell', atMs: replies.at(-1)?.atMs ?? 0 });
  return { answers, odd };
}

/** Turns that were said again although their answer had begun to be heard. */
function turnsCutWhileHeard(timeline: CallResult['timeline']): ReadonlySet<number | undefined> {
  const spoke = new Set<number | undefined>();
  const cut = new Set<number | undefined>();
  for (const { what, turn } of timeline) {
    if (what === 'prompt') spoke.add(turn);
    else if (what === 'repeats_turn' && spoke.has(turn)) cut.add(turn);
  }
  return cut;
}

/** The inputs after one step, up to another, that the platform took: places in the script, the goodbye left out. */
function waitingInputs(steps: CallResult['steps'], script: readonly Step[], after: number, upTo: number): readonly number[] {
  const last = Math.min(upTo, script.length - 2);
  return steps.flatMap(({ isTaken }, place) => (isTaken && place > after && place <= last ? [place] : []));
}

/** What is odd about an answer, given how many were heard before it and the inputs that wait for theirs. */
function oddityOf(
  { word, number, texts }: { readonly word: string | undefined; readonly number: number; readonly texts: readonly string[] },
  known: {
    readonly answers: number;
    readonly script: readonly Step[];
    readonly step: number;
    readonly waiting: readonly number[];
    readonly cutWhileHeard: number;
  },
): Oddity | undefined {
  const { answers, script, step, waiting, cutWhileHeard } = known;
  const least = answers + (word === 'Answer' ? 1 : 0);
  if (number < least) return number === answers ? 'saidAgain' : 'wentBack';
  if (number > answers + waiting.length + cutWhileHeard) return 'countedTwice';
  if (number > answers + waiting.length) return 'countedOnceMore';
  if (word === 'Still at') return 'notUnderstood';
  const other = word === 'Answer' ? texts.find((text) => ECHO.test(text) && text !== echoOf(script[step])) : undefined;
  if (other === undefined) return undefined;
  // Each input that waits for its answer counts for one at most.
  const isLate = waiting.some((place, index) => place < step && number <= answers + index + 1 && other === echoOf(script[place]));
  return isLate ? 'saidLate' : 'otherKey';
}

/** What the bot counts in a reply; its texts may be told in any order. */
function countedIn(texts: readonly string[]): { readonly word: string | undefined; readonly number: number | undefined } {
  const found = texts.map((text) => COUNTED.exec(text)?.groups).find((groups) => groups !== undefined);
  return { word: found?.['word'], number: found === undefined ? undefined : Number(found['number']) };
}

/** What the bot says of what the caller did. */
function echoOf(step: Step | undefined): string | undefined {
  if (step?.kind === 'press') return `You have pressed the key ${step.keys.join('')}.`;
  return step?.kind === 'say' ? 'You have said something.' : undefined;
}
