import { mkdtemp, mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadBots } from '../../../src/bot/loader.ts';

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
