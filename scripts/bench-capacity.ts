// `npm run bench -- capacity`: how many calls a core takes, by what the calls need; what further processes cost. docs/capacity.md says how
// and what came out; its tables and a simulated fleet are made from the kept result.
import { execFileSync } from 'node:child_process';
import { packageRoot } from '../src/base/package-root.ts';
import { keepResult, readResult, writePage, type CapacityResult } from './bench/capacity-page.ts';
import { measureProcesses, measureVariant, type CapacityPlan, type ProcessFigures, type VariantFigures } from './bench/capacity.ts';
import { VARIANTS } from './bench/capacity-variants.ts';
import { machine } from './bench/machine.ts';
import { bindTo, CORES } from './bench/measured-process.ts';
import { prepareGround } from './bench/servers.ts';
import { command, progress, text, toggle, type CommandOption } from './command-line.ts';

const PROCESSES = 'processes';
const PARTS = [...VARIANTS.map(({ name }) => name), PROCESSES];

const help = `usage: npm run bench -- capacity [options]

Measures the build (run \`npm run build\` first): servers on the first core, everything else on the second. Some 13 minutes on a machine
that does nothing else. Progress is on stderr; the last line of stdout is JSON. Needs Debian's redis-server.

  --write          keep the result in scripts/bench/capacity-result.json, and make the tables of docs/capacity.md from it
  --tables         measure nothing: make the tables from the kept result
  --only VARIANT   one of ${PARTS.join(', ')}; with --write the others stay as they were
  --quick          few calls for a moment: a check of the bench, not a result
  --help

example: npm run build && npm run bench -- capacity --write`;

const PLAN: CapacityPlan = {
  ...{
    settleMs: 4000,
    windowMs: 8000,
    probesPerSecond: 25,
    warmUpMs: 8000,
    loads: [100, 250],
    proofMs: 12_000,
    proofs: 2,
    mostCalls: 1500,
  },
};
const QUICK: CapacityPlan = {
  ...{ settleMs: 1000, windowMs: 1000, probesPerSecond: 25, warmUpMs: 0, loads: [50], proofMs: 1000, proofs: 1, mostCalls: 100 },
};
/** The cores of each fleet of the second table. */
const FLEETS = [[CORES.server], [CORES.server, CORES.server], Array.from({ length: 4 }, () => CORES.server), [CORES.server, CORES.load]];

/** A part of the measurement by its name. */
const only: CommandOption<string | undefined> = {
  type: 'string',
  read: (given) => {
    const name = text.read(given, 'only');
    if (name !== undefined && !PARTS.includes(name)) throw new Error(`--only wants one of ${PARTS.join(', ')}`);
    return name;
  },
};

/** With what is kept of the parts that were not measured. */
async function withKept(measured: CapacityResult): Promise<CapacityResult> {
  const kept = await readResult();
  const variants = VARIANTS.flatMap(({ name }) => {
    const found = [measured, kept].flatMap((result) => result.variants.filter((variant) => variant.name === name));
    return found.slice(0, 1);
  });
  return { ...measured, variants, processes: measured.processes.length > 0 ? measured.processes : kept.processes };
}

async function measure(plan: CapacityPlan, part: string | undefined): Promise<CapacityResult> {
  // A bound process sees one core.
  const measuredOn = machine();
  // Redis and the fakes of services stand beside the load.
  bindTo(CORES.load, process.pid);
  const ground = await prepareGround();
  try {
    const variants: VariantFigures[] = [];
    for (const variant of VARIANTS) {
      if ((part ?? variant.name) !== variant.name || (await variant.isThere?.()) === false) continue;
      progress(variant.title);
      variants.push(await measureVariant(variant, ground, plan));
    }
    const processes: ProcessFigures[] = [];
    for (const cores of (part ?? PROCESSES) === PROCESSES ? FLEETS : []) {
      progress(`${String(cores.length)} processes`);
      processes.push(await measureProcesses(cores, ground, plan));
    }
    const commit = execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], { cwd: packageRoot(), encoding: 'utf8' }).trim();
    return { date: new Date().toISOString().slice(0, 10), commit, machine: measuredOn, variants, processes };
  } finally {
    await ground.close();
  }
}

await command({
  help,
  options: { quick: toggle, write: toggle, tables: toggle, only },
  run: async ({ quick, write, tables, only: part }) => {
    if (write && quick) throw new Error('a short run is no result: no --quick beside --write');
    const measured = tables ? await readResult() : await measure(quick ? QUICK : PLAN, part);
    const result = write && part !== undefined ? await withKept(measured) : measured;
    if (write) await keepResult(result);
    if (write || tables) await writePage(result);
    return { ...result, isQuick: quick };
  },
});
