// How deep a text and its data nest, found without recursion: what nests too deep must be refused before anybody walks it,
// because a stack that overflows inside a regular expression ends the process. Knows no scenario.
import { Lexer } from 'yaml';

/** Deeper than any scenario, and far from the end of the stack. */
const MAX_BRACKETS = 50;
/** Columns of blanks and dashes in front of a line; each may open a collection of its own. */
const MAX_COLUMNS = 200;
const MAX_DATA_DEPTH = 60;

/** Stands in front of a plain scalar or a block of text, which may look like anything. */
const SCALAR_FOLLOWS = '\u001f';
const INDICATORS: ReadonlySet<string> = new Set(['-', '?', ':']);

/** The line, counted from 1, on which a text of YAML or JSON nests too deep; undefined when it does not. */
export function tooDeepLine(text: string): number | undefined {
  let line = 1;
  let brackets = 0;
  let columns = 0;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (!isScalar && (token === '[' || token === '{')) brackets += 1;
    else if (!isScalar && (token === ']' || token === '}')) brackets = Math.max(0, brackets - 1);
    else if (!isScalar && brackets === 0 && (INDICATORS.has(token) || /^ +$/u.test(token))) columns += token.length;
    isScalar = token === SCALAR_FOLLOWS;
    if (brackets > MAX_BRACKETS || columns > MAX_COLUMNS) return line;
    const breaks = token.split('\n').length - 1;
    line += breaks;
    if (breaks > 0) columns = 0;
  }
  return undefined;
}

/** Whether data nests too deep, as chains of aliases can make it although no line of the text does. */
export function isTooDeep(data: unknown): boolean {
  const open: (readonly [value: unknown, depth: number])[] = [[data, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next;
    if (depth > MAX_DATA_DEPTH) return true;
    if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) open.push([member, depth + 1]);
  }
  return false;
}
