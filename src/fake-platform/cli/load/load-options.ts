// The options of `parley load` and their parser. Reads no file except those with credentials.
import { Option, type Command } from 'commander';
import { wholeNumberFrom } from '../../../base/terminal/option-values.ts';
import type { ArrivalKind } from '../../load/arrivals.ts';
import { parseCriteria, type Criterion } from '../../load/criteria.ts';
import { parseCalls, parseDuration, parseRate, parseSteps, type LoadShape, type LoadStage } from '../../load/load-shape.ts';
import { readAccess, withAccessOptions, type Access, type AccessFlags, type CallSurroundings } from '../call-access.ts';
import { withCallerOptions, type CallerFlags } from '../call-options.ts';
import { DEFAULT_MIX, readMix, type LoadDefaults, type MixDraft } from './mix.ts';
import type { LoadWorker } from '../../load/worker-process.ts';

/** The surroundings of the command; tests bring their own. */
export interface LoadSurroundings extends CallSurroundings {
  readonly startWorker: () => LoadWorker;
  /** Creates the file if it does not exist, and leaves an existing one as it is. Rejects if the file cannot be written. */
  readonly touchFile: (file: string) => Promise<void>;
  readonly writeFile: (file: string, text: string) => Promise<void>;
}

export interface LoadFlags extends AccessFlags, CallerFlags {
  readonly agent?: string;
  readonly rate?: string;
  readonly calls?: string;
  readonly steps?: string;
  readonly duration?: string;
  readonly ramp?: string;
  readonly warmUp?: string;
  readonly arrivals?: ArrivalKind;
  readonly mix: string;
  readonly workers: number;
  readonly callsPerConnection: number;
  readonly seed: number;
  readonly metrics?: string;
  readonly expect?: string;
  readonly findCapacity?: string;
  readonly maxCalls: string;
  readonly html?: string;
  readonly json?: string | true;
}

/** What to measure: one load, or the number of calls that a server can carry. */
export type LoadTask =
  | {
      readonly kind: 'run';
      readonly shape: Omit<LoadShape, 'fillMs'>;
      /** Undefined: as long as the ramp, and for parallel calls also the length of a call. */
      readonly warmUpMs: number | undefined;
      readonly expected: readonly Criterion[];
    }
  | {
      readonly kind: 'capacity';
      readonly criteria: readonly Criterion[];
      /** Measured time of each try, ms. */
      readonly windowMs: number;
      readonly rampMs: number;
      readonly maxCalls: number;
    };

export interface LoadWish {
  readonly access: Access;
  readonly profileName: string;
  /** Used where the scenario of a caller has no value of its own. */
  readonly defaults: Omit<LoadDefaults, 'organizationId'>;
  readonly task: LoadTask;
  readonly mix: readonly MixDraft[];
  readonly arrivals: ArrivalKind;
  readonly workers: number;
  readonly callsPerConnection: number;
  readonly seed: number;
  readonly metricsUrl: string | undefined;
  /** Address of fake models that get the callers' words. */
  readonly modelsUrl: string | undefined;
  /** The request in the words of the command line, without credentials. */
  readonly asked: string;
}

const DEFAULT_DURATION = '1m';
const DEFAULT_WINDOW = '20s';
const DEFAULT_CAPACITY_RAMP = '5s';
/** Added to the conditions of a search when none of them is about failed calls. */
const UNSAID_CONDITION = 'failed < 1%';
const MAX_WORKERS = 64;

export function withLoadOptions(command: Command): Command {
  withCallerOptions(withAccessOptions(command), '; the limits of a test of a file win');
  // `load compare` needs none of these options; the action of `load` checks the required ones.
  for (const option of command.options) option.mandatory = false;
  return command
    .option('--agent <id>', 'agent to talk to (default: the server decides)')
    .option('--rate <rate>', 'calls that arrive, such as 5/s or 90/m')
    .option('--calls <n>', 'calls at once: arrivals at the rate that this many need, by their mean length')
    .option('--steps <levels>', 'one level after the other, such as 50,100,200:2m (calls) or 5/s:30s,10/s')
    .option(
      '--duration <time>',
      `how long calls arrive, with --calls once there are so many (default: ${DEFAULT_DURATION}; of each try of a search: ${DEFAULT_WINDOW})`,
    )
    .option('--ramp <time>', `time to get to each level (default: 0s; in a search ${DEFAULT_CAPACITY_RAMP})`)
    .option('--warm-up <time>', 'leave the beginning out of the figures (default: the ramp; with --calls a call’s length more)')
    .addOption(
      new Option('--arrivals <kind>', 'poisson: as independent callers; fixed: evenly (default: poisson; in a search fixed)').choices([
        'poisson',
        'fixed',
      ]),
    )
    .option('--mix <scenarios>', 'what callers do, with weights', DEFAULT_MIX)
    .option('--workers <n>', 'processes that hold the calls', wholeNumberFrom(1, MAX_WORKERS), 1)
    .option(
      '--calls-per-connection <n>',
      'calls that share a connection of gRPC; on WebSocket each has its own',
      wholeNumberFrom(1, 10_000),
      100,
    )
    .option('--seed <n>', 'the same seed lets the same calls arrive at the same times', wholeNumberFrom(0, 2 ** 31), 1)
    .option('--metrics <url>', 'metrics page of the server, for its CPU and memory')
    .option('--expect <conditions>', 'fail unless they hold, such as "first-audio p99 < 300ms, failed < 0.1%"')
    .option('--find-capacity <conditions>', 'search the largest number of calls at once with which they hold')
    .option('--max-calls <n>', 'where the search ends', '5000')
    .option('--html <file>', 'write a report with charts')
    .option('--json [file]', 'print the result as JSON, or write it to a file');
}

/** Parses the options. @throws RangeError with a sentence for the user; always as a rejection. */
export async function understand(target: string, flags: LoadFlags): Promise<LoadWish> {
  // Not `requiredOption`, which would apply to `load compare`, too.
  if (typeof (flags.org as unknown) !== 'string') throw new RangeError("required option '--org <id>' not specified");
  const task = taskOf(flags);
  const metricsUrl = flags.metrics;
  if (metricsUrl !== undefined && !(/^https?:/u.test(metricsUrl) && URL.canParse(metricsUrl))) {
    throw new RangeError(`--metrics ${metricsUrl}: write an address such as http://127.0.0.1:8087/metrics`);
  }
  return {
    access: await readAccess(target, flags),
    profileName: flags.profile,
    defaults: { agentId: flags.agent ?? '', noInputMs: flags.silenceAfter, repeatsLostTurns: flags.repeatLostTurns ?? false },
    task,
    mix: await readMix(flags.mix),
    arrivals: flags.arrivals ?? (task.kind === 'run' ? 'poisson' : 'fixed'),
    workers: flags.workers,
    callsPerConnection: flags.callsPerConnection,
    seed: flags.seed,
    metricsUrl,
    modelsUrl: flags.models,
    asked: askedText(flags),
  };
}

function taskOf(flags: LoadFlags): LoadTask {
  const { rate, calls, steps, findCapacity } = flags;
  const given = [rate, calls, steps, findCapacity].filter((each) => each !== undefined);
  if (given.length !== 1) throw new RangeError('give one of --rate, --calls, --steps and --find-capacity');
  if (findCapacity !== undefined) {
    return {
      kind: 'capacity',
      criteria: withFailures(parseCriteria(findCapacity)),
      windowMs: parseDuration(flags.duration ?? DEFAULT_WINDOW),
      rampMs: parseDuration(flags.ramp ?? DEFAULT_CAPACITY_RAMP),
      maxCalls: parseCalls(flags.maxCalls),
    };
  }
  const durationMs = parseDuration(flags.duration ?? DEFAULT_DURATION);
  return {
    kind: 'run',
    shape: { stages: stagesOf(flags, durationMs), rampMs: parseDuration(flags.ramp ?? '0s') },
    warmUpMs: flags.warmUp === undefined ? undefined : parseDuration(flags.warmUp),
    expected: flags.expect === undefined ? [] : parseCriteria(flags.expect),
  };
}

/** Adds a limit for failures: rejected callers wait for nothing, so a server that rejects all would meet every condition on times. */
function withFailures(criteria: readonly Criterion[]): readonly Criterion[] {
  const isSaid = criteria.some(({ metric }) => metric === 'failed' || metric === 'refused');
  return isSaid ? criteria : [...criteria, ...parseCriteria(UNSAID_CONDITION)];
}

function stagesOf({ rate, calls, steps }: LoadFlags, durationMs: number): readonly LoadStage[] {
  if (steps !== undefined) return parseSteps(steps, durationMs);
  if (rate !== undefined) return [{ level: { kind: 'rate', perSecond: parseRate(rate) }, durationMs }];
  return [{ level: { kind: 'calls', calls: parseCalls(calls ?? '') }, durationMs }];
}

function askedText({ rate, calls, steps, findCapacity, duration, ramp, mix, workers, repeatLostTurns }: LoadFlags): string {
  const words = { rate, calls, steps, 'find-capacity': findCapacity, duration, ramp, mix, workers: String(workers) };
  const asked = Object.entries(words).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${value.includes(' ') ? `"${value}"` : value}`],
  );
  return [...asked, ...(repeatLostTurns === true ? ['--repeat-lost-turns'] : [])].join(' ');
}
