// The report of old packages, with a registry of the test's own and with none.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { ROOT } from '../../support/source-tree.ts';

const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<
  string,
  Record<string, string>
>;
const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

function report(
  registry: string,
  ...names: readonly string[]
): Promise<{ readonly isOk: boolean; readonly stdout: string; readonly stderr: string }> {
  const cache = mkdtempSync(path.join(tmpdir(), 'parley-npm-'));
  onTestFinished(() => {
    rmSync(cache, { recursive: true, force: true });
  });
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, npm_config_registry: registry, npm_config_cache: cache, npm_config_fetch_retries: '0' };
  const argv = ['scripts/check.mjs', 'dependencies', ...names];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { cwd: ROOT, env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ isOk: error === null, stdout, stderr });
    });
  });
}

/** A package as a registry shows it. */
function packument(name: string, ages: Readonly<Record<string, number>>): object {
  const versions = Object.fromEntries(Object.keys(ages).map((version) => [version, { name, version, dist: {} }]));
  const time = Object.fromEntries(Object.entries(ages).map(([version, days]) => [version, daysAgo(days)]));
  return { name, 'dist-tags': { latest: Object.keys(ages).at(-1) }, versions, time };
}

describe('the report of old packages', () => {
  it('says how old each is, and how far the newest one is ahead, the most outdated first', async () => {
    const native = (devDependencies?.['typescript-native'] ?? '').replace('npm:typescript@', '');
    const packages: Readonly<Record<string, object>> = {
      '/yaml': packument('yaml', { [dependencies?.['yaml'] ?? '']: 100, '99.0.0': 10 }),
      '/typescript': packument('typescript', { [native]: 30 }),
    };
    const server = createServer(({ url = '' }, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(packages[url] ?? {}));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => {
      server.close();
    });
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const { isOk, stdout, stderr } = await report(`http://127.0.0.1:${String(port)}/`, 'yaml', 'typescript-native');
    expect(stderr).toContain(
      `yaml ${dependencies?.['yaml'] ?? ''}, 100 days old; 99.0.0 came 90 days later\ntypescript-native ${native}, 30 days old\n`,
    );
    expect([isOk, JSON.parse(stdout)]).toEqual([true, { ok: true, dependencies: 2, behind: 1, oldestDays: 100 }]);
  });

  it('says that the registry does not answer, and fails', async () => {
    const { isOk, stdout } = await report(`http://127.0.0.1:${String(await freePort())}/`, 'yaml');
    expect([isOk, JSON.parse(stdout)]).toEqual([false, { ok: false, unreachable: 'ECONNREFUSED' }]);
  });
});
