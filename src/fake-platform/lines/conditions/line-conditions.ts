// What can be wrong with a line between platform and server, as one set of options, and a line that behaves so. Knows no call and no wire.
// The same seed gives the same line.
import type { CallClock } from '../../caller/call-clock.ts';
import type { Line } from '../line.ts';
import { seededNumbers } from '../../../base/seeded-numbers.ts';
import { DelayedLine } from './delayed-line.ts';
import { slowlyRead, type SlowReader } from './slow-reading.ts';

/** How a line behaves; omitted options are as on a good line. Times are ms of the call's clock. */
export interface LineConditions {
  /** Seed of all random values; default 1. */
  readonly seed?: number | undefined;
  /** The platform's messages are late by a random time up to this, ms; their order is kept, as on any connection. */
  readonly jitterMs?: number | undefined;
  /** The platform's messages are held back and sent together at this interval, ms. */
  readonly burstMs?: number | undefined;
  /** The connection breaks, and the call with it, at this time after the call began, ms: outcome `lost`. */
  readonly loseAfterMs?: number | undefined;
  /** The platform reads answers slowly, so that the server has to wait. No effect on a line that cannot stop reading. */
  readonly slowReader?: SlowReader | undefined;
}

/** Longest plausible delay of a line, ms: a delayed hang-up still arrives while the platform waits for its answer. */
export const MAX_DELAY_MS = 2000;
/** Longest pause of a reader, ms. */
export const MAX_PAUSE_MS = 30_000;
/** Slowest reading, bytes per second: the largest CHUNK is still read before the call gives up waiting. */
export const MIN_READ_RATE = 1000;
/** Size of the largest CHUNK, bytes: the most that is read between two signs of life (G-42). */
const LARGEST_CHUNK_BYTES = 65_536;

/** Checks a user's options. @throws RangeError with a sentence for the user. */
export function checkConditions({ jitterMs = 0, burstMs = 0, loseAfterMs = 0, slowReader = {} }: LineConditions): void {
  const { pauseMs = 0, bytesPerSecond = MIN_READ_RATE } = slowReader;
  demandMs('jitter', jitterMs, MAX_DELAY_MS);
  demandMs('burst', burstMs, MAX_DELAY_MS);
  demandMs('slow reader', pauseMs, MAX_PAUSE_MS);
  if (!(loseAfterMs >= 0)) throw new RangeError('loss of the connection: give a time of the call in ms');
  if (!(bytesPerSecond >= MIN_READ_RATE)) throw new RangeError(`slow reader: give at least ${String(MIN_READ_RATE)} bytes per second`);
}

function demandMs(name: string, ms: number, mostMs: number): void {
  if (!(ms >= 0 && ms <= mostMs)) throw new RangeError(`${name}: give 0 to ${String(mostMs)} ms`);
}

/** How much longer than on a good line the platform may have to wait for a sign of life, ms. */
export function addedWaitMs({ jitterMs = 0, burstMs = 0, slowReader }: LineConditions): number {
  const { pauseMs = 0, bytesPerSecond } = slowReader ?? {};
  return jitterMs + burstMs + pauseMs + (bytesPerSecond === undefined ? 0 : (LARGEST_CHUNK_BYTES / bytesPerSecond) * 1000);
}

/**
 * The line under these conditions, except for the loss of the connection, which the call itself handles. The owner of the call cancels all
 * its turns at the end, after which no timer is left.
 */
export function underConditions(line: Line, conditions: LineConditions, clock: CallClock): Line {
  const { jitterMs = 0, burstMs = 0, slowReader, seed = 1 } = conditions;
  const read = slowReader === undefined ? line : slowlyRead(line, clock, slowReader);
  if (jitterMs === 0 && burstMs === 0) return read;
  const draw = seededNumbers(seed);
  return new DelayedLine(read, clock, (nowMs) => {
    const lateMs = nowMs + draw() * jitterMs;
    return burstMs === 0 ? lateMs : Math.ceil(lateMs / burstMs) * burstMs;
  }).line;
}
