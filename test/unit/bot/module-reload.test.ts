import { execFile } from 'node:child_process';
import { mkdir, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/base/package-root.ts';
import { carriedUrl } from '../../../src/bot/reload-hooks.mjs';
import { removeFolder, writeFiles } from '../../support/bots-folder.ts';

const folders: string[] = [];

afterEach(async () => {
  await Promise.all(folders.splice(0).map(removeFolder));
});

const modules = (ext: string): Readonly<Record<string, string>> => ({
  [`lib/words.${ext}`]: `export { words } from './deep/words.${ext}';`,
  [`lib/deep/words.${ext}`]: "export const words = 'first';",
});

/** The same as CommonJS, with a package that can be loaded once and a file of the folder that nobody changes. */
const COMMON_JS: Readonly<Record<string, string>> = {
  'lib/words.cjs': "require('once'); exports.words = require('./deep/words.cjs').words + require('./end.json');",
  'lib/deep/words.cjs': "exports.words = 'first';",
  'lib/end.json': '""',
  'node_modules/once/index.js': "if (globalThis.isLoaded) throw new Error('loaded twice'); globalThis.isLoaded = true;",
};

/** A bot that imports a module, which imports a module; `parley-voice` and a counting one by an absolute name. */
async function folderOf(ext: 'ts' | 'mjs' | 'cjs'): Promise<string> {
  const cache = path.join(packageRoot(), 'cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(path.join(cache, 'reload-'));
  folders.push(folder);
  const typed = ext === 'ts' ? ': string' : '';
  await writeFiles(folder, {
    [`a.${ext === 'cjs' ? 'mjs' : ext}`]: [
      "import { bot, go, say } from 'parley-voice';",
      `import { words } from './lib/words.${ext}';`,
      `const welcome${typed} = words;`,
      "export default bot({ id: 'a', name: 'A', version: 1, session_start: () => go(null, say(welcome).listen()),",
      '  otherwise: () => go(null, say(welcome).listen()) });',
    ].join('\n'),
    ...(ext === 'cjs' ? COMMON_JS : modules(ext)),
  });
  return folder;
}

describe('a reloaded module', () => {
  it.each(['ts', 'mjs', 'cjs'] as const)(
    'takes the .%s modules of its folder with it, however deep, sees the same packages, and leaves the ones before as they were',
    async (ext) => {
      const folder = await folderOf(ext);
      const argv = [
        '--import',
        'tsx',
        '--conditions=@parley/source',
        'test/fixtures/reload/load-twice.ts',
        folder,
        `lib/deep/words.${ext}`,
      ];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, argv, { cwd: packageRoot(), timeout: 120_000 });
      expect({ said: JSON.parse(stdout) as unknown, stderr }).toEqual({
        said: { said: ['first', 'second', 'third', 'first'] },
        stderr: '',
      });
    },
    60_000,
  );

  it.each([
    ['./a.js', 'file:///b/i.js?parley-reload=2', 'file:///b/a.js', 'file:///b/a.js?parley-reload=2'],
    ['../a.js', 'file:///b/c/i.js?x=1&parley-reload=2', 'file:///b/a.js?y', 'file:///b/a.js?y=&parley-reload=2'],
    ['./a.js', 'file:///b/i.js', 'file:///b/a.js', 'file:///b/a.js'],
    ['./a.js', undefined, 'file:///b/a.js', 'file:///b/a.js'],
    ['parley-voice', 'file:///b/i.js?parley-reload=2', 'file:///src/bot/index.js', 'file:///src/bot/index.js'],
    ['zod', 'file:///b/i.js?parley-reload=2', 'file:///node_modules/zod/index.js', 'file:///node_modules/zod/index.js'],
    ['./a.js', 'file:///b/i.js?parley-reload=2', 'data:text/javascript,1', 'data:text/javascript,1'],
    ['./a.js', 'file:///b/i.js?is=parley-reload=2', 'file:///b/a.js', 'file:///b/a.js'],
  ])('%s imported by %s is loaded from its own generation', (specifier, parent, url, expected) => {
    expect(carriedUrl(specifier, parent, url)).toBe(expected);
  });
});
