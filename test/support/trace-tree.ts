// Are spans the trees that docs/traces.md promises?
import { ATTRIBUTES, SPANS } from '../../src/telemetry/traces/conventions.ts';
import type { ArrivedSpan } from './trace-collector.ts';

/** The name of a parent by the first word of a name; undefined: it has none. */
const PARENTS: Readonly<Record<string, string | undefined>> = {
  [SPANS.call]: undefined,
  [SPANS.forward]: undefined,
  [SPANS.turn]: SPANS.call,
  ...Object.fromEntries([SPANS.recognition, SPANS.bot, SPANS.model, SPANS.tool, SPANS.synthesis].map((name) => [name, SPANS.turn])),
};

/** @returns what is wrong with them, a line each; all spans of each trace must be there. */
export function checkTraceTree(spans: readonly ArrivedSpan[]): string[] {
  const faults: string[] = [];
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  if (byId.size < spans.length) faults.push(`${String(spans.length - byId.size)} spans have the id of another one`);
  for (const span of spans) {
    const { name, traceId, parentSpanId, startTimeUnixNano: start, endTimeUnixNano: end, attributes, events } = span;
    const [kind = ''] = name.split(' ');
    const at = `${name} of ${traceId}`;
    const parent = byId.get(parentSpanId ?? '');
    const parentName = parentSpanId === undefined ? undefined : (parent?.name ?? 'a lost span');
    if (!(kind in PARENTS)) faults.push(`${at} is no span of ours`);
    if (parentName !== PARENTS[kind]) faults.push(`${at} has ${parentName ?? 'nothing'} as its parent`);
    if (parent !== undefined && parent.traceId !== traceId) faults.push(`${at} has its parent in another trace`);
    if (end < start) faults.push(`${at} ends before it begins`);
    if (parent !== undefined && (start < parent.startTimeUnixNano || end > parent.endTimeUnixNano))
      faults.push(`${at} is not within ${parent.name}`);
    if (events.some(({ timeUnixNano }) => timeUnixNano < start || timeUnixNano > end)) faults.push(`${at} has an event outside of it`);
    if (['call', 'turn', 'forward'].includes(kind) && attributes[ATTRIBUTES.outcome] === undefined) faults.push(`${at} has no outcome`);
  }
  return faults;
}

/** The number of their traces. */
export function tracesIn(spans: readonly ArrivedSpan[]): number {
  return new Set(spans.map(({ traceId }) => traceId)).size;
}
