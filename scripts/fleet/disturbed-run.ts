// `npm run check -- failover` and `npm run check -- deploys`, from the options to the last line: a fleet of its own, and calls over it
// while its servers are disturbed every so often. How they are disturbed, and what must not come of it, each command says itself.
import type { FailoverPlan } from '../../test/fleet/failover.ts';
import { Fleet } from '../../test/fleet/fleet.ts';
import { command, number, progress, seed, source } from '../command-line.ts';

/** What differs between such commands. */
export interface DisturbedRun {
  readonly help: string;
  /** Default of `--minutes`. */
  readonly minutes: number;
  /** Default of `--every`: between two disturbances, s. */
  readonly everySeconds: number;
  readonly prove: (plan: FailoverPlan) => Promise<{ readonly ok: boolean; readonly described: readonly string[] }>;
}

/** Does what the command line asks for. */
export function disturbedRun({ help, minutes, everySeconds, prove }: DisturbedRun): Promise<void> {
  return command({
    help,
    options: {
      minutes: number(minutes),
      seconds: number(undefined, 1),
      calls: number(100, 1),
      every: number(everySeconds, 1),
      replicas: number(3, 1),
      source,
      seed,
    },
    run: async ({ source: program, replicas, ...given }) => {
      const seconds = given.seconds ?? 60 * given.minutes;
      progress(`seed ${String(given.seed)}, starting ${String(replicas)} servers (${program})`);
      const fleet = await Fleet.start({ replicas, program });
      try {
        const plan = { fleet, seconds, calls: given.calls, everySeconds: given.every, seed: given.seed, onProgress: progress };
        return { ...(await prove(plan)), seed: given.seed, seconds };
      } finally {
        await fleet.close();
      }
    },
  });
}
