// The page docs/bot-api.md: scripts/bot-api-page.md with the examples of docs/examples and everything that `parley-voice` and
// `parley-voice/testing` export, in the words of its doc comments. Writes nothing itself; throws when the page would be incomplete.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { declarationText, docsOf, omissionOf, referencedTypes } from './bot-api-text.mjs';
import { formatted } from './formatted.mjs';

/** Where the page lies, relative to the project. */
export const BOT_API_PAGE = 'docs/bot-api.md';
const TEMPLATE = 'scripts/bot-api-page.md';
const ENTRY_POINTS = ['src/bot/index.ts', 'src/bot/testing.ts'];

/** Where each export is explained. Every export stands in exactly one group. */
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
  ['Testing', ['TestCall', 'TestCallOptions', 'SpeakOptions', 'InterruptOptions', 'Said', 'UsedTool']],
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
  const { checker, symbols } = exportsOf(root);
  return [...symbols].flatMap(([name, symbol]) =>
    symbol
      .getJsDocTags(checker)
      .filter((tag) => tag.name === 'example')
      .map((tag) => ({ name, code: ts.displayPartsToString(tag.text).trim() })),
  );
}

/**
 * @typedef {{ checker: ts.TypeChecker, symbols: ReadonlyMap<string, ts.Symbol> }} Exports
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
  /** @type {Map<string, ts.Symbol>} */
  const symbols = new Map();
  for (const file of ENTRY_POINTS) {
    const source = program.getSourceFile(path.join(root, file));
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} exports nothing`);
    for (const symbol of checker.getExportsOfModule(module)) {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      symbols.set(symbol.name, isAlias ? checker.getAliasedSymbol(symbol) : symbol);
    }
  }
  return { checker, symbols };
}

/** @param {Exports} exported */
function reference({ checker, symbols }) {
  /** @type {readonly string[]} */
  const grouped = GROUPS.flatMap(([, names]) => names);
  const left = [...symbols.keys()].filter((name) => !grouped.includes(name));
  if (left.length > 0) throw new Error(`scripts/bot-api.mjs has no group for ${left.join(', ')}`);
  const gone = grouped.filter((name) => !symbols.has(name));
  if (gone.length > 0) throw new Error(`scripts/bot-api.mjs groups ${gone.join(', ')}, which parley-voice does not export`);

  const undocumented = [...symbols].filter(([, symbol]) => docsOf(checker, symbol).text === '').map(([name]) => name);
  if (undocumented.length > 0) throw new Error(`these exports of parley-voice have no doc comment: ${undocumented.join(', ')}`);

  const behind = new Map([...referencedTypes(checker, [...symbols.values()], NOT_SHOWN)].filter(([name]) => !symbols.has(name)));
  const all = new Map([...symbols, ...behind]);
  const entry = (/** @type {string} */ name) => entryOf(checker, name, all);
  const groups = GROUPS.map(([title, names]) => [`### ${title}`, ...names.map(entry)].join('\n\n'));
  const rest = ['### Types that appear in them', 'They cannot be imported and need not be.', ...[...behind.keys()].sort().map(entry)];
  return [...groups, rest.join('\n\n')].join('\n\n');
}

/**
 * @param {ts.TypeChecker} checker
 * @param {string} name
 * @param {ReadonlyMap<string, ts.Symbol>} all
 */
function entryOf(checker, name, all) {
  const symbol = all.get(name);
  if (symbol === undefined) throw new Error(`nothing is called ${name}`);
  const docs = docsOf(checker, symbol);
  // A type of which an alias shows all but some members: `Listen` beside `ListenOptions`.
  const alias = [...all].map(([known, other]) => ({ name: known, ...omissionOf(other) })).find(({ base }) => base === name);
  const declaration = OPAQUE.has(name) ? '' : ['```ts', declarationText(checker, symbol, name, alias), '```'].join('\n');
  const details = [
    ...docs.params.map(({ param, text }) => `- \`${param}\`: ${text}`),
    ...docs.throws.map((text) => `- Throws ${text}`),
    ...docs.returns.map((text) => `- Returns ${text}`),
  ].join('\n');
  // Perhaps a part of an object: the formatter would take it for statements.
  const examples = docs.examples.map((code) => `<!-- prettier-ignore -->\n\`\`\`ts\n${code}\n\`\`\``);
  return [`#### ${name}`, linked(docs.text, all), declaration, linked(details, all), ...examples]
    .filter((part) => part !== '')
    .join('\n\n');
}

/**
 * Links of doc comments as links of the page.
 *
 * @param {string} text
 * @param {ReadonlyMap<string, ts.Symbol>} all
 */
function linked(text, all) {
  return text.replace(/\{@link (?<name>\w+)(?<member>[.\w]*)\}/gu, (_, /** @type {string} */ name, /** @type {string} */ member) =>
    all.has(name) ? `[\`${name}${member}\`](#${name.toLowerCase()})` : `\`${name}${member}\``,
  );
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
  const link = path.posix.relative('docs', file);
  return { opening: [...opening, `([${link}](${link}))`].join(' '), code: lines.slice(start).join('\n').trim() };
}
