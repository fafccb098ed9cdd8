// `parley load`: places many calls at a server and reports what their callers heard, or how many calls it can carry.
// Reads options, shows progress and results; the fake platform's load room measures.
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { criterionText, CRITERIA_HELP, type Checked } from '../load/criteria.ts';
import { readLoadResult, type LoadResult } from '../load/load-result.ts';
import type { LoadProgress } from '../load/load-run.ts';
import { isFileError } from '../../base/terminal/surroundings.ts';
import { TARGET_FORMS } from './call-access.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { compareLoads, differenceRow, worseThan } from './load/compare.ts';
import { understand, withLoadOptions, type LoadFlags, type LoadWish, type LoadSurroundings } from './load/load-options.ts';
import { measure, type Measured } from './load/measure.ts';
import { MIX_HELP } from './load/mix.ts';
import { reportPage } from './load/report-page.ts';
import { checkedLine, resultText, clockText, progressText } from './load/result-table.ts';
import { progressView } from '../../base/terminal/progress-view.ts';
import { alignedRows } from '../../base/terminal/table.ts';

const EXAMPLES = `
Calls arrive whether or not the server keeps up: a slow server does not slow its callers down, and every wait counts from
the moment it should have begun. --calls is a rate, too: as many arrivals as so many calls at once need.

${MIX_HELP}

Conditions:
${CRITERIA_HELP}

Examples:
  $ parley load grpc://127.0.0.1:50051 --org $ORG --rate 5/s --duration 5m --ramp 30s
  $ parley load localhost:50051 --ca certificate.pem --org $ORG --token-file token.jws --calls 200 --html report.html
  $ parley load grpc://127.0.0.1:50051 --org $ORG --find-capacity "first-audio p99 < 300ms, failed < 0.1%"
  $ parley load compare monday.json tuesday.json --fail-over 10%

Exit code: 0 measured (and every condition holds), 1 no result or a condition fails, 2 wrong usage, 130 interrupted.`;

/** The command, with `compare` as its sub-command. Its surroundings default to this process. */
export function loadCommand(surroundings: LoadSurroundings): Command {
  const command = new Command('load')
    // Without this, the `--json` of `load compare … --json` would be an option of `load`.
    .enablePositionalOptions()
    .description('put a server under the load of many calls, and say what their callers heard')
    .argument('<target>', TARGET_FORMS)
    .addHelpText('after', EXAMPLES)
    .action((target: string, flags: LoadFlags) => runCommand(command, target, flags, surroundings));
  withLoadOptions(command);
  return command.addCommand(compareCommand(surroundings));
}

async function runCommand(command: Command, target: string, flags: LoadFlags, surroundings: LoadSurroundings): Promise<void> {
  const misused = (thrown: unknown): never => {
    if (thrown instanceof RangeError) return command.error(`error: ${thrown.message}`, { exitCode: EXIT.usage });
    throw thrown;
  };
  const wish = await understand(target, flags).catch(misused);
  // Checked first, because an hour of measuring must not end with a result that cannot be written.
  await checkFiles(flags, surroundings).catch(misused);
  const stop = new AbortController();
  const forget = surroundings.onInterrupt(() => stop.abort());
  const view = progressView(surroundings, clockText);
  const progress = (now: LoadProgress): void => {
    view.show(Math.min(now.lengthMs, Math.max(0, now.elapsedMs)), now.lengthMs, progressText(now));
  };
  const say = (line: string): void => {
    // Each try of a search starts with new figures.
    view.stop();
    surroundings.complain(line);
  };
  try {
    const measured = await measure(wish, surroundings, { say, progress }, stop.signal).catch(misused);
    view.stop();
    show(measured, wish, flags, surroundings);
    const isWritten = await write(measured, flags, surroundings);
    surroundings.setExitCode(stop.signal.aborted ? EXIT.interrupted : isWritten ? exitCodeOf(measured) : EXIT.failed);
  } finally {
    view.stop();
    forget();
  }
}

async function checkFiles({ json, html }: LoadFlags, { touchFile }: LoadSurroundings): Promise<void> {
  for (const file of [json, html]) {
    if (typeof file !== 'string') continue;
    await touchFile(file).catch((error: unknown) => {
      if (isFileError(error)) throw new RangeError(`${file} cannot be written: ${error.message}`, { cause: error });
      throw error;
    });
  }
}

function show(measured: Measured, wish: LoadWish, flags: LoadFlags, { print, complain, isColoured }: LoadSurroundings): void {
  if (measured.kind === 'refused') {
    for (const failure of measured.failures) complain(`nothing was measured: ${failure}`);
    if (flags.json === true) print(JSON.stringify({ failures: measured.failures }));
    return;
  }
  if (flags.json === true) print(JSON.stringify(dataOf(measured)));
  else print(measured.kind === 'run' ? resultText(measured.result, measured.checked, isColoured) : capacityText(measured, wish));
}

/** Writes the result files. @returns whether all were written; one that cannot be written is reported, and the other still written. */
async function write(measured: Measured, { json, html }: LoadFlags, { writeFile, complain }: LoadSurroundings): Promise<boolean> {
  if (measured.kind === 'refused') return true;
  let isWritten = true;
  const attempt = async (file: string, text: string): Promise<void> => {
    try {
      await writeFile(file, text);
    } catch (error) {
      if (!isFileError(error)) throw error;
      complain(`the report cannot be written: ${error.message}`);
      isWritten = false;
    }
  };
  if (typeof json === 'string') await attempt(json, `${JSON.stringify(dataOf(measured))}\n`);
  if (html === undefined) return isWritten;
  const shown = measured.kind === 'run' ? measured : measured.held;
  if (shown === undefined) complain(`${html} is not written: no number of calls held`);
  else await attempt(html, await reportPage(shown.result, shown.checked));
  return isWritten;
}

function exitCodeOf(measured: Measured): number {
  switch (measured.kind) {
    case 'refused':
      return EXIT.failed;
    case 'capacity':
      return measured.capacity.calls > 0 && measured.capacity.limit !== 'load' ? EXIT.ok : EXIT.failed;
    case 'run': {
      const { calls, saturated } = measured.result;
      const isMeasured = !saturated && calls.finished > calls.failed;
      return isMeasured && measured.checked.every(({ holds }) => holds) ? EXIT.ok : EXIT.failed;
    }
  }
}

function dataOf(measured: Exclude<Measured, { kind: 'refused' }>): object {
  return measured.kind === 'run' ? { ...measured.result, conditions: conditionsOf(measured.checked) } : capacityData(measured);
}

function conditionsOf(checked: readonly Checked[]): readonly object[] {
  return checked.map(({ criterion, value, holds }) => ({ condition: criterionText(criterion), value: value ?? null, holds }));
}

type MeasuredCapacity = Extract<Measured, { kind: 'capacity' }>;

function capacityData({ capacity, held, interrupted }: MeasuredCapacity): object {
  return {
    ...capacity,
    failedAt: capacity.failedAt ?? null,
    saturated: capacity.limit === 'load',
    interrupted,
    meanLive: held?.result.calls.meanLive ?? null,
    conditions: conditionsOf(held?.checked ?? []),
    held: held?.result ?? null,
  };
}

function capacityText({ capacity, held, interrupted }: MeasuredCapacity, { task }: LoadWish): string {
  const { calls, failedAt, limit } = capacity;
  const conditions = task.kind === 'capacity' ? task.criteria.map(criterionText).join(', ') : '';
  const lines: string[] = [];
  if (interrupted) lines.push(`broken off: ${String(calls)} calls at once held (${conditions})`);
  else if (calls === 0 && limit !== 'load') lines.push(`not even ${String(failedAt ?? 0)} calls at once hold (${conditions})`);
  else if (limit === 'load') {
    lines.push(`at least ${String(calls)} calls at once hold (${conditions}); with ${String(failedAt ?? 0)} the load itself was too slow,`);
    lines.push('so nothing is known of the server beyond: use more workers or another machine');
  } else if (limit === 'maximum') lines.push(`${String(calls)} calls at once hold (${conditions}), and more were not tried (--max-calls)`);
  else lines.push(`${String(calls)} calls at once hold (${conditions}); ${String(failedAt ?? 0)} do not`);
  if (held !== undefined) lines.push(`  at once, as measured: ${held.result.calls.meanLive.toFixed(1)} on average`);
  for (const checked of held?.checked ?? []) lines.push(`  ${checkedLine(checked)}`);
  return lines.join('\n');
}

interface CompareFlags {
  readonly failOver?: string;
  readonly json?: true;
}

function compareCommand(surroundings: LoadSurroundings): Command {
  const command = new Command('compare')
    .description('put two results of `parley load --json FILE` side by side')
    .argument('<before>', 'result of the first run')
    .argument('<after>', 'result of the second run')
    .option('--fail-over <percent>', 'fail when something got worse by more, such as 10%, and beyond noise')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A figure got worse when the 95 % ranges of both runs lie apart; what two runs may differ by without a reason is noise.

Example:
  $ parley load compare monday.json tuesday.json --fail-over 10%`,
    )
    .action((before: string, after: string, flags: CompareFlags) => compare(command, [before, after], flags, surroundings));
  return command;
}

async function compare(
  command: Command,
  files: readonly [string, string],
  flags: CompareFlags,
  surroundings: LoadSurroundings,
): Promise<void> {
  const { print, complain, setExitCode } = surroundings;
  try {
    const limit = flags.failOver === undefined ? undefined : percentOf(flags.failOver);
    const [before, after] = [await resultIn(files[0]), await resultIn(files[1])];
    const comparison = compareLoads(before, after);
    const worse = limit === undefined ? [] : worseThan(comparison, limit);
    const isVoid = limit !== undefined && comparison.isVoid;
    if (flags.json === true)
      print(JSON.stringify({ ...comparison, failed: worse.map(({ name }) => name), ok: worse.length === 0 && !isVoid }));
    else {
      print(alignedRows([['', files[0], files[1], 'ratio', ''], ...comparison.differences.map(differenceRow)]).trimEnd());
      for (const doubt of comparison.doubts) complain(`beware: ${doubt}`);
      for (const { name } of worse) complain(`worse by more than ${String(limit)} %: ${name}`);
    }
    setExitCode(worse.length === 0 && !isVoid ? EXIT.ok : EXIT.failed);
  } catch (error) {
    if (error instanceof RangeError || isFileError(error)) command.error(`error: ${error.message}`, { exitCode: EXIT.usage });
    throw error;
  }
}

async function resultIn(file: string): Promise<LoadResult> {
  return readLoadResult(await readFile(file, 'utf8'), file);
}

function percentOf(text: string): number {
  const percent = /^(?<number>\d+(?:\.\d+)?)\s*%?$/u.exec(text)?.groups?.['number'];
  if (percent === undefined) throw new RangeError(`--fail-over ${text}: write 10%`);
  return Number(percent);
}
