// Reads the report of one run: how many mutants were noticed, and what those that were not look like.
import { z } from 'zod';

const PLACE = z.object({ line: z.number(), column: z.number() });
const REPORT = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          mutatorName: z.string(),
          replacement: z.string().optional(),
          status: z.enum(['Killed', 'Survived', 'NoCoverage', 'Timeout', 'RuntimeError', 'CompileError', 'Ignored', 'Pending']),
          statusReason: z.string().optional(),
          location: z.object({ start: PLACE, end: PLACE }),
        }),
      ),
    }),
  ),
});

/**
 * @typedef {{ killed: number, survived: number, timeout: number, noCoverage: number }} Counts
 * @typedef {{ file: string, line: number, column: number, kind: string, before: string, after: string, covered: boolean }} Survivor
 * @typedef {z.infer<typeof REPORT>['files'][string]['mutants'][number]} Mutant
 */

/** Longest text that is shown of a line and what became of it. */
const MAX_SHOWN = 200;

/**
 * @param {unknown} report
 * @returns {{ counts: Counts, survivors: Survivor[], slow: string[] }} `slow` are the places whose mutants were ended by a limit
 */
export function readReport(report) {
  const counts = { killed: 0, survived: 0, timeout: 0, noCoverage: 0 };
  const survivors = [];
  const slow = [];
  const files = Object.entries(REPORT.parse(report).files).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [file, { source, mutants }] of files) {
    for (const mutant of [...mutants].sort(bySource)) {
      const outcome = outcomeOf(mutant);
      if (outcome === undefined) continue;
      counts[outcome] += 1;
      if (outcome === 'timeout') slow.push(`${file}:${String(mutant.location.start.line)}`);
      if (outcome === 'survived' || outcome === 'noCoverage') survivors.push(survivorOf(file, source, mutant));
    }
  }
  return { counts, survivors, slow: [...new Set(slow)] };
}

/**
 * @param {{ files: Record<string, { mutants: readonly { status: string }[] }> }} report
 * @param {readonly string[]} [only] - the files that count; all of them when left out
 * @returns {object} the report as if its survivors had not been tested
 */
export function withoutSurvivors(report, only) {
  const files = Object.entries(report.files).map(([name, file]) => {
    if (only?.includes(name) === false) return [name, file];
    return [name, { ...file, mutants: file.mutants.filter(({ status }) => status !== 'Survived' && status !== 'NoCoverage') }];
  });
  return { ...report, files: Object.fromEntries(files) };
}

/**
 * @param {Mutant} mutant
 * @returns {keyof Counts | undefined} undefined for what is not counted
 */
function outcomeOf({ status, statusReason = '' }) {
  if (status === 'Survived') return 'survived';
  if (status === 'NoCoverage') return 'noCoverage';
  if (status === 'Timeout') return 'timeout';
  if (status === 'Killed') return /(?:Test|Hook) timed out/u.test(statusReason) ? 'timeout' : 'killed';
  // An error outside of any test: the suite would be red.
  return status === 'RuntimeError' ? 'killed' : undefined;
}

/** @param {Counts} counts @returns {number} percent, one decimal, rounded down so that 90 means 90 */
export function scoreOf({ killed, survived, timeout, noCoverage }) {
  const all = killed + survived + timeout + noCoverage;
  return all === 0 ? 0 : Math.floor(((killed + timeout) / all) * 1000) / 10;
}

/** @param {readonly Counts[]} all @returns {Counts} */
export function sumOf(all) {
  /** @param {keyof Counts} what */
  const sum = (what) => all.reduce((total, counts) => total + counts[what], 0);
  return { killed: sum('killed'), survived: sum('survived'), timeout: sum('timeout'), noCoverage: sum('noCoverage') };
}

/**
 * @param {string} file
 * @param {string} source
 * @param {Mutant} mutant
 * @returns {Survivor}
 */
function survivorOf(file, source, { mutatorName, replacement = '', status, location: { start, end } }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const head = lines[0]?.slice(0, start.column - 1) ?? '';
  const tail = lines.at(-1)?.slice(end.column - 1) ?? '';
  const before = shorten(lines.join('\n'));
  const after = shorten(`${head}${replacement}${tail}`);
  return { file, line: start.line, column: start.column, kind: mutatorName, before, after, covered: status === 'Survived' };
}

/** @param {string} text */
function shorten(text) {
  const oneLine = text.trim().replaceAll(/\s+/gu, ' ');
  if (oneLine.length <= MAX_SHOWN) return oneLine;
  return `${oneLine.slice(0, MAX_SHOWN / 2)} … ${oneLine.slice(-MAX_SHOWN / 2)}`;
}

/** @param {Mutant} a @param {Mutant} b */
function bySource(a, b) {
  return a.location.start.line - b.location.start.line || a.location.start.column - b.location.start.column;
}
