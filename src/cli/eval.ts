// `parley eval`: callers played by language models call the bots many times; the exit code says whether enough runs have passed. Connects
// evaluations with files, a server, the fake platform's caller and the terminal.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { loadSections } from '../app/config/load-settings.ts';
import { packageRoot } from '../base/package-root.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { misuseOf } from '../base/terminal/misuse.ts';
import { paceOf, wholeNumber, wholeNumberFrom } from '../base/terminal/option-values.ts';
import { progressView } from '../base/terminal/progress-view.ts';
import { isFileError } from '../base/terminal/surroundings.ts';
import {
  readAccess,
  TARGET_FORMS,
  withAccessOptions,
  type Access,
  type AccessFlags,
  type CallerVoice,
  type CallSurroundings,
} from '../fake-platform/cli/call-access.ts';
import { readFiles, type FoundFiles } from '../fake-platform/cli/scenarios/scenario-files.ts';
import { checkModelScript, type ModelScript } from '../fake-platform/models/script.ts';
import { loadProfile } from '../fake-platform/platform/profile.ts';
import { junitXml } from '../fake-platform/scenario/junit.ts';
import { evalsOf, openModels, readEvals, recordedCallers, toolProblems, type Eval, type FileModels } from './evaluation/eval-file.ts';
import { evalPage } from './evaluation/eval-page.ts';
import { evalData, junitCase, resultLines, type EvalResult } from './evaluation/eval-report.ts';
import type { EvalFile } from './evaluation/eval-schema.ts';
import { SwitchedModels, startEvalServer, type EvalServer } from './evaluation/eval-server.ts';
import { evaluateTest, type EvalSetup } from './evaluation/eval-test.ts';
import { AT_ONCE } from './evaluation/evaluate.ts';
import { acceptSettings, operandsOf, settingsArguments } from './settings-arguments.ts';

interface Flags extends AccessFlags {
  readonly target?: string;
  readonly fakeModels?: true;
  readonly runs?: number;
  readonly jobs?: number;
  readonly seed: number;
  readonly pace: number;
  readonly strict?: true;
  readonly confident?: true;
  readonly record?: string;
  readonly junit?: string;
  readonly html?: string;
  readonly json?: true;
}

const ORGANIZATION = 'evaluation';

const EXAMPLES = `
Files are YAML or JSON: docs/evaluating.md says what they hold. Without --target the server of the project runs in this process, open to this
machine alone, and what its tools change is really changed.

Examples:
  $ parley eval --fake-models
  $ parley eval bots/evals/appointments.yaml --runs 20 --html evaluation.html --record recordings
  $ parley eval talks.yaml --target bots.example.org --org $ORG --token-file token.jws --junit report.xml

Exit code: 0 each test has passed as often as it must, 1 one has not, 2 wrong usage or a file that is no evaluation, 130 interrupted.`;

/** @param leave - ends the process soon, even when a loaded bot keeps a timer or a socket open. */
export function evalCommand(surroundings: CallSurroundings, leave: () => void = () => undefined): Command {
  const command = acceptSettings(new Command('eval'))
    .description('let callers who are played by language models call the bots by voice, and say how often all was as it must be')
    .argument('[files...]', 'files of evaluations, or folders that hold them (default: the folder evals of the bots)')
    .option('--target <address>', `a running server, which shows no tools (default: one in this process); ${TARGET_FORMS}`);
  return withAccessOptions(command, ORGANIZATION)
    .option('--fake-models', 'ask fake models in place of all others, recognizer included; they answer as fake_models of the file says')
    .option('--runs <n>', 'runs of each test (default: its own, else 10)', wholeNumberFrom(1, 10_000))
    .option('--jobs <n>', `runs at once (default: those of the test, else ${String(AT_ONCE)})`, wholeNumberFrom(1, 200))
    .option('--seed <n>', 'the same number interrupts at the same places', wholeNumber, 1)
    .option('--pace <n>', 'so many times as fast as life, 1 to 50', paceOf, 1)
    .option('--strict', 'a run whose judge fails has not passed (default: it does not count)')
    .option('--confident', 'not the rate itself but the lower end of its interval must reach pass_rate')
    .option('--record <folder>', 'write a stereo WAV of each run that has not passed: left heard, right said')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--html <file>', 'write the results as one HTML file')
    .option('--json', 'print the results as one JSON line')
    .addHelpText('after', EXAMPLES)
    .action(async (_files: readonly string[], flags: Flags) => {
      try {
        await runCommand(command, flags, surroundings);
      } finally {
        leave();
      }
    });
}

async function runCommand(command: Command, flags: Flags, surroundings: CallSurroundings): Promise<void> {
  const misused = misuseOf(command);
  const { target } = flags;
  const settings = settingsArguments(command);
  const access = target === undefined ? undefined : await accessTo(target, flags, settings).catch(misused);
  const operands = operandsOf(command);
  const found = await readFiles(operands.length > 0 ? operands : [ownFolder(settings)], readEvals).catch(misused);
  const unseen = access === undefined ? [] : found.files.flatMap(({ file, name, placeOf }) => toolProblems(file, name, placeOf));
  const unplayed = found.files.filter(({ file }) => flags.fakeModels === true && file.fake_models === undefined);
  const problems = [...found.problems, ...unseen, ...unplayed.map(({ name }) => `${name}: --fake-models needs fake_models in it`)];
  if (problems.length > 0) {
    for (const problem of problems) surroundings.complain(problem);
    surroundings.setExitCode(EXIT.usage);
    return;
  }
  const fakes = flags.fakeModels === true ? await SwitchedModels.start() : undefined;
  let voice: CallerVoice | undefined;
  let server: EvalServer | undefined;
  try {
    const plans = await Promise.all(found.files.map((one) => planned(one, fakes, settings, surroundings))).catch(misused);
    voice = await surroundings.openVoice();
    if (access === undefined) server = await startEvalServer(settings, fakes);
    const own = { target: server?.target ?? '', profile: loadProfile('fake'), organizationId: flags.org };
    const { pace, record } = flags;
    const setup = { access: access ?? own, bots: server?.bots, fakes, voice, pace, record, clock: surroundings.clock };
    await evaluateAll(plans, setup, flags, surroundings).catch(misused);
  } finally {
    await server?.close();
    await voice?.close();
    await fakes?.close();
  }
}

/** The tests of a file and what they need, with the models opened. */
interface Plan extends Pick<FileModels, 'prices'> {
  readonly script: ModelScript;
  readonly tests: readonly Eval[];
}

async function planned(
  { file, name, placeOf }: FoundFiles<EvalFile>['files'][number],
  fakes: SwitchedModels | undefined,
  argv: readonly string[],
  { complain }: CallSurroundings,
): Promise<Plan> {
  const { models, prices } = await openModels(file, name, fakes?.url);
  return {
    script: checkModelScript(file.fake_models ?? {}),
    prices,
    tests: evalsOf(file, name, placeOf, models, await recordedCallers(file, name, argv, complain)),
  };
}

async function accessTo(target: string, flags: Flags, settings: readonly string[]): Promise<Access> {
  const [setting] = settings.filter((argument) => !argument.startsWith('--config='));
  if (setting !== undefined) throw new RangeError(`${setting} is for the server that runs here without --target`);
  if (flags.fakeModels === true) throw new RangeError('--fake-models are for the server that runs here without --target');
  return readAccess(target, flags);
}

/** The folder `evals` in the folder of the bots. @throws AppError `config_invalid`. */
function ownFolder(argv: readonly string[]): string {
  const { folder = path.join(packageRoot(), 'bots') } = loadSections({ argv }, 'bots').settings.bots;
  return path.relative(process.cwd(), path.join(folder, 'evals'));
}

async function evaluateAll(plans: readonly Plan[], setup: EvalSetup, flags: Flags, surroundings: CallSurroundings): Promise<void> {
  const stop = new AbortController();
  const forget = surroundings.onInterrupt(() => {
    stop.abort();
  });
  const view = progressView(surroundings);
  const results: EvalResult[] = [];
  const how = { ...flags, isStrict: flags.strict === true, isConfident: flags.confident === true, signal: stop.signal };
  try {
    for (const { script, prices, tests } of plans) {
      await setup.fakes?.play(script);
      for (const test of tests) {
        const onProgress = (done: number, total: number, passed: number): void => {
          view.show(done, total, `runs, ${String(passed)} passed  ${test.name}`);
        };
        const result = await evaluateTest(test, prices, setup, { ...how, onProgress });
        results.push(result);
        view.stop();
        if (flags.json !== true) surroundings.print([...resultLines(result, surroundings.isColoured), ''].join('\n'));
      }
    }
  } catch (thrown) {
    if (!stop.signal.aborted) throw thrown;
  } finally {
    view.stop();
    forget();
  }
  const isInterrupted = stop.signal.aborted;
  const isPassed = !isInterrupted && results.every((result) => result.isPassed);
  const isWritten = await report(results, isPassed, flags, surroundings);
  surroundings.setExitCode(isInterrupted ? EXIT.interrupted : isPassed && isWritten ? EXIT.ok : EXIT.failed);
}

/** @returns whether everything could be written. */
async function report(
  results: readonly EvalResult[],
  isPassed: boolean,
  flags: Flags,
  { print, complain }: CallSurroundings,
): Promise<boolean> {
  const { junit, html, json, seed } = flags;
  const passed = results.filter((result) => result.isPassed).length;
  print(
    json === true
      ? JSON.stringify({ ok: isPassed, seed, tests: results.map(evalData) })
      : `${String(passed)} of ${String(results.length)} tests passed, seed ${String(seed)}`,
  );
  try {
    if (junit !== undefined) await writeFile(junit, junitXml('parley eval', results.map(junitCase)));
    if (html !== undefined) await writeFile(html, evalPage(results, path.dirname(path.resolve(html))));
    return true;
  } catch (error) {
    if (!isFileError(error)) throw error;
    complain(`not everything could be written: ${error.message}`);
    return false;
  }
}
