// Whether a call, or the part of a call that one step caused, meets the expectations. Knows results, no calls.
import type { TerminalEvent } from './answer.ts';
import { type ExpectedOutcome, type Expectation, isExpectedValue } from './expectation.ts';
import type { Finding, CallOutcome } from './finding.ts';
import { soundFault } from './known-sound.ts';
import type { StepMark } from './script.ts';
import type { Reply } from './turn.ts';

/** An expectation that was not met, and what happened instead. */
export interface Unmet {
  readonly expected: string;
  readonly found: string;
  /** The RPC on which the fault was seen, counted from 1; undefined when the whole call is at fault. */
  readonly turn?: number;
}

/** The part of a call's result that expectations are about. */
export interface Expectable {
  /** `open`: the call continued after this part. */
  readonly outcome: CallOutcome | 'open';
  readonly heardTexts: readonly string[];
  readonly replies: readonly Reply[];
  /** Set when the server ended the call: its terminal event. */
  readonly terminal?: TerminalEvent | undefined;
  readonly findings?: readonly Finding[];
  /** Names of the custom events that the server sent, in order (G-73). */
  readonly customEvents?: readonly string[];
  /** Set when a step caused this part of the call. */
  readonly mark?: StepMark | undefined;
  /** How many times faster than real time the call went. Default 1. */
  readonly pace?: number;
}

/** Why a step did not interrupt. */
const MISSED = {
  late: 'the prompts were over before that moment',
  never: 'no prompt before it holds these words',
  unknown: 'the prompts were over before their text was known',
};

/** The expectations that a call did not meet. Texts must be heard in the order of their expectations. */
export function unmetExpectations(expectations: readonly Expectation[], call: Expectable): readonly Unmet[] {
  const unmet: Unmet[] = [];
  let from = 0;
  let fromEvent = 0;
  for (const expectation of expectations) {
    const { written: expected } = expectation;
    switch (expectation.kind) {
      case 'text': {
        const at = call.heardTexts.findIndex((text, index) => index >= from && expectation.pattern.test(text));
        if (at === -1) unmet.push({ expected, found: heardAfter(call.heardTexts, from) });
        else from = at + 1;
        break;
      }
      case 'no_text':
        // A call without any text does not show what was not said.
        if (call.heardTexts.length === 0 && call.replies.some(({ prompts, wasHeard }) => prompts > 0 && wasHeard))
          unmet.push({ expected, found: heardAfter([], 0) });
        unmet.push(
          ...call.heardTexts.filter((text) => expectation.pattern.test(text)).map((text) => ({ expected, found: `heard "${text}"` })),
        );
        break;
      case 'outcome':
        if (!hasEndedAs(call, expectation.outcome)) unmet.push({ expected, found: outcomeText(call) });
        break;
      case 'data':
        unmet.push(...otherData(call.terminal, expectation));
        break;
      case 'ending_name':
        unmet.push(...otherName(call.terminal, expectation));
        break;
      case 'custom_event': {
        const events = (call.customEvents ?? []).slice(fromEvent);
        const at = events.findIndex((name) => expectation.pattern.test(name));
        if (at === -1) unmet.push({ expected, found: eventsText(events) });
        else fromEvent += at + 1;
        break;
      }
      case 'latency':
        unmet.push(...lateReplies(call, expectation.belowMs, expected));
        break;
      case 'gap':
        unmet.push(...replyGaps(call.replies, expectation.belowMs, expected));
        break;
      case 'no_clipping':
        unmet.push(...clippedReplies(call.replies, expected));
        break;
      case 'sound': {
        const fault = soundFault(call.replies, expectation.known);
        if (fault !== undefined) unmet.push({ expected, ...fault });
        break;
      }
      case 'prompts':
        unmet.push(...otherCount(call.replies, expectation, expected));
        break;
      case 'no_findings':
        unmet.push(
          ...(call.findings ?? []).filter(({ code }) => !expectation.allowed.includes(code)).map((finding) => breach(finding, expected)),
        );
        break;
      case 'apology':
        if (!call.replies.some(({ isApology }) => isApology)) unmet.push({ expected, found: 'no reply was named an apology' });
        break;
      case 'interruption':
        if (call.mark?.isInterruption !== true) unmet.push({ expected, found: MISSED[call.mark?.missedWord ?? 'late'] });
        break;
      case 'input':
        if (call.mark !== undefined && call.mark.isTaken !== expectation.isTaken) {
          unmet.push({ expected, found: expectation.isTaken ? 'the platform dropped what came' : 'the platform took it' });
        }
        break;
    }
  }
  return unmet;
}

/** Replies in which the server apologizes for its bot; none when an apology is expected. Only a server that reveals texts marks them. */
export function apologies(expectations: readonly Expectation[], replies: readonly Reply[]): readonly Unmet[] {
  if (expectations.some(({ kind }) => kind === 'apology')) return [];
  return replies
    .filter(({ isApology }) => isApology)
    .map((reply) => ({
      expected: 'a reply of the bot',
      found: `${replyName(reply)} is the apology for a bot that failed`,
      turn: reply.turn,
    }));
}

function replyName({ kind, turn }: Pick<Reply, 'kind' | 'turn'>): string {
  return `the reply to ${kind} (#${String(turn)})`;
}

/** A caller who hangs up after the server's terminal event skips the rest of the farewell: no `hung_up`. */
function hasEndedAs({ outcome, terminal }: Expectable, expected: ExpectedOutcome): boolean {
  return outcome === expected && (expected !== 'hung_up' || terminal === undefined);
}

function outcomeText({ outcome, terminal }: Expectable): string {
  if (outcome === 'open') return 'the call went on';
  const before = terminal?.kind === 'transfer' ? 'transferred' : 'ended';
  const late = outcome === 'hung_up' && terminal !== undefined ? ` after the server had ${before} it` : '';
  return `the call was ${outcome.replace('_', ' ')}${late}`;
}

/** Latencies count in real time, because a server is no faster when the pace of the call is. */
function lateReplies({ replies, pace = 1 }: Expectable, belowMs: number, expected: string): readonly Unmet[] {
  const measured = replies.flatMap((reply) => (reply.latencyMs === undefined ? [] : [{ reply, realMs: reply.latencyMs / pace }]));
  if (measured.length === 0) return [{ expected, found: 'no reply was measured' }];
  return measured
    .filter(({ realMs }) => realMs >= belowMs)
    .map(({ reply, realMs }) => ({
      expected,
      found: `${replyName(reply)} took ${String(Math.round(realMs))} ms${pace === 1 ? '' : ' of real time'}`,
      turn: reply.turn,
    }));
}

function replyGaps(replies: readonly Reply[], belowMs: number, expected: string): readonly Unmet[] {
  return replies
    .filter(({ maxGapMs }) => maxGapMs >= belowMs)
    .map((reply) => ({ expected, found: `${replyName(reply)} has a gap of ${String(Math.round(reply.maxGapMs))} ms`, turn: reply.turn }));
}

function clippedReplies(replies: readonly Reply[], expected: string): readonly Unmet[] {
  return replies.flatMap((reply) => {
    const { clips = 0, firstClipAtMs = 0, longestClipMs = 0 } = reply.sound?.facts ?? {};
    if (clips === 0) return [];
    const places = `${clips === 1 ? '1 place' : `${String(clips)} places`}, the first ${String(Math.round(firstClipAtMs))} ms into it`;
    return [
      { expected, found: `${replyName(reply)} is clipped in ${places}, the longest for ${longestClipMs.toFixed(1)} ms`, turn: reply.turn },
    ];
  });
}

function otherCount(replies: readonly Reply[], { least, most }: { least: number; most: number }, expected: string): readonly Unmet[] {
  const count = replies.reduce((sum, { prompts }) => sum + prompts, 0);
  return count >= least && count <= most ? [] : [{ expected, found: count === 1 ? '1 prompt' : `${String(count)} prompts` }];
}

function otherData(
  terminal: TerminalEvent | undefined,
  { name, value, isJson, written: expected }: Extract<Expectation, { kind: 'data' }>,
): readonly Unmet[] {
  if (terminal === undefined) return [{ expected, found: 'the server did not end the call' }];
  const found = Object.hasOwn(terminal.metadata, name) ? terminal.metadata[name] : undefined;
  if (isExpectedValue(value, found) || (isJson === true && found !== undefined && JSON.stringify(found) === value)) return [];
  const names = Object.keys(terminal.metadata);
  const there = names.length === 0 ? 'the event carries no data' : `the event carries ${names.join(', ')}`;
  return [{ expected, found: found === undefined ? there : `${name} is ${JSON.stringify(found)}` }];
}

function otherName(
  terminal: TerminalEvent | undefined,
  { pattern, written: expected }: Extract<Expectation, { kind: 'ending_name' }>,
): readonly Unmet[] {
  if (terminal === undefined) return [{ expected, found: 'the server did not end the call' }];
  if (pattern.test(terminal.name)) return [];
  return [{ expected, found: terminal.name === '' ? 'the event has no name' : `the event is called "${terminal.name}"` }];
}

function eventsText(names: readonly string[]): string {
  return names.length === 0 ? 'no custom event came' : `the custom events were ${names.map((name) => `"${name}"`).join(', ')}`;
}

function breach({ code, rule, message, turn }: Finding, expected: string): Unmet {
  const found = `${rule === undefined ? '' : `${rule} `}${code}: ${message}`;
  return { expected, found, ...(turn === undefined ? {} : { turn }) };
}

function heardAfter(texts: readonly string[], from: number): string {
  if (texts.length === 0) return 'the server gave no text of its prompts';
  const rest = texts.slice(from);
  return rest.length === 0 ? 'nothing more was said' : `heard ${rest.map((text) => `"${text}"`).join(', ')}`;
}
