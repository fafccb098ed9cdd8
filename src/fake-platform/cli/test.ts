// `parley test`: runs the tests of scenario files against a server, several in parallel, and reports by its exit code whether
// all passed. Connects the fake platform's scenarios with files, a voice and the terminal.
import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { placeCall } from '../caller/caller.ts';
import { junitReport } from '../scenario/junit.ts';
import { failureLines, resultLine, summaryLines, summaryData, testData } from '../scenario/report-text.ts';
import { callOptionsOf, runTests, type PlacedCall, type ReadyTest, type TestResult } from '../scenario/run.ts';
import type { ChangeRate } from '../caller/prompt-sound.ts';
import { textPattern } from '../caller/expectation.ts';
import { announceWords } from '../models/announce.ts';
import { TARGET_FORMS, readAccess, withAccessOptions, type Access, type AccessFlags, type CallSurroundings } from './call-access.ts';
import { isFileError, readBounded } from '../../base/terminal/surroundings.ts';
import { withCallerOptions, type CallerFlags } from './call-options.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { misuseOf } from '../../base/terminal/misuse.ts';
import { paceOf, wholeNumberFrom } from '../../base/terminal/option-values.ts';
import { progressView } from '../../base/terminal/progress-view.ts';
import { Recordings } from './scenarios/recordings.ts';
import { findTests, readyTests } from './scenarios/scenario-files.ts';

interface Flags extends AccessFlags, CallerFlags {
  readonly target?: string;
  readonly from?: string;
  readonly out?: string;
  readonly config?: string;
  readonly force?: true;
  readonly jobs: number;
  readonly repeat: number;
  readonly grep?: RegExp;
  readonly bail?: true;
  readonly pace: number;
  readonly junit?: string;
  readonly json?: true;
  readonly recordFailures?: string;
  readonly recordAll?: string;
}

const MAX_JOBS = 200;

const EXAMPLES = `
Files are YAML or JSON: docs/scenarios.md says what they hold, docs/scenario.schema.json lets an editor complete them.

Examples:
  $ parley test bots/scenarios --target localhost:50051 --ca certificate.pem --org $ORG --token-file token.jws
  $ parley test bots/scenarios/echo.yaml --target grpc://localhost:50051 --org $ORG --grep silence --record-all recordings
  $ parley test bots/scenarios --target bots.example.org --org $ORG --token-file token.jws --jobs 20 --junit report.xml
  $ parley test --from call.parley-call --out scenario.yaml --config my.yaml

Exit code: 0 all passed, 1 a test failed, 2 wrong usage or a file that is no scenario, 130 interrupted.`;

/** Writes a recorded call as a scenario. @returns the files. @throws RangeError when the recording is unreadable or a file exists. */
export type WriteScenario = (
  from: string,
  to: Pick<Flags, 'out' | 'config' | 'force'>,
  complain: CallSurroundings['complain'],
) => Promise<readonly string[]>;

const NO_RECORDINGS: WriteScenario = () => Promise.reject(new RangeError('recordings cannot be read here'));

export function testCommand(surroundings: CallSurroundings, writeScenario = NO_RECORDINGS): Command {
  const command = new Command('test')
    .description('run scenarios against a server and say whether it does what they expect')
    .argument('[files...]', 'files of scenarios, or folders that hold them')
    .option('--target <address>', TARGET_FORMS)
    .option('--from <recording>', 'write a recorded call (.parley-call) as a scenario, ready to edit, and run nothing')
    .option('--out <file>', 'the scenario of --from (default: the name of that file, in this folder)')
    .option('--force', 'replace the files of --from that exist')
    .option('--config <file>', 'configuration with recordings.keys, for --from (default: as for a server)');
  // `--org` is optional here, because `--from` needs no organization; the run of tests checks it.
  return withCallerOptions(withAccessOptions(command, ''), '; the limits of a test itself win')
    .option('--jobs <n>', 'most calls at once', jobsOf, 8)
    .option('--repeat <n>', 'run each test so often', atLeastOne, 1)
    .option('--grep <pattern>', 'only tests whose name holds these words or matches /pattern/i', patternOf)
    .option('--bail', 'begin no more tests after the first failure')
    .option('--pace <n>', 'so many times as fast as life, 1 to 50; the pace of a test itself wins', paceOf, 1)
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--json', 'print JSON lines: one for each test, then a summary')
    .option('--record-failures <folder>', 'write a stereo WAV of each failed test: left heard, right said')
    .option('--record-all <folder>', 'the same of every test')
    .addHelpText('after', EXAMPLES)
    .action((files: readonly string[], flags: Flags) => runCommand(command, files, flags, { ...surroundings, writeScenario }));
}

async function runCommand(
  command: Command,
  files: readonly string[],
  flags: Flags,
  { writeScenario, ...surroundings }: CallSurroundings & { readonly writeScenario: WriteScenario },
): Promise<void> {
  const misused = misuseOf(command);
  const { from, target } = flags;
  if (from !== undefined) {
    for (const file of await writeScenario(from, flags, surroundings.complain).catch(misused)) surroundings.print(file);
    return;
  }
  if (target === undefined || files.length === 0 || flags.org === '')
    return misused(new RangeError('give files of scenarios, --target and --org; or --from'));
  const access = await readAccess(target, flags).catch(misused);
  const found = await findTests(files).catch(misused);
  if (found.problems.length > 0) {
    for (const problem of found.problems) surroundings.complain(problem);
    surroundings.setExitCode(EXIT.usage);
    return;
  }
  const { grep } = flags;
  const chosen = grep === undefined ? found.tests : found.tests.filter(({ name }) => grep.test(name));
  if (chosen.length === 0) misused(new RangeError('no test has such a name'));
  const voice = await surroundings.openVoice();
  try {
    const tests = await readyTests(chosen, { ...voice, readFile: readBounded }).catch(misused);
    await announceWords(
      flags.models,
      tests.flatMap(({ script }) => script),
    ).catch(misused);
    await run(tests, { access, changeRate: voice.changeRate, flags, surroundings });
  } finally {
    await voice.close();
  }
}

interface Run {
  readonly access: Access;
  readonly changeRate: ChangeRate;
  readonly flags: Flags;
  readonly surroundings: CallSurroundings;
}

async function run(tests: readonly ReadyTest[], { access, changeRate, flags, surroundings }: Run): Promise<void> {
  const { print, complain, isColoured, clock, progress: terminal } = surroundings;
  const { jobs, repeat, bail = false, json = false } = flags;
  const stop = new AbortController();
  const forget = surroundings.onInterrupt(() => stop.abort());
  const recordings = new Recordings({ failures: flags.recordFailures, all: flags.recordAll }, tests);
  const view = progressView(surroundings);
  const startMs = clock.monotonicMs();
  const keepsSound = (flags.recordFailures ?? flags.recordAll) !== undefined;
  const placing = {
    ...{ access, changeRate, keepsSound, clock, pace: flags.pace, noInputMs: flags.silenceAfter },
    repeatsLostTurns: flags.repeatLostTurns ?? false,
  };
  const unwritten: string[] = [];
  try {
    const results = await runTests({
      ...{ tests, jobs, repeat, bail, clock, signal: stop.signal },
      place: (test, signal) => place(test, { ...placing, signal }),
      keep: (result) => written(recordings.keep(result), unwritten),
      onOver: (result) => {
        if (json) print(JSON.stringify(testData(result)));
        // On a terminal, lines would overwrite the progress bar.
        else if (terminal === undefined) print(resultLine(result, isColoured));
      },
      onProgress: ({ done, total, failed, running }) => {
        view.show(done, total, `tests, ${String(failed)} failed, ${String(running)} calls now`);
      },
    });
    view.stop();
    const durationMs = clock.monotonicMs() - startMs;
    if (json) print(JSON.stringify({ summary: summaryData(results, durationMs) }));
    else printResults(results, durationMs, terminal !== undefined, surroundings);
    const { junit } = flags;
    if (junit !== undefined) await written(writeJunit(junit, results), unwritten);
    for (const message of new Set(unwritten)) complain(`not everything could be written: ${message}`);
    surroundings.setExitCode(exitCode(results, stop.signal.aborted, unwritten.length > 0));
  } finally {
    view.stop();
    forget();
  }
}

async function writeJunit(file: string, results: readonly TestResult[]): Promise<readonly string[]> {
  await writeFile(file, junitReport(results));
  return [file];
}

/** The files written. When the operating system refuses to write, none; its reason is then added to `unwritten`. */
async function written(writing: Promise<readonly string[]>, unwritten: string[]): Promise<readonly string[]> {
  try {
    return await writing;
  } catch (error) {
    if (!isFileError(error)) throw error;
    unwritten.push(error.message);
    return [];
  }
}

interface Placing extends Pick<Run, 'access' | 'changeRate'> {
  readonly keepsSound: boolean;
  readonly pace: number;
  readonly noInputMs: number;
  readonly repeatsLostTurns: boolean;
  readonly clock: CallSurroundings['clock'];
  readonly signal: AbortSignal;
}

function place(test: ReadyTest, { access, ...more }: Placing): Promise<PlacedCall> {
  return placeCall({ ...access, ...more, ...callOptionsOf(test) });
}

function printResults(
  results: readonly TestResult[],
  durationMs: number,
  isListed: boolean,
  { print, isColoured }: Pick<CallSurroundings, 'print' | 'isColoured'>,
): void {
  if (isListed) for (const result of results) print(resultLine(result, isColoured));
  for (const result of results) if (result.status === 'failed') print(['', ...failureLines(result, isColoured)].join('\n'));
  print(['', ...summaryLines(results, durationMs)].join('\n'));
}

function exitCode(results: readonly TestResult[], isInterrupted: boolean, isIncomplete: boolean): number {
  if (isInterrupted) return EXIT.interrupted;
  return !isIncomplete && results.every(({ status }) => status === 'passed') ? EXIT.ok : EXIT.failed;
}

const atLeastOne = wholeNumberFrom(1, 10_000);

function jobsOf(text: string): number {
  const jobs = atLeastOne(text);
  if (jobs > MAX_JOBS) throw new InvalidArgumentError(`At most ${String(MAX_JOBS)} calls at once; \`parley load\` places more.`);
  return jobs;
}

function patternOf(text: string): RegExp {
  try {
    return textPattern(text);
  } catch (error) {
    throw error instanceof RangeError ? new InvalidArgumentError(error.message) : error;
  }
}
