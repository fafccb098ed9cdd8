// What calls leave behind in the server's memory: idle sessions, sessions that listen, and thousands of calls that are over.
import { setTimeout as pause } from 'node:timers/promises';
import { progress } from '../command-line.ts';
import { connectedLoad } from './paced-rounds.ts';
import { startParley, type Ground, type Target } from './servers.ts';

/** How much is tried. */
export interface MemoryPlan {
  /** Opened twice; the second half is what counts. */
  readonly idleSessions: number;
  /** Calls before the first and the second look at the heap. */
  readonly callsBefore: number;
  readonly callsAfter: number;
}

/** What was found, bytes. */
export interface MemoryFigures {
  /** JavaScript heap and what it holds outside, after a forced collection, per session that was welcomed and has no RPC open. */
  readonly bytesPerIdleSession: number;
  /** Resident memory of the same. */
  readonly rssBytesPerIdleSession: number;
  /** The same sessions with an RPC open on which a second of line noise came. */
  readonly bytesPerListeningSession: number;
  /** Growth between two looks at the heap, per call. */
  readonly heapBytesPerCall: number;
  readonly heapBytesBefore: number;
  readonly heapBytesAfter: number;
}

const CONNECTIONS = 10;
/** Frames of a second. */
const SECOND_FRAMES = 50;
/**
 * Sessions that are over are remembered for a minute, but never more than twice this many: with it, both looks at the heap see
 * the same number of them.
 */
const MAX_SESSIONS = 1000;

/** Measures in two servers of their own, one after the other. */
export async function measureMemory(ground: Ground, plan: MemoryPlan): Promise<MemoryFigures> {
  return { ...(await idleSessions(ground, plan)), ...(await manyCalls(ground, plan)) };
}

async function idleSessions(ground: Ground, plan: MemoryPlan) {
  const target = await startParley(ground);
  const load = await connectedLoad(target, ground, CONNECTIONS);
  try {
    // The first half pays for compiled code and tables.
    await load.do({ kind: 'start_idle', count: plan.idleSessions });
    const half = await held(target);
    await load.do({ kind: 'start_idle', count: plan.idleSessions });
    const idle = await held(target);
    await load.do({ kind: 'listen', frames: SECOND_FRAMES });
    await pause(2000);
    const listening = await held(target);
    const { failed } = await load.do({ kind: 'end_window' });
    if (failed > 0) progress(`${String(failed)} RPCs failed: these figures are not what they seem`);
    const bytesPerIdleSession = Math.round((idle.bytes - half.bytes) / plan.idleSessions);
    const figures = {
      bytesPerIdleSession,
      rssBytesPerIdleSession: Math.round((idle.rssBytes - half.rssBytes) / plan.idleSessions),
      bytesPerListeningSession: Math.round((listening.bytes - idle.bytes) / (2 * plan.idleSessions)) + bytesPerIdleSession,
    };
    progress(`${String(plan.idleSessions)} idle sessions: ${String(figures.bytesPerIdleSession)} bytes each`);
    return figures;
  } finally {
    load.stop();
    await target.process.stop();
  }
}

async function manyCalls(ground: Ground, plan: MemoryPlan) {
  const target = await startParley(ground, [`--sessions.max=${String(MAX_SESSIONS)}`]);
  const load = await connectedLoad(target, ground, CONNECTIONS);
  try {
    await load.do({ kind: 'short_calls', count: plan.callsBefore });
    const before = await held(target);
    progress(`${String(plan.callsBefore)} calls: heap ${(before.bytes / 2 ** 20).toFixed(1)} MB`);
    await load.do({ kind: 'short_calls', count: plan.callsAfter - plan.callsBefore });
    const after = await held(target);
    progress(`${String(plan.callsAfter)} calls: heap ${(after.bytes / 2 ** 20).toFixed(1)} MB`);
    const grown = (after.bytes - before.bytes) / (plan.callsAfter - plan.callsBefore);
    return { heapBytesPerCall: Math.round(grown), heapBytesBefore: before.bytes, heapBytesAfter: after.bytes };
  } finally {
    load.stop();
    await target.process.stop();
  }
}

async function held({ process }: Target): Promise<{ readonly bytes: number; readonly rssBytes: number }> {
  // What is still being closed is not held.
  await pause(500);
  const { heapUsed, external, rss } = await process.ask('memory');
  return { bytes: heapUsed + external, rssBytes: rss };
}
