// Reads the test files and folders that a user names. Where something is wrong, lists what and where.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Expectation } from '../../caller/expectation.ts';
import { recordingReader, type ReadRecording } from '../../caller/recorded-sound.ts';
import { prepareScript, type ScriptTools } from '../../caller/script-draft.ts';
import { planTests, type PlannedTest } from '../../scenario/plan.ts';
import { readScenarios, type PlaceOf, type ReadFile } from '../../scenario/read.ts';
import type { ReadyTest } from '../../scenario/run.ts';
import { decodeMulaw } from '../../../speech/g711.ts';
import { isFileError, readBounded } from '../../../base/terminal/surroundings.ts';

const ENDINGS = new Set(['.yaml', '.yml', '.json']);
const MAX_FILE_BYTES = 1_048_576;
const MAX_FILES = 1000;

export interface FoundTests {
  readonly tests: readonly PlannedTest[];
  /** Lines such as `front-desk.yaml:12:5  tests[0].stepz: unknown field …`. */
  readonly problems: readonly string[];
}

/**
 * Reads all files. In folders and their subfolders, reads those that end in .yaml, .yml or .json.
 *
 * @throws RangeError with a sentence for the user when something cannot be read or there are no tests.
 */
export async function findTests(places: readonly string[]): Promise<FoundTests> {
  const { files, problems } = await readFiles(places, readScenarios);
  return { tests: files.flatMap(({ name, file, placeOf }) => planTests(file, name, placeOf)), problems };
}

/** Files of one kind: their content, and lines about errors in them. */
export interface FoundFiles<T> {
  readonly files: readonly { readonly name: string; readonly file: T; readonly placeOf: PlaceOf }[];
  readonly problems: readonly string[];
}

/** Reads files of any kind, as {@link findTests} does. */
export async function readFiles<T>(places: readonly string[], readText: (text: string) => ReadFile<T>): Promise<FoundFiles<T>> {
  const names = [...new Set((await Promise.all(places.map(filesAt))).flat())];
  if (names.length === 0) throw new RangeError('there is no file of tests: they end in .yaml, .yml or .json');
  if (names.length > MAX_FILES) throw new RangeError(`at most ${String(MAX_FILES)} files at once`);
  const files: FoundFiles<T>['files'][number][] = [];
  const problems: string[] = [];
  for (const name of names) {
    const bytes = await readBounded(name);
    if (bytes.length > MAX_FILE_BYTES) throw new RangeError(`${name} is larger than ${String(MAX_FILE_BYTES)} bytes`);
    const read = readText(new TextDecoder().decode(bytes));
    if ('file' in read) files.push({ name, ...read });
    else
      for (const { at, field, message } of read.problems)
        problems.push(`${name}:${String(at.line)}:${String(at.column)}  ${field === '' ? '' : `${field}: `}${message}`);
  }
  return { files, problems };
}

async function filesAt(place: string): Promise<readonly string[]> {
  try {
    if (!(await stat(place)).isDirectory()) return [place];
    const entries = await readdir(place, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && ENDINGS.has(path.extname(entry.name)))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort();
  } catch (error) {
    if (isFileError(error)) throw new RangeError(`${place} cannot be read: ${error.message}`, { cause: error });
    throw error;
  }
}

/**
 * Speaks the texts and reads the recordings of all tests; each text and each recording once.
 *
 * @throws RangeError with a sentence for the user when a recording cannot be used; errors of `speak`.
 */
export async function readyTests(tests: readonly PlannedTest[], tools: ScriptTools): Promise<readonly ReadyTest[]> {
  const spoken = new Map<string, Promise<Uint8Array>>();
  const speak = (text: string): Promise<Uint8Array> => {
    const known = spoken.get(text) ?? tools.speak(text);
    spoken.set(text, known);
    return known;
  };
  const recording = recordingReader(tools);
  const ready: ReadyTest[] = [];
  for (const { drafts, ...test } of tests) {
    const script = await prepareScript(drafts, { ...tools, speak }, recording);
    const steps: ReadyTest['steps'][number][] = [];
    for (const { label, expectations } of test.steps) steps.push({ label, expectations: await readyExpectations(expectations, recording) });
    const welcome = await readyExpectations(test.welcome, recording);
    ready.push({ ...test, script, welcome, steps, call: await readyExpectations(test.call, recording) });
  }
  return ready;
}

async function readyExpectations(planned: PlannedTest['call'], recording: ReadRecording): Promise<readonly Expectation[]> {
  const ready: Expectation[] = [];
  for (const expectation of planned) {
    if (expectation.kind !== 'recording') ready.push(expectation);
    else {
      const { written, file, place } = expectation;
      ready.push({ written, kind: 'sound', known: decodeMulaw(await recording(file, place)) });
    }
  }
  return ready;
}
