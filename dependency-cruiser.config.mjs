// Who may import whom, for `npm run check -- layers`. Nothing is decided here: layers.json orders the rooms, this file turns it into
// rules that dependency-cruiser understands. Types count as imports: a room must not even know another's shapes.
import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Layers
 * @property {string[][]} rows - top row first
 * @property {Record<string, string[]>} seenOnlyBy - room → the only rooms that may import it
 * @property {Record<string, string[]>} seesOnly - room → the only rooms it may import
 * @property {Record<string, string[]>} packagesOnlyIn - start of a package's name → the only folders or files that may import it
 * @property {string[]} consoleSees - the files of src/ whose types the pages of console/ may know: their API
 * @property {{ modules: string[], tests: string[] }} botDoors - what bot modules, and their tests, see of src/
 */

/** @type {Layers} */
export const layers = JSON.parse(readFileSync(new URL('layers.json', import.meta.url), 'utf8'));

/** @param {readonly string[]} rooms */
const roomsPath = (rooms) => `^src/(?:${rooms.map(escape).join('|')})/`;
/** @param {string} text */
const escape = (text) => text.replace(/[.*+?^${}()|[\]\\/]/gu, '\\$&');

const TEST_FILE = '\\.test\\.ts$';
/** How the tool calls an import by the name of the package itself. */
const BY_OWN_NAME = 'undetermined';

/**
 * @param {Layers} from
 * @returns {import('dependency-cruiser').IForbiddenRuleType[]}
 */
export function rulesOf({ rows, seenOnlyBy, seesOnly, packagesOnlyIn, consoleSees, botDoors }) {
  const rooms = rows.flat();
  return [
    ...rows
      .flatMap((row, index) =>
        row.map((room) => ({
          name: `row-of-${room}`,
          severity: /** @type {const} */ ('error'),
          comment: `${room} imports only the rows below its own (layers.json)`,
          from: { path: roomsPath([room]) },
          to: { path: roomsPath([...rows.slice(0, index).flat(), ...row].filter((other) => other !== room)) },
        })),
      )
      .filter(({ to }) => to.path !== roomsPath([])),
    ...Object.entries(seenOnlyBy).map(([room, viewers]) => ({
      name: `only-some-see-${room}`,
      severity: /** @type {const} */ ('error'),
      comment: `${room} is visible only to ${viewers.join(', ')}, also for types`,
      from: { path: '^(?:src|bots)/', pathNot: roomsPath([room, ...viewers]) },
      to: { path: roomsPath([room]) },
    })),
    ...Object.entries(seesOnly).map(([room, seen]) => ({
      name: `${room}-sees-little`,
      severity: /** @type {const} */ ('error'),
      comment: `${room} imports ${seen.join(', ')} and nothing else of ours`,
      from: { path: roomsPath([room]) },
      to: { path: '^(?:src|bots|test|scripts)/', pathNot: roomsPath([room, ...seen]) },
    })),
    ...Object.entries(packagesOnlyIn).map(([start, folders]) => ({
      name: `place-of-${start.replace(/[^a-z]/gu, '')}`,
      severity: /** @type {const} */ ('error'),
      comment: `packages ${start}… only in ${folders.join(', ')}`,
      from: { path: '^(?:src|bots)/', pathNot: folders.map((folder) => `^${escape(folder)}(?:/|$)`) },
      to: { path: `(?:^|node_modules/)${escape(start)}` },
    })),
    {
      name: 'room-unlisted',
      severity: 'error',
      comment: 'every file of src/ lies in a room of layers.json',
      from: {},
      to: { path: '^src/', pathNot: roomsPath(rooms) },
    },
    {
      name: 'bots-see-one-door',
      severity: 'error',
      comment: 'a bot module sees of ours only parley-voice',
      from: { path: '^bots/', pathNot: TEST_FILE },
      to: { path: '^(?:src|test|scripts)/', pathNot: botDoors.modules.map((file) => `^${escape(file)}$`) },
    },
    {
      name: 'bot-tests-see-two-doors',
      severity: 'error',
      comment: 'the test of a bot sees of ours only parley-voice and parley-voice/testing',
      from: { path: `^bots/.*${TEST_FILE}` },
      to: { path: '^(?:src|test|scripts)/', pathNot: botDoors.tests.map((file) => `^${escape(file)}$`) },
    },
    {
      name: 'bots-use-the-names-of-the-doors',
      severity: 'error',
      comment: 'bots write parley-voice, so that one module works from the source and from a build',
      from: { path: '^bots/' },
      to: { path: '^src/', dependencyTypesNot: [BY_OWN_NAME] },
    },
    {
      name: 'src-imports-by-place',
      severity: 'error',
      comment: 'inside src/ the import path is where the file lives; parley-voice is for bots',
      from: { path: '^src/' },
      to: { path: '^src/', dependencyTypes: [BY_OWN_NAME] },
    },
    {
      name: 'test-bench-stays-out',
      severity: 'error',
      comment: 'the test bench of bot authors is no part of the server; commands may try out a bot on it',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: botDoors.tests.filter((file) => !botDoors.modules.includes(file)).map((file) => `^${escape(file)}$`) },
    },
    {
      name: 'console-sees-its-api',
      severity: 'error',
      comment: `the pages know of the server ${consoleSees.join(', ')}`,
      from: { path: '^console/' },
      to: { path: '^(?:src|bots|test|scripts)/', pathNot: consoleSees.map((file) => `^${escape(file)}$`) },
    },
    {
      name: 'console-sees-types-alone',
      severity: 'error',
      comment: 'the pages take types from the server and no code',
      from: { path: '^console/' },
      to: { path: '^src/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'src-needs-nothing-outside',
      severity: 'error',
      comment: 'src/ is what gets built: it imports no test, script, page or bot',
      from: { path: '^src/' },
      to: { path: '^(?:test|scripts|bots|console)/' },
    },
    {
      name: 'production-packages-only',
      severity: 'error',
      comment: 'what runs in production must be in dependencies of package.json, or be a peer that whoever wants it installs',
      from: { path: '^(?:src|bots)/', pathNot: TEST_FILE },
      to: { pathNot: '^src/', dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'undetermined'], dependencyTypesNot: ['npm-peer'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'no cycles, of types neither; generated messages may hold each other',
      from: { pathNot: '^src/contract/gen/' },
      to: { circular: true },
    },
    {
      name: 'nothing-unresolved',
      severity: 'error',
      comment: 'an import that cannot be followed cannot be checked',
      from: {},
      to: { couldNotResolve: true },
    },
  ];
}

/** What both `npm run check -- layers` and test/rules/layers.test.ts cruise with. */
export const options = {
  doNotFollow: { path: 'node_modules' },
  // Types are erased before the program runs, but not before it is understood.
  tsPreCompilationDeps: true,
  enhancedResolveOptions: {
    exportsFields: ['exports'],
    conditionNames: ['@parley/source', 'import', 'node', 'default', 'types'],
    extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.d.ts'],
  },
};

/** @type {import('dependency-cruiser').IConfiguration} */
export default { forbidden: rulesOf(layers), options };
