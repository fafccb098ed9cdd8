// The run that `npm run check -- failover` and `npm run check -- deploys` are, from the options to the last line: a fleet of its own, and
// calls over it while its servers are disturbed every so often. How they are, and what may not come of it, is told from outside.
import { parseArgs } from 'node:util';
import type { FailoverPlan } from '../../test/fleet/failover.ts';
import { Fleet } from '../../test/fleet/fleet.ts';
import { numberOption, programToStart, progress, told } from '../fleet-options.ts';

/** What tells one such command from the other. */
export interface DisturbedRun {
  readonly help: string;
  /** Default of `--minutes`. */
  readonly minutes: number;
  /** Default of `--every`: between two disturbances, s. */
  readonly everySeconds: number;
  readonly prove: (plan: FailoverPlan) => Promise<{ readonly ok: boolean; readonly described: readonly string[] }>;
}

/** Does what the command line asks for. @returns the exit code. @throws Error with a sentence for the user. */
export async function disturbedRun({ help, minutes, everySeconds, prove }: DisturbedRun): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: String(minutes) },
      seconds: { type: 'string' },
      calls: { type: 'string', default: '100' },
      every: { type: 'string', default: String(everySeconds) },
      replicas: { type: 'string', default: '3' },
      source: { type: 'boolean', default: false },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const seconds = values.seconds === undefined ? 60 * numberOption('minutes', values.minutes) : numberOption('seconds', values.seconds, 1);
  const plan = {
    seconds,
    calls: numberOption('calls', values.calls, 1),
    everySeconds: numberOption('every', values.every, 1),
    seed: numberOption('seed', values.seed),
  };
  const replicas = numberOption('replicas', values.replicas, 1);
  const program = programToStart(values.source);
  progress(`seed ${String(plan.seed)}, starting ${values.replicas} servers (${program})`);
  const fleet = await Fleet.start({ replicas, program });
  try {
    return told(await prove({ ...plan, fleet, onProgress: progress }), { seed: plan.seed, seconds });
  } finally {
    await fleet.close();
  }
}
