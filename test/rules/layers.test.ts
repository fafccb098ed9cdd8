// The rooms of src/ against layers.json, and every import against the rules made from it. A folder nobody listed would pass
// all rules, and a cruise that finds no module passes too: both fail here.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layers, options, rulesOf } from '../../dependency-cruiser.config.mjs';

const ROOT = path.join(import.meta.dirname, '../..');

async function cruised(baseDir: string): Promise<ICruiseResult> {
  const ruleSet = { forbidden: rulesOf(layers), options };
  const { output } = await cruise(['src', 'bots', 'console'], { ...options, baseDir, validate: true, ruleSet });
  if (typeof output === 'string') throw new Error(`dependency-cruiser reported text instead of a result: ${output}`);
  return output;
}

describe('the rooms of src/', () => {
  it('are exactly those that layers.json lists, each once', async () => {
    const entries = await readdir(path.join(ROOT, 'src'), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const listed = layers.rows.flat();
    expect([...listed].sort()).toEqual(folders.sort());
    expect(new Set(listed).size).toBe(listed.length);
    // A file beside the rooms would be in none of them.
    expect(entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)).toEqual([]);
  });

  it('are all that the special lines of layers.json speak of', () => {
    const named = [...Object.entries(layers.seenOnlyBy), ...Object.entries(layers.seesOnly)].flatMap(([room, others]) => [room, ...others]);
    expect(named.filter((room) => !layers.rows.flat().includes(room))).toEqual([]);
  });

  it('import each other only as layers.json says, and every module was looked at', async () => {
    const { modules, summary } = await cruised(ROOT);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
    const own = modules.map(({ source }) => source).filter((source) => /^(?:src|bots|console)\/.*\.(?:m?[jt]s|tsx)$/u.test(source));
    const onDisk = await Promise.all(['src', 'bots', 'console'].map((folder) => readdir(path.join(ROOT, folder), { recursive: true })));
    expect(own.length).toBeGreaterThan(0);
    expect(own.length).toBe(onDisk.flat().filter((file) => /\.(?:m?[jt]s|tsx)$/u.test(file)).length);
    // An import that is not followed breaks no rule: the one lazy import must have been followed.
    const bots = modules.filter(({ source }) => source.startsWith('bots/'));
    expect(bots.flatMap(({ dependencies }) => dependencies.map(({ resolved }) => resolved))).toContain('src/bot/index.ts');
  });
});

/** File with what it imports, and the rule that must object. */
const PLANTED = [
  ['src/session/above.ts', '../app/wiring.ts', 'row-of-session'],
  ['src/store/beside.ts', '../voice/prompt.ts', 'row-of-store'],
  ['src/base/above.ts', '../dialog/call.ts', 'row-of-base'],
  ['src/telemetry/wire.ts', '../contract/grpc.ts', 'only-some-see-contract'],
  ['src/app/caller.ts', '../fake-platform/caller/caller.ts', 'only-some-see-fake-platform'],
  ['src/fake-platform/agreeing.ts', '../dialog/call.ts', 'fake-platform-sees-little'],
  ['src/transport/ws.ts', '@grpc/grpc-js', 'place-of-grpc'],
  ['src/cli/attic.ts', '../attic/box.ts', 'room-unlisted'],
  ['bots/nosy.ts', '../src/session/turn.ts', 'bots-see-one-door'],
  ['bots/benched.ts', 'parley-voice/testing', 'bots-see-one-door'],
  ['bots/nosy.test.ts', '../src/session/turn.ts', 'bot-tests-see-two-doors'],
  ['bots/relative.ts', '../src/bot/index.ts', 'bots-use-the-names-of-the-doors'],
  ['src/app/through-the-door.ts', 'parley-voice', 'src-imports-by-place'],
  ['src/app/bench.ts', '../bot/testing.ts', 'test-bench-stays-out'],
  ['src/app/lab.ts', '../../test/support/lab.ts', 'src-needs-nothing-outside'],
  ['console/nosy.tsx', '../src/app/wiring.ts', 'console-sees-its-api'],
  ['src/app/page.ts', '../../console/page.tsx', 'src-needs-nothing-outside'],
  ['src/base/dev-only.ts', 'vitest', 'production-packages-only'],
  ['src/base/undeclared.ts', 'nobody-declared-this', 'nothing-unresolved'],
] as const;

/** What the planted imports lead to, and imports nobody may object to. */
const SOUND = {
  'package.json': JSON.stringify({
    type: 'module',
    name: 'parley-voice',
    exports: { '.': { '@parley/source': './src/bot/index.ts' }, './testing': { '@parley/source': './src/bot/testing.ts' } },
    devDependencies: { vitest: '1.0.0' },
  }),
  'node_modules/vitest/package.json': JSON.stringify({ name: 'vitest', version: '1.0.0', main: 'index.js' }),
  'node_modules/vitest/index.js': '',
  'node_modules/@grpc/grpc-js/package.json': JSON.stringify({ name: '@grpc/grpc-js', version: '1.0.0', main: 'index.js' }),
  'node_modules/@grpc/grpc-js/index.js': '',
  'test/support/lab.ts': 'export type Lab = string;',
  'src/app/wiring.ts': "import type { Turn } from '../session/turn.ts'; export type Wiring = Turn;",
  'src/attic/box.ts': 'export type Box = string;',
  'src/base/errors.ts': 'export type Problem = string;',
  'src/bot/index.ts': "export type { Call } from '../dialog/call.ts';",
  'src/bot/testing.ts': "export type { Call } from './index.ts';",
  'src/contract/grpc.ts': 'export type Wire = string;',
  'src/dialog/call.ts': "import type { Problem } from '../base/errors.ts'; export type Call = Problem;",
  'src/fake-platform/caller/caller.ts': "import type { Wire } from '../../contract/grpc.ts'; export type Caller = Wire;",
  'src/cli/call.ts': "import type { Caller } from '../fake-platform/caller/caller.ts'; export type Command = Caller;",
  'src/session/turn.ts': "import type { Call } from '../dialog/call.ts'; export type Turn = Call;",
  'src/voice/prompt.ts': 'export type PromptAudio = string;',
  'src/dialog/call-view.ts': 'export const PARTS = 1; export interface CallView { readonly form: 1 }',
  'console/page.tsx': "import type { CallView } from '../src/dialog/call-view.ts'; export type Page = CallView;",
  'bots/good.ts': "import type { Call } from 'parley-voice'; export type State = Call;",
  'bots/good.test.ts': "import 'vitest'; import type { Call } from 'parley-voice/testing'; export type State = Call;",
};

describe('a planted violation', () => {
  let root = '';
  let found: ReadonlySet<string> = new Set();

  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'parley-layers-'));
    const files: [string, string][] = Object.entries(SOUND);
    // Types only, so that it is also shown that types count.
    for (const [file, specifier] of PLANTED) files.push([file, `import type { X } from '${specifier}'; export type Y = X;`]);
    files.push(['console/code.tsx', "import { PARTS } from '../src/dialog/call-view.ts'; export const parts = PARTS;"]);
    files.push(['src/dialog/a.ts', "import type { B } from './b.ts'; export type A = B | undefined;"]);
    files.push(['src/dialog/b.ts', "import type { A } from './a.ts'; export type B = A[];"]);
    for (const [file, text] of files) {
      await mkdir(path.join(root, path.dirname(file)), { recursive: true });
      await writeFile(path.join(root, file), text);
    }
    const { summary } = await cruised(root);
    found = new Set(summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`));
  });

  afterAll(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it.each(PLANTED)('%s imports %s and is found by %s', (file, _specifier, rule) => {
    expect(found).toContain(`${rule}: ${file}`);
  });

  it('that takes code of the server into a page is found', () => {
    expect(found).toContain('console-sees-types-alone: console/code.tsx');
  });

  it('that is a cycle of types is found', () => {
    expect(found).toContain('no-cycles: src/dialog/a.ts');
  });

  it('is the only thing found: sound imports pass', () => {
    const planted = new Set([...PLANTED.map(([file]) => file), 'src/dialog/a.ts', 'console/code.tsx', 'src/dialog/b.ts']);
    expect([...found].filter((entry) => !planted.has(entry.split(': ')[1] ?? ''))).toEqual([]);
  });
});
