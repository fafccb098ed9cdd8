// Reads one configuration file, YAML or JSON, with the line of every value. Passes on only the error codes of the parser: its messages
// quote the file, which may contain secrets.
import { readFileSync, statSync } from 'node:fs';
import { isAlias, isMap, isScalar, LineCounter, parseDocument, type Document, type ParsedNode } from 'yaml';
import { closest } from './naming.ts';
import type { Problem } from './problems.ts';
import { errorCode, type Path } from './rules.ts';
import { isRule, RULES, SCHEMA, type Section } from './schema.ts';
import { fileText, unknownName, type Given, type Origin, type Source } from './sources.ts';

const MAX_FILE_BYTES = 1_048_576;

/** A node of a parsed file; may be missing. */
type Node = ParsedNode | null | undefined;

export interface FileOptions {
  /** Origin of the values, see {@link Origin}. */
  readonly kind: 'default' | 'file';
  readonly baseFolder: string;
  readonly cwd: string;
  /** The flag or variable that named the file, for error messages. */
  readonly namedBy: string;
}

export function readConfigFile(file: string, options: FileOptions): Source {
  const subject = fileText(file, options.cwd);
  const unreadable = (rule: string, mend: string, from = options.namedBy): Source => ({
    given: [],
    problems: [{ subject, shown: undefined, from, rule, mend }],
  });
  let content: string;
  try {
    if (statSync(file).size > MAX_FILE_BYTES) return unreadable(`at most ${String(MAX_FILE_BYTES)} bytes`, 'name a configuration file');
    content = readFileSync(file, 'utf8');
  } catch (cause) {
    return unreadable(`the file must be readable (${errorCode(cause)})`, 'check the path; it starts from the current folder');
  }
  const { document, lines } = parsed(content, options.kind);
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      subject,
      shown: undefined,
      from: `${subject}:${String(lines.linePos(error.pos[0]).line)}`,
      rule: `the file must be YAML or JSON (${error.code})`,
      mend: 'correct the line; keys are indented by blanks and appear once',
    }));
    return { given: [], problems };
  }
  return new FileReader(document, lines, { ...options, file, subject }).read();
}

interface Parsed {
  readonly content: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

/** Parsed once: parsing the defaults takes most of the loading time, and they never change. */
let defaults: Parsed | undefined;

function parsed(content: string, kind: FileOptions['kind']): Parsed {
  if (kind === 'default' && defaults?.content === content) return defaults;
  const lines = new LineCounter();
  const result = { content, document: parseDocument(content, { lineCounter: lines, prettyErrors: false }), lines };
  // Only the defaults are kept, because the operator's file may contain secrets.
  if (kind === 'default') defaults = result;
  return result;
}

type ReaderOptions = Pick<FileOptions, 'kind' | 'baseFolder'> & { readonly file: string; readonly subject: string };

class FileReader {
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #options: ReaderOptions;
  readonly #given: Given[] = [];
  readonly #problems: Problem[] = [];

  constructor(document: Document.Parsed, lines: LineCounter, options: ReaderOptions) {
    this.#document = document;
    this.#lines = lines;
    this.#options = options;
  }

  read(): Source {
    this.#section(this.#document.contents, SCHEMA, '', 1);
    return { given: this.#given, problems: this.#problems };
  }

  #section(unresolved: Node, section: Section, prefix: string, line: number): void {
    const node = this.#resolved(unresolved);
    // A section whose keys are all commented out counts as empty.
    if (node === undefined || node === null || (isScalar(node) && node.value === null)) return;
    if (!isMap<ParsedNode, ParsedNode | null>(node)) {
      const subject = prefix === '' ? this.#options.subject : prefix.slice(0, -1);
      const mend = `keys: ${Object.keys(section).join(', ')}`;
      this.#problems.push({ subject, shown: undefined, from: this.#at(line), rule: 'must hold keys', mend });
      return;
    }
    for (const pair of node.items) {
      const name = isScalar(pair.key) ? String(pair.key.value) : '?';
      const key = `${prefix}${name}`;
      const keyLine = this.#lineOf(pair.key) ?? line;
      const known = Object.hasOwn(section, name) ? section[name] : undefined;
      if (known === undefined) this.#problems.push(unknownName(key, this.#at(keyLine), closest(key, [...RULES.keys()])));
      else if (isRule(known)) this.#value(key, pair.value, keyLine);
      else this.#section(pair.value, known, `${key}.`, keyLine);
    }
  }

  #value(key: string, node: Node, line: number): void {
    const origin: Origin = { kind: this.#options.kind, file: this.#options.file, line };
    try {
      const raw: unknown = node?.toJS(this.#document) ?? null;
      const lineAt = (path: Path): number => this.#lineAt(node, path) ?? line;
      this.#given.push({ key, raw, origin, baseFolder: this.#options.baseFolder, lineAt });
    } catch {
      // An invalid alias, or one that multiplies its content. The parser's message would quote the value.
      this.#problems.push({
        subject: key,
        shown: undefined,
        from: this.#at(line),
        rule: 'its alias must be resolvable',
        mend: 'write it out',
      });
    }
  }

  /** The line of the innermost member on the path that exists. */
  #lineAt(start: Node, path: Path): number | undefined {
    let node: unknown = start;
    let line = this.#lineOf(start);
    for (const step of path) {
      const found = isAlias(node) ? node.resolve(this.#document) : node;
      if (typeof found !== 'object' || found === null || !('get' in found) || typeof found.get !== 'function') break;
      node = (found.get as (key: string | number, keepScalar: true) => unknown).call(found, step, true);
      line = this.#lineOf(node) ?? line;
    }
    return line;
  }

  #resolved(node: Node): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }

  #lineOf(node: unknown): number | undefined {
    if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return undefined;
    const start: unknown = node.range[0];
    return typeof start === 'number' ? this.#lines.linePos(start).line : undefined;
  }

  #at(line: number): string {
    return `${this.#options.subject}:${String(line)}`;
  }
}
