// What the caller of a counting bot has heard, beside what was to be heard: says whether the bot lost what it knew, counted an
// input twice, or answered something else. Pure; see test/fixtures/fleet-bots/counter.mjs.
import type { CallResult } from '../../src/fake-platform/caller.ts';
import type { Step } from '../../src/fake-platform/script.ts';
import { timelineText } from '../../src/fake-platform/timeline-text.ts';

/** Kinds of what a caller should not hear, the worst first. */
export const ODDITIES = [
  /** The bot greeted again in the middle of the call: it knew nothing any more. */
  'startedOver',
  /** It counted from a number that was already past: what it knew was lost in part. */
  'wentBack',
  /** It counted an input that was answered once as a second one. */
  'countedTwice',
  /** It answered another key than the one that was pressed. */
  'otherKey',
  /** The caller was handed over to a human. */
  'handedOver',
  /** The caller heard an apology. */
  'apology',
  /** The same answer once more, in place of one to the next input. */
  'saidAgain',
  /** The bot heard silence, or something that it does not know. */
  'notUnderstood',
] as const;
/** One of them. */
export type Oddity = (typeof ODDITIES)[number];

/** What of them a shared store must prevent at any price. */
const LOSSES: ReadonlySet<Oddity> = new Set<Oddity>(['startedOver', 'wentBack', 'countedTwice', 'otherKey', 'handedOver']);

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
  const { answers, oddities } = count(result, script);
  const failures = result.findings.flatMap(({ code, rule, message }) => (rule === undefined ? [`${code}: ${message}`] : []));
  const isPlain = oddities.length === 0 && outcome === 'ended' && turnsRepeated + turnsReopened + turnsLost === 0;
  return {
    ...{ outcome, durationMs, answers, oddities, turnsRepeated, turnsReopened, turnsLost, firstSoundMs, failures },
    gapsMs: result.replies.filter(({ prompts, maxGapMs }) => prompts > 0 && maxGapMs > 0).map(({ maxGapMs }) => maxGapMs),
    waitsMs: [...waitsOf(result, 'speech'), ...waitsOf(result, 'dtmf')],
    keyWaitsMs: waitsOf(result, 'dtmf'),
    breaches: result.findings.flatMap(({ rule, code }) => (rule === undefined ? [] : [`${rule} ${code}`])),
    // All of it where something was lost.
    story: isPlain
      ? []
      : oddities.some((each) => LOSSES.has(each)) || outcome !== 'ended'
        ? result.timeline.map(timelineText(false))
        : result.replies.flatMap(({ turn, kind, texts }) => (texts.length === 0 ? [] : [`${String(turn)} ${kind}: ${texts.join(' ')}`])),
  };
}

function waitsOf({ replies }: CallResult, wanted: 'speech' | 'dtmf'): readonly number[] {
  return replies.flatMap(({ kind, latencyMs }) => (latencyMs !== undefined && kind === wanted ? [latencyMs] : []));
}

/** What it has come to. @param isTurnedAway - the server may turn calls away. */
export function verdictOf({ outcome, oddities, turnsLost, answers }: HeardCall, isTurnedAway = false): Verdict {
  if (outcome === 'interrupted') return 'broken_off';
  if (isTurnedAway && outcome === 'transferred' && answers === 0) return 'refused';
  if (outcome === 'ended' && !oddities.some((each) => LOSSES.has(each))) return 'whole';
  return turnsLost > 0 && !oddities.some((each) => LOSSES.has(each)) ? 'lost_in_turn' : 'lost_between_turns';
}

/**
 * Holds every answer against the one before it and the step that it belongs to. An answer that was cut may have gone unheard, so as
 * many may be missing as inputs came meanwhile, and no more.
 */
function count(
  { replies, steps, outcome }: CallResult,
  script: readonly Step[],
): { readonly answers: number; readonly oddities: readonly Oddity[] } {
  const oddities: Oddity[] = [];
  let answers = 0;
  /** The step of the answer before. */
  let before = -1;
  let isWelcomed = false;
  for (const { turn, texts } of replies) {
    const { word, number } = countedIn(texts);
    if (number === undefined) {
      if (texts.includes(WELCOME)) {
        if (isWelcomed) oddities.push(answers > 0 ? 'startedOver' : 'saidAgain');
        isWelcomed = true;
      } else if (texts.length > 0 && !texts.some((text) => ECHO.test(text)))
        oddities.push(outcome === 'transferred' ? 'handedOver' : 'apology');
      continue;
    }
    const step = steps.findLastIndex(({ fromTurn }) => fromTurn <= turn);
    const inputs = steps
      .slice(before + 1, step + 1)
      .filter(({ isTaken }, index) => isTaken && script[before + 1 + index] !== script.at(-1)).length;
    const least = answers + (word === 'Answer' ? 1 : 0);
    if (number < least) oddities.push(number === answers ? 'saidAgain' : 'wentBack');
    else if (number > answers + inputs) oddities.push('countedTwice');
    else if (word === 'Still at') oddities.push('notUnderstood');
    else if (word === 'Answer' && texts.some((text) => ECHO.test(text) && text !== echoOf(script[step]))) oddities.push('otherKey');
    answers = number;
    before = Math.max(before, step);
  }
  return { answers, oddities };
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
