// The stories of calls that several processes have seen, as one: turns of one call may have come to different ones.
import type { CallSummary, CallTimeline } from './call-timeline.ts';

/** What one process has seen of one call. */
type Part = Omit<CallTimeline, 'facts'>;

/** How a session ends whose call goes on in another process. */
const MOVED = 'moved';

/** The latest calls of all processes, the latest first, each once. @param most - as many are left. */
export function joinedCalls(seen: readonly (readonly CallSummary[])[], most: number): readonly CallSummary[] {
  const calls = grouped(seen.flat()).map((parts) => ({
    ...wholeOf(parts),
    factCount: parts.reduce((sum, part) => sum + part.factCount, 0),
  }));
  return calls.sort((one, other) => other.startedAtMs - one.startedAtMs).slice(0, most);
}

/** One call with what each process has seen of it, in order; undefined when none has. @param seen - of one conversation id. */
export function joinedCall(seen: readonly CallTimeline[]): CallTimeline | undefined {
  // Organizations may have the same conversation id; the latest call with it is asked for.
  const calls = grouped(seen).map((parts) => ({
    ...wholeOf(parts),
    facts: parts.flatMap(({ facts }) => facts).sort((one, other) => one.atMs - other.atMs),
  }));
  return calls.sort((one, other) => other.startedAtMs - one.startedAtMs)[0];
}

function grouped<P extends Part>(parts: readonly P[]): [P, ...P[]][] {
  const calls = new Map<string, [P, ...P[]]>();
  for (const part of parts) {
    const id = JSON.stringify([part.organizationId, part.conversationId]);
    const known = calls.get(id);
    if (known === undefined) calls.set(id, [part]);
    else known.push(part);
  }
  return [...calls.values()];
}

/** What the parts say together, without what happened in each. */
function wholeOf(parts: readonly [Part, ...Part[]]): Omit<CallTimeline, 'facts'> {
  const { conversationId, organizationId, agentId } = parts[0];
  const startedAtMs = Math.min(...parts.map((part) => part.startedAtMs));
  const leftOut = parts.reduce((sum, part) => sum + part.leftOut, 0);
  return { conversationId, organizationId, agentId, startedAtMs, end: endOf(parts.map(({ end }) => end)), leftOut };
}

/** A part that has moved has no end of its own: the call runs on in another one, or ended there. */
function endOf(ends: readonly (string | undefined)[]): string | undefined {
  const end = ends.find((each) => each !== undefined && each !== MOVED);
  return end ?? (ends.includes(undefined) ? undefined : MOVED);
}
