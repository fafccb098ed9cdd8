// Lines of the timeline for people: aligned, and coloured where the terminal can show it. Knows no calls.
import { createColors } from 'picocolors';
import { oneLine } from '../../base/one-line.ts';
import type { TimelineEvent } from './timeline.ts';

/** Longest detail of one line, characters. */
const MAX_DETAIL = 400;

/** One line of the timeline, without a line break: time in seconds, who, what, the RPC, details, latency. */
export type TimelineText = (event: TimelineEvent) => string;

/** Makes the writer of lines. */
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
