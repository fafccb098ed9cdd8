// The page docs/bot-api.md: scripts/bot-api-page.md with the examples of docs/examples and everything that `parley-voice` and
// `parley-voice/testing` export, in the words of its doc comments. Writes nothing itself; throws when the page would be incomplete.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { commentOf, declarationText, omissionOf, referencedTypes } from './bot-api-text.mjs';
import { formatted } from './formatted.mjs';

/** Where the page lies, relative to the project. */
export const BOT_API_PAGE = 'docs/bot-api.md';
const TEMPLATE = 'scripts/bot-api-page.md';
const BOTS = 'src/bot/index.ts';
const TESTING = 'src/bot/testing.ts';
const ENTRY_POINTS = [BOTS, TESTING];

/** Where each export of an entry point is shown. Every export stands in exactly one group. */
const GROUPS = /** @type {const} */ ([
  ['Making a bot', ['bot', 'BotDefinition', 'Bot', 'Fillers']],
  [
    'Events that want a reply',
    [
      'SessionStart',
      'DtmfInput',
      'SpeechInput',
      'NoInput',
      'CustomEvent',
      'Woken',
      'CallerEvent',
      'PrepareEvent',
      'AfterReply',
      'Heard',
      'HeardPart',
      'Utterance',
    ],
  ],
  [
    'Replies',
    [
      ...[
        'go',
        'say',
        'play',
        'Saying',
        'listen',
        'transfer',
        'end',
        'keep',
        'speak',
        'SentenceCutter',
        'ladder',
        'PromptOptions',
        'SayOptions',
        'ListenOptions',
        'SpeechPatience',
      ],
      ...['FlowEvent', 'TransferOptions', 'EndOptions', 'Reply', 'Answer', 'Handled', 'Keep', 'KeepOptions', 'SpeakOptions', 'CutOptions'],
    ],
  ],
  ['Events that notify', ['TurnStarted', 'HearingEvent', 'BargeIn', 'TurnEnded', 'SessionEnded', 'Noted']],
  [
    'What surrounds a handler',
    ['BotContext', 'CallFacts', 'BotEar', 'Live', 'LiveContext', 'LiveEnd', 'TurnReport', 'ModelCall', 'ModelFailure', 'ModelBudget'],
  ],
  ['Testing', ['TestCall', 'TestCallOptions', 'SpeakOptions', 'InterruptOptions', 'Said', 'UsedTool'], TESTING],
]);

/** Exports whose members no author reads. */
const OPAQUE = new Set(['Bot']);
/** Types of the exports that no author writes or reads. */
const NOT_SHOWN = new Set(['BotServices', 'Clock', 'LogFields', 'MustTravel']);

/**
 * The whole page. The same sources always give the same page.
 *
 * @param {string} root - of the project
 * @returns {Promise<string>}
 */
export function botApiPage(root) {
  const exported = exportsOf(root);
  const template = readFileSync(path.join(root, TEMPLATE), 'utf8');
  const page = template
    .replace(/<!-- example (?<file>\S+) -->/gu, (_, /** @type {string} */ file) => example(root, file))
    .replace(/<!-- link (?<file>\S+) -->/gu, (_, /** @type {string} */ file) => readExample(root, file).opening)
    .replace('<!-- reference -->', () => reference(exported));
  return formatted(root, BOT_API_PAGE, page);
}

/**
 * Code of `@example` tags, with the name it belongs to.
 *
 * @param {string} root
 * @returns {readonly { name: string, code: string }[]}
 */
export function exampleTags(root) {
  const { checker, entries } = exportsOf(root);
  return [...entries.values()].flat().flatMap((symbol) =>
    symbol
      .getJsDocTags(checker)
      .filter((tag) => tag.name === 'example')
      .map((tag) => ({ name: symbol.name, code: ts.displayPartsToString(tag.text).trim() })),
  );
}

/**
 * @typedef {{ checker: ts.TypeChecker, entries: ReadonlyMap<string, readonly ts.Symbol[]> }} Exports entry point → what it exports
 */

/**
 * @param {string} root
 * @returns {Exports}
 */
function exportsOf(root) {
  const config = ts.readConfigFile(path.join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent({ ...config.config, include: [], files: ENTRY_POINTS }, ts.sys, root);
  const program = ts.createProgram(
    ENTRY_POINTS.map((file) => path.join(root, file)),
    options,
  );
  const checker = program.getTypeChecker();
  /** @type {Map<string, readonly ts.Symbol[]>} */
  const entries = new Map();
  for (const file of ENTRY_POINTS) {
    const source = program.getSourceFile(path.join(root, file));
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} exports nothing`);
    const exported = checker.getExportsOfModule(module);
    entries.set(
      file,
      exported.map((symbol) => ((symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol))),
    );
  }
  return { checker, entries };
}

/** @param {Exports} exported */
function reference({ checker, entries }) {
  const symbols = [...entries.values()].flat();
  const shown = GROUPS.flatMap(([, names, file = BOTS]) => names.map((name) => found(entries, file, name)));
  const left = symbols.filter((symbol) => !shown.includes(symbol));
  if (left.length > 0) throw new Error(`scripts/bot-api.mjs has no group for ${left.map(({ name }) => name).join(', ')}`);
  const undocumented = symbols.filter((symbol) => commentOf(symbol) === '');
  if (undocumented.length > 0)
    throw new Error(`these exports of parley-voice have no doc comment: ${undocumented.map(({ name }) => name).join(', ')}`);

  const behind = [...referencedTypes(checker, symbols, NOT_SHOWN).values()];
  const all = [...symbols, ...behind];
  const block = (/** @type {readonly ts.Symbol[]} */ group) =>
    ['```ts', group.map((symbol) => entryOf(checker, symbol, all)).join('\n\n'), '```'].join('\n');
  const groups = GROUPS.map(([title, names, file = BOTS]) => `### ${title}\n\n${block(names.map((name) => found(entries, file, name)))}`);
  const rest = block(behind.sort((one, other) => (one.name < other.name ? -1 : 1)));
  return [...groups, `### Types that appear in them\n\nThey cannot be imported and need not be.\n\n${rest}`].join('\n\n');
}

/**
 * @param {Exports['entries']} entries
 * @param {string} file
 * @param {string} name
 */
function found(entries, file, name) {
  const symbol = entries.get(file)?.find((each) => each.name === name);
  if (symbol === undefined) throw new Error(`scripts/bot-api.mjs groups ${name}, which ${file} does not export`);
  return symbol;
}

/**
 * @param {ts.TypeChecker} checker
 * @param {ts.Symbol} symbol
 * @param {readonly ts.Symbol[]} all
 */
function entryOf(checker, symbol, all) {
  const { name } = symbol;
  // A type of which an alias shows all but some members: `Listen` beside `ListenOptions`.
  const alias = all.map((other) => ({ name: other.name, ...omissionOf(other) })).find(({ base }) => base === name);
  const declaration = OPAQUE.has(name) ? `interface ${name} {}` : declarationText(checker, symbol, name, alias);
  return `${commentOf(symbol)}${declaration}`;
}

/**
 * The opening comment of a file as a paragraph, and the code below it.
 *
 * @param {string} root
 * @param {string} file
 */
function example(root, file) {
  const { opening, code } = readExample(root, file);
  return `${opening}\n\n\`\`\`ts\n${code}\n\`\`\``;
}

/**
 * The opening comment of a file with a link to it, and the code below it.
 *
 * @param {string} root
 * @param {string} file
 */
function readExample(root, file) {
  if (!existsSync(path.join(root, file))) throw new Error(`${TEMPLATE} names ${file}, which is not there`);
  const lines = readFileSync(path.join(root, file), 'utf8').trimEnd().split('\n');
  const start = lines.findIndex((line) => !line.startsWith('// '));
  const opening = lines.slice(0, start).map((line) => line.slice(3));
  const link = `[${path.posix.basename(file, '.ts')}](${path.posix.relative('docs', file)})`;
  return { opening: [`${link}:`, ...opening].join(' ').replace(/:$/u, ''), code: lines.slice(start).join('\n').trim() };
}
