import { mkdtemp, mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadBots, loadFolder } from '../../../src/bot/loader.ts';

const door = new URL('../../../src/bot/index.ts', import.meta.url).href;
const module = (id: string) =>
  `import { bot, go, listen } from ${JSON.stringify(door)};\n` +
  `export default bot({ id: '${id}', name: '${id}', version: 1, session_start: () => go(null, listen()), otherwise: () => go(null, listen()) });\n`;

async function folder(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'parley-bots-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  return root;
}

describe('loadBots', () => {
  it('loads files and folders with an index, and leaves tests, types, prompts and hidden folders alone', async () => {
    const root = await folder({
      'one.mjs': module('one'),
      'two/index.mjs': module('two'),
      'one.test.mjs': 'throw new Error("a test must not be loaded");',
      'one.d.ts': '',
      'prompts/index.mjs': 'throw new Error("prompts are no bots");',
      '.hidden/index.mjs': 'throw new Error("hidden");',
      'notes.txt': '',
      'empty/readme.md': '',
    });
    expect((await loadBots(root)).map(({ id }) => id)).toEqual(['one', 'two']);
  });

  it('names every module that is no bot or does not load', async () => {
    const root = await folder({ 'a.mjs': 'export default 1;', 'b.mjs': 'throw new Error("broken at line 1");', 'c.mjs': module('c') });
    await expect(loadBots(root)).rejects.toMatchObject({
      code: 'bot_invalid',
      message: expect.stringMatching(/a\.mjs: .*no bot[\s\S]*b\.mjs: broken/) as unknown,
    });
  });

  it('refuses a folder without bots and a folder that is not there', async () => {
    await expect(loadBots(await folder({}))).rejects.toMatchObject({ code: 'bot_invalid' });
    await expect(loadBots('/nowhere/at/all')).rejects.toMatchObject({ code: 'bot_invalid' });
  });
});

describe('loadFolder', () => {
  it('says for every bad module where it is bad and how to mend it, and loads the good ones', async () => {
    const root = await folder({
      'good.mjs': module('good'),
      'same.mjs': module('good'),
      'number.mjs': 'export default 1;',
      'throws.mjs': 'const list = undefined;\nlist.push(1);',
      'needs/index.mjs': 'import "./rates.mjs";',
      'needs/rates.mjs': '\n\nthrow new Error("no rates");',
      'hangs.mjs': 'await new Promise(() => undefined);',
      'odd.mjs': 'throw 7;',
    });
    const { modules, problems } = await loadFolder(root, { limitMs: 500 });
    expect(modules).toMatchObject([{ file: 'good.mjs', bot: { id: 'good' } }]);
    const found = Object.fromEntries(problems.map(({ file, problem, mend }) => [file, [problem, mend]]));
    expect(found).toEqual({
      'same.mjs': ['its id "good" is the id of good.mjs', expect.stringContaining('another id')],
      'number.mjs': ['the default export is no bot', expect.stringContaining('export default bot({...})')],
      'throws.mjs': [expect.stringContaining('push'), 'look at throws.mjs:2'],
      'needs/index.mjs': ['no rates', 'look at needs/rates.mjs:3'],
      'hangs.mjs': ['it was not loaded within 500 ms', expect.stringContaining('session_start')],
      'odd.mjs': ['rejected without an error', 'mend what the message says'],
    });
  });
});
