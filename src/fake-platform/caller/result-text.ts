// The result of a call, without its sound: as text for people, and as JSON for programs.
import { createColors } from 'picocolors';
import { oneLine } from '../../base/one-line.ts';
import type { CallResult } from './caller.ts';
import { NO_RECOGNIZER, NO_RECOGNIZER_REMEDY, type TimelineEvent } from './timeline.ts';

/** Longest detail in a line, characters. */
const MAX_DETAIL = 400;

/** One line of the timeline, without a line break: time in seconds, who, what, the RPC, details, latency. */
type TimelineText = (event: TimelineEvent) => string;

export function timelineText(isColoured: boolean): TimelineText {
  const colours = createColors(isColoured);
  const paint = { caller: colours.cyan, server: colours.green, platform: colours.dim };
  return ({ atMs, who, what, turn, detail, latencyMs }) => {
    const time = (atMs / 1000).toFixed(3).padStart(8);
    const place = (turn === undefined ? '' : `#${String(turn)}`).padEnd(4);
    // Details may contain a server's own words.
    const words = oneLine(detail ?? '', MAX_DETAIL);
    const latency = latencyMs === undefined ? '' : colours.yellow(`  +${String(latencyMs)} ms`);
    const fact = what.replaceAll('_', ' ').padEnd(14);
    const mark = what === 'finds' ? colours.red : paint[who];
    return `${time}  ${mark(`${who.padEnd(8)}  ${fact}`)}  ${colours.dim(place)}  ${words}${latency}`.trimEnd();
  };
}

/** Longest text of a server in a line, characters. */
const MAX_TEXT = 400;

/** The result as plain data: one line of JSON. */
export function resultData(result: CallResult & { readonly conversationId: string }): object {
  const { ok, unmet } = result;
  return { ok, ...callData(result), unmet };
}

/** What happened on a call as plain data, without a verdict. */
export function callData(result: CallResult & { readonly conversationId: string }): object {
  const { outcome, conversationId, durationMs, heardTexts, terminal, findings, turnsRepeated, turnsReopened, turnsLost } = result;
  const replies = result.replies.map(({ sound, ...reply }) => (sound === undefined ? reply : { ...reply, sound: sound.facts }));
  const lost = { turnsRepeated, turnsReopened, turnsLost };
  return { outcome, conversationId, durationMs: Math.round(durationMs), replies, heardTexts, terminal, findings, ...lost };
}

/** The result in a few lines: the verdict, then every finding and every unmet expectation. */
export function resultLines(
  { ok, outcome, durationMs, replies, findings, unmet, timeline }: CallResult,
  isColoured: boolean,
): readonly string[] {
  const colours = createColors(isColoured);
  const latencies = replies.flatMap(({ latencyMs }) => latencyMs ?? []);
  const slowest = latencies.length === 0 ? '' : `, slowest reply ${String(Math.round(Math.max(...latencies)))} ms`;
  const verdict = ok ? colours.green('ok') : colours.red('not ok');
  const length = `${(durationMs / 1000).toFixed(1)} s`;
  const count = replies.length === 1 ? '1 reply' : `${String(replies.length)} replies`;
  return [
    `${verdict}  ${outcome.replace('_', ' ')} after ${length}, ${count}${slowest}`,
    ...findings.map(({ code, rule, message, turn }) => {
      const name = rule === undefined ? code : `${rule} ${code}`;
      return `  ${colours.yellow('found')}  ${name}${turn === undefined ? '' : ` on #${String(turn)}`}: ${oneLine(message, MAX_TEXT)}`;
    }),
    ...unmet.map(({ expected, found }) => `  ${colours.red('unmet')}  ${oneLine(expected, MAX_TEXT)}: ${oneLine(found, MAX_TEXT)}`),
    ...recognizerLines(timeline).map((line) => `  ${colours.yellow(line)}`),
  ];
}

/** What to do when the server had no recognizer for its caller; empty when it had one. */
export function recognizerLines(timeline: readonly TimelineEvent[]): readonly string[] {
  return timeline.some(({ what }) => what === NO_RECOGNIZER) ? [`no recognizer: ${NO_RECOGNIZER_REMEDY}`] : [];
}
