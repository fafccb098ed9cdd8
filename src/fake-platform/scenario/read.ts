// Reads the text of a file of tests, scenarios or others. Returns its content, or every error with its place. Never throws. Knows no
// folders.
import { LineCounter, isAlias, isNode, isPair, parseDocument, visit, type Document } from 'yaml';
import type { z } from 'zod';
import { SCENARIO_FILE, type ScenarioFile, type ScenarioTest } from './schema.ts';

/** A place in a text; both are counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Finds the place of a field; of a missing field, the place of its innermost existing parent. */
export type PlaceOf = (path: readonly PropertyKey[]) => Place;

export interface ScenarioProblem {
  readonly at: Place;
  /** The field, such as `tests[2].steps[0].press`; empty for the whole file. */
  readonly field: string;
  /** What is wrong, and what is allowed. */
  readonly message: string;
}

/** A valid file with the place of each part; or its errors. */
export type ReadFile<T> =
  | { readonly file: T; readonly placeOf: PlaceOf }
  | { readonly problems: readonly [ScenarioProblem, ...ScenarioProblem[]] };

/** Most errors reported at once. */
const MAX_PROBLEMS = 50;
const START: Place = { line: 1, column: 1 };

/** Reads a file of scenarios, YAML or JSON. */
export function readScenarios(text: string): ReadFile<ScenarioFile> {
  return readTests(text, SCENARIO_FILE);
}

/** Reads a file of this shape, YAML or JSON. */
export function readTests<T>(text: string, shape: z.ZodType<T>): ReadFile<T> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) {
    return { problems: [{ at: placeAt(lines, error.pos[0]), field: '', message: `this is no YAML or JSON: ${error.message}` }] };
  }
  const data = dataOf(document);
  if (data === undefined) {
    return { problems: [{ at: START, field: '', message: 'an alias points nowhere, into itself, or multiplies too often: write it out' }] };
  }
  const parsed = shape.safeParse(data.value);
  const placeOf: PlaceOf = (path) => placeAt(lines, offsetOf(document, path));
  if (parsed.success) return { file: parsed.data, placeOf };
  const [first, ...rest] = parsed.error.issues
    .flatMap(flattened)
    .slice(0, MAX_PROBLEMS)
    .map((issue) => problemOf(issue, placeOf));
  return { problems: [first ?? { at: START, field: '', message: 'this is no file of tests' }, ...rest] };
}

/** Checks a test that is given in code. @returns a file with it alone. @throws RangeError that says what is wrong, and where. */
export function checkScenario(test: ScenarioTest): ScenarioFile {
  const parsed = SCENARIO_FILE.safeParse({ tests: [test] });
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.flatMap(flattened).slice(0, MAX_PROBLEMS);
  throw new RangeError(wrong.map(({ path, message }) => `${fieldName(path.slice(2)) || 'the scenario'}: ${message}`).join('; '));
}

/** The document as data; undefined when its aliases cannot be resolved. */
function dataOf(document: Document.Parsed): { readonly value: unknown } | undefined {
  try {
    // An anchor that contains itself would make infinite data.
    const circles: string[] = [];
    visit(document, {
      Alias: (_, alias, path) => {
        if (path.some((parent) => isNode(parent) && 'anchor' in parent && parent.anchor === alias.source)) circles.push(alias.source);
      },
    });
    return circles.length > 0 ? undefined : { value: document.toJS({ maxAliasCount: 100 }) as unknown };
  } catch {
    return undefined;
  }
}

/** The errors to report: for a union, only those of the alternative that got furthest. */
function flattened(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const ways = issue.errors.map((errors) => errors.filter(({ code }) => code !== 'invalid_type'));
  const inner = ways.find((errors) => errors.length > 0);
  return inner === undefined ? [issue] : inner.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

function problemOf(issue: z.core.$ZodIssue, placeOf: PlaceOf): ScenarioProblem {
  const place = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
  return { at: placeOf(place), field: fieldName(place), message: issue.message };
}

/** A path as text, such as `tests[2].steps[0].press`. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${String(part)}]` : `${index === 0 ? '' : '.'}${String(part)}`)).join('');
}

/** The place of an offset. For an empty text, the library reports line 0 and column 0. */
function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** The offset of a field's key in the text; of a missing field, that of its innermost existing parent. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let offset = 0;
  let node: unknown = document.contents;
  const note = (found: unknown): void => {
    if (isNode(found) && Array.isArray(found.range)) offset = found.range[0];
  };
  note(node);
  for (const part of path) {
    const source: unknown = isAlias(node) ? node.resolve(document) : node;
    const items: unknown = typeof source === 'object' && source !== null && 'items' in source ? source.items : undefined;
    if (!Array.isArray(items)) break;
    const item: unknown = typeof part === 'number' ? items[part] : items.find((pair) => isPair(pair) && String(pair.key) === String(part));
    if (item === undefined) break;
    note(isPair(item) ? item.key : item);
    node = isPair(item) ? item.value : item;
  }
  return offset;
}
