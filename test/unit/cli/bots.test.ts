import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/base/package-root.ts';
import { botsCommand } from '../../../src/cli/bots.ts';
import { botModule, makeFolder, removeFolder } from '../../support/bots-folder.ts';

let exitCode: typeof process.exitCode;
const folders: string[] = [];

beforeEach(() => {
  exitCode = process.exitCode;
});

afterEach(async () => {
  process.exitCode = exitCode;
  await Promise.all(folders.splice(0).map(removeFolder));
});

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await makeFolder(files);
  folders.push(folder);
  return folder;
}

/** A folder where `parley-voice` is resolved; the test runner does not look there by itself. */
async function folderInside(): Promise<string> {
  const cache = path.join(packageRoot(), 'cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(path.join(cache, 'bots-'));
  folders.push(folder);
  return folder;
}

async function run(...argv: readonly string[]): Promise<{ out: string; err: string; code: unknown; left: number }> {
  let out = '';
  let err = '';
  let left = 0;
  process.exitCode = undefined;
  const command = botsCommand(() => (left += 1)).exitOverride();
  for (const part of [command, ...command.commands]) {
    part.configureOutput({ writeOut: (text) => (out += text), writeErr: (text) => (err += text) });
  }
  await command.parseAsync(argv, { from: 'user' });
  return { out, err, code: process.exitCode, left };
}

describe('parley bots list', () => {
  const ORGANIZATIONS = JSON.stringify([
    { organization_id: 'org-a', bots: ['one', 'two'], default_bot: 'two' },
    { organization_id: 'org-b', bots: ['one'] },
  ]);

  it('shows who sees which bot', async () => {
    const folder = await folderOf({ 'one.mjs': botModule('one'), 'two/index.mjs': botModule('two', 'turn_ended: () => undefined') });
    const { out, code, left } = await run(
      ...['list', '--folder', folder, '--bots.default_bot=one', '--bots.others=none', `--bots.organizations=${ORGANIZATIONS}`],
    );
    expect(out.split('\n').map((line) => line.split(/ {2,}/u).slice(0, 5))).toEqual([
      ['ID', 'NAME', 'VERSION', 'DEFAULT', 'ORGANIZATIONS'],
      ['one', 'Bot one', '1', 'org-b', 'org-a, org-b'],
      ['two', 'Bot two', '1', 'org-a', 'org-a'],
      [''],
    ]);
    expect(out).toContain('turn_ended');
    expect({ code, left }).toEqual({ code: undefined, left: 1 });
  });

  it('prints JSON for programs', async () => {
    const folder = await folderOf({ 'one.mjs': botModule('one'), 'two.mjs': botModule('two') });
    const { out } = await run('list', '--json', '--folder', folder, '--bots.default_bot=one', `--bots.organizations=${ORGANIZATIONS}`);
    expect(JSON.parse(out)).toMatchObject([
      { id: 'one', version: 1, isDefault: true, isForOthers: true, organizations: ['org-a', 'org-b'], defaultOf: ['org-b'] },
      { id: 'two', version: 1, isDefault: false, isForOthers: true, organizations: ['org-a'], defaultOf: ['org-a'] },
    ]);
  });

  it('needs neither certificate nor secrets of the configuration', async () => {
    const example = path.join(packageRoot(), 'config/example.production.yaml');
    expect((await run('list', '--config', example)).out).toMatch(/^front-desk .* yes /mu);
  });

  it('fails with the mistakes when a setting or a module is wrong, and leaves all the same', async () => {
    const folder = await folderOf({ 'one.mjs': botModule('one') });
    await expect(run('list', '--folder', folder, '--bots.default_bot=two')).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(run('list', '--folder', await folderOf({ 'a.mjs': 'export {};' }))).rejects.toMatchObject({ code: 'bot_invalid' });
  });
});

describe('parley bots check', () => {
  it('says ok for every bundled bot', async () => {
    const { out, code, left } = await run('check');
    expect(out).toMatch(/^ok +code-line +code-line\.ts\n/mu);
    expect(JSON.parse(out.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ ok: true, bots: 6, problems: [] });
    expect({ code, left }).toEqual({ code: undefined, left: 1 });
  });

  it('lists every problem with its file and what to do, and goes on to the next module', async () => {
    const folder = await folderOf({
      'fine.mjs': botModule('fine'),
      'broken.mjs': 'export default nonsense;',
      'silent.mjs': botModule('silent', '\n  no_input: () => { throw new Error("not today"); },\n  dtmf_input: () => 7,'),
      'mute.mjs': botModule('mute', 'session_start: () => go(null, play("no-such-4.wav").listen()),'),
      'slow.mjs': botModule('slow', 'speech_input: () => new Promise(() => undefined),'),
      'gone.mjs': botModule('gone', 'session_start: () => go(null, say("Bye.").end()),'),
    });
    const { out, code } = await run('check', '--folder', folder, '--turns.deadline_ms=100');
    expect(code).toBe(1);
    const last = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '') as { problems: { file: string; problem: string; mend: string }[] };
    expect(last).toMatchObject({ ok: false, bots: 5 });
    expect(last.problems.map(({ file, problem, mend }) => `${file} | ${problem} | ${mend}`)).toEqual([
      expect.stringMatching(/^broken\.mjs \| nonsense is not defined \| look at broken\.mjs:1$/u),
      expect.stringMatching(/^mute\.mjs \| .*no-such-4\.wav.* does not exist \| put the recording into the prompts folder/u),
      expect.stringMatching(/^silent\.mjs \| no_input: .*threw: not today \| look at silent\.mjs:4$/u),
      expect.stringMatching(/^silent\.mjs \| dtmf_input: .* \| mend this handler$/u),
      expect.stringMatching(/^slow\.mjs \| speech_input with a text: there was no answer within 100 ms/u),
      expect.stringMatching(/^slow\.mjs \| speech_input without a text: there was no answer within 100 ms/u),
      expect.stringMatching(/^slow\.mjs \| speech_input with a recognizer that failed: there was no answer within 100 ms/u),
    ]);
    expect(out).toMatch(/^BAD +mute +mute\.mjs$/mu);
    expect(out).toMatch(/^ok +gone +gone\.mjs$/mu);
  });

  it('warns of each bot that answers speech where nothing recognizes words, unless it wants none', async () => {
    const speech = 'speech_input: () => go(null, say("Yes?").listen()),';
    const folder = await folderOf({
      'words.mjs': botModule('words', speech),
      'sound.mjs': botModule('sound', `recognition: 'none', ${speech}`),
      'keys.mjs': botModule('keys'),
    });
    const { out, code } = await run('check', '--folder', folder);
    const last = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '') as { warnings: string[] };
    expect([code, last.warnings]).toEqual([undefined, [expect.stringMatching(/^words answers speech and gets no words/u)]]);
    const heard = await run('check', '--folder', folder, '--recognizer.engine=command', '--recognizer.command=["true"]');
    expect(heard.out).toContain('"warnings":[]');
  });

  it('warns of each bot whose language the embedded voice cannot speak', async () => {
    const folder = await folderOf({
      'en.mjs': botModule('en', "language: 'en-GB',"),
      'es.mjs': botModule('es', "language: 'es',"),
    });
    const { out } = await run('check', '--folder', folder);
    const last = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '') as { warnings: string[] };
    expect(last.warnings).toEqual([expect.stringMatching(/^es speaks another language/u)]);
    expect((await run('check', '--folder', folder, '--synthesizer.engine=none')).out).toContain('"warnings":[]');
  });

  it('says that it runs the handlers for real, and runs none with --load-only', async () => {
    const folder = await folderOf({ 'bad.mjs': botModule('bad', 'session_start: () => { throw new Error("ran"); },') });
    const [ran, loaded] = [await run('check', '--folder', folder), await run('check', '--folder', folder, '--load-only')];
    expect([ran.code, ran.out]).toEqual([1, expect.stringContaining('what they ask or change over the network is real')]);
    expect([loaded.code, loaded.out]).toEqual([undefined, expect.not.stringContaining('is real')]);
  });

  it('counts a setting that names an unknown bot, and an empty folder, as problems', async () => {
    const wrong = await run('check', '--folder', await folderOf({ 'one.mjs': botModule('one') }), '--bots.default_bot=two');
    expect(wrong).toMatchObject({ code: 1, out: expect.stringContaining('bots.default_bot = two') as unknown });
    const empty = await run('check', '--folder', await folderOf({}));
    expect(empty).toMatchObject({ code: 1, out: expect.stringContaining('parley bots new') as unknown });
  });
});

describe('parley bots new', () => {
  it('writes a bot that passes its own test, the compiler, the formatter and the check', async () => {
    const folder = await folderInside();
    const { out, code } = await run('new', 'night-line', '--folder', folder);
    expect(code).toBeUndefined();
    expect(await readdir(folder)).toEqual(['night-line.test.ts', 'night-line.ts']);
    expect(out).toContain(`npm test -- ${path.join(folder, 'night-line.test.ts')}`);
    expect(await readFile(path.join(folder, 'night-line.ts'), 'utf8')).toContain("name: 'Night line'");

    const checked = await run('check', '--folder', folder);
    expect(checked.out).toContain('{"ok":true,"bots":1,"problems":[],"warnings":[]}');
    const inPackage = { cwd: packageRoot(), timeout: 120_000 };
    const tool = promisify(execFile);
    const bin = (name: string) => path.join(packageRoot(), 'node_modules/.bin', name);
    const files = ['night-line.ts', 'night-line.test.ts'].map((name) => path.join(folder, name));
    const tsconfig = path.join(folder, 'tsconfig.json');
    await writeFile(tsconfig, JSON.stringify({ extends: path.join(packageRoot(), 'tsconfig.json'), include: ['.'], exclude: [] }));
    await Promise.all([
      tool(bin('vitest'), ['run', '--project=unit', '--root', folder, '--config', path.join(packageRoot(), 'vitest.config.ts')], inPackage),
      tool(bin('oxfmt'), ['--check', '--config', path.join(packageRoot(), '.oxfmtrc.json'), ...files], inPackage),
      tool(path.join(packageRoot(), 'node_modules/typescript-native/bin/tsc'), ['-p', tsconfig], inPackage),
    ]);
  }, 180_000);

  it('overwrites nothing and leaves nothing half done', async () => {
    const folder = await folderInside();
    await writeFile(path.join(folder, 'hello.test.ts'), 'mine');
    const { err, out, code } = await run('new', 'hello', '--folder', folder);
    expect({ out, code }).toEqual({ out: '', code: 1 });
    expect(err).toContain('hello.test.ts is there already');
    expect(await readdir(folder)).toEqual(['hello.test.ts']);
    expect(await readFile(path.join(folder, 'hello.test.ts'), 'utf8')).toBe('mine');
  });

  it.each(['Hello', 'hello.world', '-x', 'a/b', '../up', 'x'.repeat(65), 'ä'])('refuses the id %s', async (id) => {
    const folder = await folderInside();
    await expect(run('new', '--folder', folder, '--', id)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('lower-case') as unknown,
    });
    expect(await readdir(folder)).toEqual([]);
  });
});
