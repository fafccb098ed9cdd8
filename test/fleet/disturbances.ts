// Servers that are killed or stopped one after the other while calls run.
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import type { Fleet } from './fleet.ts';
import type { Replica } from './replica.ts';
import { waited } from './trial.ts';

/** How long a killed server is away, ms: as long as its supervisor takes to start it again. */
const AWAY_MS = 1000;

/** How long nobody is killed before and after an interlude, ms: what a kill has cut is over by then. */
const QUIET_MS = 6000;

/** What happens between kills, when all servers are there. */
export interface Interlude {
  /** When it is due, ms since the kills began. */
  readonly afterMs: number;
  /** Must undo what it does also when the signal ends it. */
  readonly happen: (signal: AbortSignal) => Promise<void>;
  /** From its beginning until a while after its end, ms since the epoch; both 0 when it did not happen to its end. */
  fromMs: number;
  toMs: number;
}

/** Redis is killed, and comes back after so long with what it kept. */
export function redisAway(fleet: Fleet, afterMs: number, awayMs: number): Interlude {
  return {
    ...{ afterMs, fromMs: 0, toMs: 0 },
    happen: async (signal) => {
      await fleet.redis.kill();
      await waited(awayMs, signal);
      await fleet.redis.again();
    },
  };
}

/** Kills. */
export interface Kills {
  /** So far. */
  count: number;
  readonly disturb: (signal: AbortSignal) => Promise<void>;
}

/**
 * `kill -9` of a random server every so often; it is started again after a second. The last one that takes calls is left alone until
 * another one does: where nobody is there, nothing can be proved.
 */
export function kills(fleet: Fleet, everyMs: number, seed: number, interludes: readonly Interlude[] = []): Kills {
  const random = seededNumbers(seed);
  const result: Kills = {
    count: 0,
    disturb: async (signal) => {
      const beganMs = performance.now();
      const due = [...interludes];
      const starting = new Set<Promise<void>>();
      const away = new Set<Replica>();
      let failure: unknown;
      const bringBack = async (replica: Replica): Promise<void> => {
        await waited(AWAY_MS, signal);
        await replica.start();
        away.delete(replica);
      };
      while (!signal.aborted && failure === undefined) {
        const [next] = due;
        if (next !== undefined && performance.now() - beganMs >= next.afterMs) {
          due.shift();
          await Promise.all(starting);
          await inQuiet(next, signal);
          continue;
        }
        const there = fleet.replicas.filter((replica) => !away.has(replica));
        const replica = there[Math.floor(random() * there.length)];
        if (replica !== undefined && there.length > 1) {
          await replica.kill();
          result.count += 1;
          away.add(replica);
          const back: Promise<void> = bringBack(replica)
            .catch((error: unknown) => {
              failure = error;
            })
            .finally(() => starting.delete(back));
          starting.add(back);
        }
        await waited(everyMs, signal);
      }
      await Promise.all(starting);
      if (failure !== undefined) throw failure instanceof Error ? failure : new Error('a server did not start again');
    },
  };
  return result;
}

async function inQuiet(interlude: Interlude, signal: AbortSignal): Promise<void> {
  if (!(await waited(QUIET_MS, signal))) return;
  const fromMs = Date.now();
  await interlude.happen(signal);
  if (!(await waited(QUIET_MS, signal))) return;
  Object.assign(interlude, { fromMs, toMs: Date.now() });
  // Who waits by now waits because of it, and not because of the next kill.
  await waited(QUIET_MS, signal);
}

/** Restarts in good order. */
export interface Restarts {
  /** So far. */
  count: number;
  /** Of them, those that did not end well by themselves. */
  unclean: number;
  /** The longest that one took from the signal to its end, ms. */
  longestMs: number;
  readonly disturb: (signal: AbortSignal) => Promise<void>;
}

/** One server after the other gets SIGTERM, ends, and is started again; the next one follows after so long. */
export function restarts(fleet: Fleet, everyMs: number): Restarts {
  const result: Restarts = {
    ...{ count: 0, unclean: 0, longestMs: 0 },
    disturb: async (signal) => {
      for (let next = 0; ; next += 1) {
        const beganMs = performance.now();
        const replica = fleet.replicas[next % fleet.replicas.length];
        if (replica === undefined || signal.aborted) return;
        const exit = await replica.stop();
        result.longestMs = Math.max(result.longestMs, performance.now() - beganMs);
        if (exit.code !== 0) result.unclean += 1;
        await replica.start();
        result.count += 1;
        if (!(await waited(Math.max(0, everyMs - (performance.now() - beganMs)), signal))) return;
      }
    },
  };
  return result;
}
