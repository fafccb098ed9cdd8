// scripts/check.mjs in a project of its own whose steps do what the test wants, and the reporter in a real test run.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../support/source-tree.ts';

const REPORT = { passed: 5, failed: [] as string[], skipped: [] as { test: string; reason?: string }[], problems: [] as string[] };

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'parley-check-'));
  onTestFinished(() => {
    rmSync(made, { recursive: true, force: true });
  });
  return made;
}

/** Runs the check in a project where every step passes, except for what `steps` says. */
function check(steps: Readonly<Record<string, string>>, args: readonly string[] = [], report: object | null = REPORT): Outcome {
  const root = folder();
  for (const place of ['scripts', 'src/contract/gen']) mkdirSync(path.join(root, place), { recursive: true });
  writeFileSync(path.join(root, 'src/contract/gen/message.ts'), 'as committed');
  for (const file of ['check.mjs', 'commands.mjs']) cpSync(path.join(ROOT, 'scripts', file), path.join(root, 'scripts', file));
  const codes = JSON.stringify({ oxfmt: Number(steps['format'] ?? 0) });
  writeFileSync(
    path.join(root, 'scripts/with-packages.mjs'),
    `process.exitCode = ${codes}[process.argv[2]] ?? 0;\nexport const run = undefined;`,
  );
  const text = JSON.stringify(report);
  const test = `require('node:fs').writeFileSync(process.env.TEST_REPORT_FILE, ${JSON.stringify(text)})`;
  writeFileSync(path.join(root, 'test.cjs'), report === null ? '' : test);
  const fine = Object.fromEntries(['generate', 'lint', 'types'].map((name) => [name, 'exit 0 #']));
  // A stand-in for npm, which takes half a second to start: `npm run --silent NAME -- ARGUMENT…`.
  mkdirSync(path.join(root, 'bin'));
  writeFileSync(path.join(root, 'bin/npm'), '#!/bin/sh\nname=$3\nshift 4\nexec sh -c "$(cat "scripts/$name.sh") $*"\n', { mode: 0o755 });
  for (const [name, script] of Object.entries({ ...fine, test: 'node test.cjs', ...steps })) {
    writeFileSync(path.join(root, `scripts/${name}.sh`), script);
  }
  const env = { ...process.env, PATH: `${path.join(root, 'bin')}:${process.env['PATH'] ?? ''}` };
  return spawnSync(process.execPath, ['scripts/check.mjs', ...args], { cwd: root, encoding: 'utf8', env });
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

describe('npm run check', () => {
  it('counts every passed step but the test run, and every test', () => {
    const { status, stdout } = check({});
    expect({ status, last: lastLine(stdout) }).toEqual({ status: 0, last: '11 passed, 0 failed' });
  });

  it('runs the other steps after one failed, shows its output and how to mend it', () => {
    const { status, stdout } = check({ lint: 'echo a missing await; exit 1 #', types: 'exit 2 #' });
    expect({ status, last: lastLine(stdout) }).toEqual({ status: 1, last: '9 passed, 2 failed' });
    expect(stdout).toContain('a missing await');
    expect(stdout).toContain('lint failed; to mend: npm run lint');
  });

  it('fails when generated files are not what was committed', () => {
    const { status, stdout } = check({ generate: 'echo other > src/contract/gen/message.ts #' }, ['generate']);
    expect({ status, last: lastLine(stdout) }).toEqual({ status: 1, last: '0 passed, 1 failed' });
    expect(stdout).toContain('src/contract/gen/message.ts');
  });

  it('names skipped tests with their reason and counts them as neither', () => {
    const { status, stdout } = check({}, ['test'], { ...REPORT, skipped: [{ test: 'a.test.ts > hears', reason: 'sox missing' }] });
    expect({ status, last: lastLine(stdout) }).toEqual({ status: 0, last: '5 passed, 0 failed' });
    expect(stdout).toMatch(/1 tests were skipped:\n +a\.test\.ts > hears\n +sox missing/u);
  });

  it('counts a test skipped without a reason, a failed one and a problem of a file as failed', () => {
    const { status, stdout } = check({}, ['test'], {
      passed: 5,
      failed: ['a > b'],
      skipped: [{ test: 'c > d' }],
      problems: ['e.test.ts: broken'],
    });
    expect({ status, last: lastLine(stdout) }).toEqual({ status: 1, last: '5 passed, 3 failed' });
    for (const line of ['a > b', 'c > d (skipped without a reason)', 'e.test.ts: broken']) expect(stdout).toContain(line);
  });

  it.each([
    ['the test run leaves no report', null, 'node test.cjs'],
    ['no test ran', { ...REPORT, passed: 0 }, 'node test.cjs'],
    ['the test run ends with an error of its own', REPORT, 'node test.cjs && exit 3 #'],
  ])('fails when %s', (_title, report, test) => {
    const { status, stdout } = check({ test }, ['test'], report);
    expect(status).toBe(1);
    expect(lastLine(stdout)).toMatch(/^\d passed, 1 failed$/u);
  });

  it('prints JSON and nothing else on stdout when asked for it', () => {
    const { status, stdout, stderr } = check({ lint: 'exit 1 #' }, ['lint', 'types', '--json']);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      passed: 1,
      failed: 1,
      steps: [
        { name: 'lint', failed: 1 },
        { name: 'types', failed: 0 },
      ],
    });
    expect(stderr).toContain('lint failed');
  });

  it('says which steps there are when asked for another one', () => {
    const { status, stderr } = check({}, ['lnit']);
    expect(status).toBe(2);
    expect(stderr).toContain('there is no step or check lnit');
    expect(stderr).toContain('npm run check -- walk');
  });

  it('explains itself with an example', () => {
    const { status, stdout } = check({}, ['--help']);
    expect(status).toBe(0);
    expect(stdout).toContain('npm run check -- lint types');
  });
});

describe('the reporter of the check', () => {
  it('reports passed, failed, skipped with its reason, and everything that broke', () => {
    const root = folder();
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
    const files = {
      'some.test.ts': `
        import { describe, expect, it } from 'vitest';
        it('passes', () => {});
        it('fails', () => { expect(1).toBe(2); });
        it('is skipped', (context) => { context.skip('sox missing'); });
        it.skip('is switched off', () => {});
      `,
      'hook.test.ts': `
        import { beforeAll, describe, it } from 'vitest';
        describe('suite', () => { beforeAll(() => { throw new Error('no server'); }); it('is not reached', () => {}); });
      `,
      'import.test.ts': "import './nowhere.ts';",
      'late.test.ts': "import { it } from 'vitest'; it('forgets', () => { void Promise.reject(new Error('nobody waits')); });",
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, name), text);
    const report = path.join(root, 'report.json');
    const args = ['run', '--root', root, `--reporter=${path.join(ROOT, 'scripts/test-report.mjs')}`];
    const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
    const { status } = spawnSync(process.execPath, [vitest, ...args], { cwd: root, env: { ...process.env, TEST_REPORT_FILE: report } });
    expect(status).toBe(1);
    const told: unknown = JSON.parse(readFileSync(report, 'utf8'));
    expect(told).toEqual({
      passed: 2,
      failed: ['some.test.ts > fails'],
      skipped: [{ test: 'some.test.ts > is skipped', reason: 'sox missing' }, { test: 'some.test.ts > is switched off' }],
      problems: [
        'unhandled: nobody waits',
        expect.stringMatching(/^hook\.test\.ts > suite: no server/u),
        expect.stringMatching(/^import\.test\.ts: .*nowhere/su),
      ],
    });
  });
});
