// `npm run check -- faults`: what do callers hear when something breaks? Each fault is done to a fleet of its own while calls run.
// See scripts/fleet/faults.ts and docs/faults.md.
import { heardTable, type HeardSum } from '../test/fleet/callers.ts';
import { Fleet } from '../test/fleet/fleet.ts';
import type { Program } from '../test/fleet/replica.ts';
import { runTrial } from '../test/fleet/trial.ts';
import { command, number, progress, seed, source, type CommandOption } from './command-line.ts';
import { fleetAdministration, type AwayAdministration } from './fleet/administration.ts';
import { FAULTS, type Fault } from './fleet/faults.ts';

const NAMES = FAULTS.map(({ name }) => name).join(', ');

const help = `Breaks one thing after the other while calls run over three servers behind HAProxy, with a Redis server that they share.

  npm run check -- faults                                 every fault, 20 s each, 20 calls at once
  npm run check -- faults --only kill,stop --seconds 30   some of them

  --only LIST     faults: ${NAMES}
  --seconds N     how long new calls begin, for each fault (default 20)
  --calls N       calls at once (default 20)
  --source        start the source and not the build
  --seed N        draws what callers do

Needs Debian's redis-server and haproxy, and faketime for clock_jump. Progress and a table of what callers heard are on stderr; the
last line of stdout is JSON: {"ok", "faults": [{"name", "calls", "answers", "turnsRepeated", "callsLost", …}], …}. The exit code is 1
when a call was lost, a rule of the contract was broken, or a fault could not be done.
`;

/** What one fault did to callers. */
interface Row {
  readonly name: string;
  readonly calls: number;
  readonly answers: number;
  readonly callsLost: number;
  readonly turnsRepeated: number;
  readonly turnsReopened: number;
  readonly apologies: number;
  readonly longestGapMs: number;
  readonly longestWaitMs: number;
  readonly rulesBroken: number;
  /** What went wrong beside; empty when nothing did. */
  readonly failure: string;
}

/** How calls run while a fault is there. */
interface Trial {
  readonly calls: number;
  readonly seconds: number;
  readonly seed: number;
  readonly program: Program;
}

/** The faults of a list of names, all of them without one. */
const faultList: CommandOption<readonly Fault[]> = {
  type: 'string',
  read: (given) => {
    if (typeof given !== 'string') return FAULTS;
    return given.split(',').map((name) => {
      const fault = FAULTS.find((each) => each.name === name);
      if (fault === undefined) throw new Error(`there is no fault "${name}"; there are ${NAMES}`);
      return fault;
    });
  },
};

async function tried(fault: Fault, { program, ...trial }: Trial): Promise<Row> {
  const missing = fault.missing?.();
  if (missing !== undefined) return rowOf(fault.name, undefined, missing);
  let administration: AwayAdministration | undefined;
  const fleet = await Fleet.start({
    replicas: 3,
    program,
    ...(fault.needsAdministration === undefined
      ? {}
      : { administration: async (parts) => (administration = await fleetAdministration(parts)) }),
  });
  try {
    const [replica] = fleet.replicas;
    if (replica === undefined) throw new Error('a fleet has a server');
    let failure = '';
    const { sum, stories } = await runTrial({
      ...{ fleet, ...trial, repeatsLostTurns: true, inputs: 4 },
      disturb: async (signal) => {
        const adminLine = administration === undefined ? {} : { adminLine: administration.line };
        // What breaks ends no trial: what callers heard is wanted all the same.
        await fault.breakIt({ fleet, replica, signal, ...adminLine }).catch((error: unknown) => {
          failure = error instanceof Error ? error.message : 'the fault could not be done';
        });
      },
    });
    for (const line of [...heardTable(sum), ...stories]) progress(`    ${line}`);
    return rowOf(fault.name, sum, failure);
  } finally {
    await fleet.close();
  }
}

function rowOf(name: string, sum: HeardSum | undefined, failure: string): Row {
  return {
    name,
    calls: sum?.calls ?? 0,
    answers: sum?.turns ?? 0,
    callsLost: sum === undefined ? 0 : sum.verdicts.lost_between_turns + sum.verdicts.lost_in_turn + sum.verdicts.broken_off,
    turnsRepeated: sum?.turnsRepeated ?? 0,
    turnsReopened: sum?.turnsReopened ?? 0,
    apologies: sum?.oddities.apology ?? 0,
    longestGapMs: Math.round(sum?.maxGapMs ?? 0),
    longestWaitMs: Math.round(sum?.maxWaitMs ?? 0),
    rulesBroken: sum?.breaches ?? 0,
    failure,
  };
}

function tableOf(rows: readonly Row[]): readonly string[] {
  const head = ['fault', 'calls', 'lost', 'answers', 'again', 'reopened', 'sorry', 'gap ms', 'wait ms', 'rules', ''];
  const lines = rows.map((row) => [
    row.name,
    ...[row.calls, row.callsLost, row.answers, row.turnsRepeated, row.turnsReopened, row.apologies].map(String),
    ...[row.longestGapMs, row.longestWaitMs, row.rulesBroken].map(String),
    row.failure,
  ]);
  return [head, ...lines].map(([name = '', ...cells]) => `${name.padEnd(16)}${cells.map((cell) => cell.padStart(9)).join('')}`);
}

await command({
  help,
  options: { only: faultList, seconds: number(20, 1), calls: number(20, 1), source, seed },
  run: async ({ only, source: program, ...trial }) => {
    const faults: Row[] = [];
    for (const fault of only) {
      progress(`${fault.name}: ${fault.what}`);
      faults.push(await tried(fault, { ...trial, program }));
    }
    const ok = faults.every(({ calls, callsLost, rulesBroken, failure }) => calls > 0 && callsLost + rulesBroken === 0 && failure === '');
    return { ok, described: tableOf(faults), faults, seed: trial.seed };
  },
});
