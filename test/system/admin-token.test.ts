// `parley admin token inspect`: the verdict on tokens is the server's own, with and without the administration.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { REFUSAL_HINTS } from '../../src/auth/refusal.ts';
import { systemClock } from '../../src/base/clock.ts';
import { OTHER_FLAGS, runAdmin, type AdminEnd } from '../support/admin-command.ts';
import { ADDRESS, ORG, servedWorld, type ServedWorld } from '../support/admin-world.ts';
import { ParleyProcess } from '../support/parley-process.ts';
import { dataSource, RunningServer } from '../support/running-server.ts';

const INSPECT = ['token', 'inspect'];

/** A file that is gone after the test. */
function fileOf(text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-token-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const file = path.join(folder, 'token.txt');
  writeFileSync(file, text);
  return file;
}

/** Inspects a token that is piped in, and demands that neither it nor any secret of the world is shown. */
async function inspected(around: ServedWorld, token: string, ...argv: readonly string[]): Promise<AdminEnd> {
  const end = await runAdmin([...INSPECT, ...argv, ...around.flags], { person: { readInput: () => Promise.resolve(token) } });
  const secrets = [around.key, around.only().nonce, around.api.serviceApp.clientSecret, ...token.split('.')];
  for (const secret of secrets) expect(end.out + end.err).not.toContain(secret);
  return end;
}

function rows({ out }: AdminEnd): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    out.split('\n').map((line) => {
      const [name = '', value = ''] = line.split(/ {2,}/u);
      return [name, value] as const;
    }),
  );
}

it('accepts the token of a data source that the store knows, and shows its claims', async () => {
  const around = await servedWorld();
  const { id, jwsToken, tokenExpiryTime } = around.only();
  const end = await inspected(around, `Bearer ${jwsToken}\n`);
  expect(end).toMatchObject({ code: 0, err: '' });
  expect(rows(end)).toMatchObject({
    verdict: 'accepted',
    'speaks for': `organization ${ORG}, data source ${id}`,
    'held against': 'data sources: 0 of the settings, 1 of the store, 0 of the platform',
    transport: 'grpc',
    algorithm: 'RS256',
    issuer: around.issuer.issuer,
    audience: 'aud',
    subject: 'sub',
    url: ADDRESS,
    organization: ORG,
    expires: `${tokenExpiryTime.replace(/\.\d+Z$/u, 'Z')} (in 59 minutes)`,
    nonce: expect.stringMatching(/^its SHA-256 begins with [0-9a-f]{8}$/u) as string,
  });
  const json = await inspected(around, jwsToken, '--json');
  expect(JSON.parse(json.out)).toMatchObject({
    ...{ isAccepted: true, transport: 'grpc', heldAgainst: { settings: 0, store: 1, platform: 0 } },
    principal: { organizationId: ORG, dataSourceId: id, transport: 'grpc' },
    claims: { audience: 'aud', subject: 'sub', url: ADDRESS, organizationId: ORG },
  });
});

it('says why one is refused and what to do, with exit code 1', async () => {
  const around = await servedWorld();
  const refused = await inspected(around, await around.issuer.issueToken({ organizationId: ORG, url: 'https://elsewhere.example.test/' }));
  expect(refused.code).toBe(1);
  expect(rows(refused)).toMatchObject({ verdict: 'refused (url_mismatch)', 'what to do': REFUSAL_HINTS.url_mismatch });

  const old = await around.issuer.issueToken({}, systemClock.nowMs() - 48 * 3_600_000);
  const json = await inspected(around, old, '--json');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({ isAccepted: false, reason: 'expired', mend: REFUSAL_HINTS.expired });

  const none = await inspected(around, 'CANARY no token at all');
  expect(none.code).toBe(1);
  expect(rows(none)).toMatchObject({ verdict: 'refused (token_malformed)', claims: 'it cannot be read as a token' });
  expect(none.out).not.toContain('CANARY');
});

it('asks the platform when that is requested: what somebody changed there holds, and what is gone does not (L-05)', async () => {
  const around = await servedWorld();
  const { id, jwsToken: old } = around.only();
  const store = await around.openStore();
  const [key = ''] = await store.keys('data-sources/');
  await store.delete(key);
  await store.close();
  const asked = around.api.journal.entries.length;
  expect(rows(await inspected(around, old))['verdict']).toBe('refused (url_mismatch)');
  expect(around.api.journal.entries.length).toBe(asked);
  const accepted = await inspected(around, old, '--ask');
  expect(rows(accepted)).toMatchObject({
    verdict: 'accepted',
    'speaks for': `organization ${ORG}, data source ${id}`,
    'held against': 'data sources: 0 of the settings, 0 of the store, 1 of the platform',
  });
  expect(around.api.journal.count('PUT /dataSources/:id')).toBe(0);
});

it('takes no longer what the store knows when the platform has it no more (6.5)', async () => {
  const around = await servedWorld();
  const { jwsToken: token } = around.only();
  around.api.switches.onDeauthorization = 'delete';
  const { nonce } = around.only();
  around.api.deauthorize(ORG);
  around.api.authorize(ORG);
  const inspect = (...more: readonly string[]): Promise<AdminEnd> =>
    runAdmin([...INSPECT, ...more, '--token-file', fileOf(token), ...around.flags]);
  expect(rows(await inspect())['verdict']).toBe('accepted');
  const gone = await inspect('--ask');
  expect(rows(gone)['verdict']).toBe('refused (url_mismatch)');
  expect(gone.out).not.toContain(nonce);
});

it('works while a server holds the store, and with the administration off', async () => {
  const around = await servedWorld();
  const store = await around.openStore();
  expect((await inspected(around, around.only().jwsToken)).code).toBe(0);
  await store.close();

  const server = await RunningServer.start();
  const { issuer } = server;
  const flags = [
    `--platform.extra_issuers=${JSON.stringify([issuer.issuer])}`,
    `--auth.data_sources=${JSON.stringify([dataSource(issuer)])}`,
  ];
  const good = await runAdmin([...INSPECT, '--token-file', fileOf(await issuer.issueToken()), ...flags]);
  expect([good.code, good.err]).toEqual([0, '']);
  expect(rows(good)['held against']).toBe('data sources: 1 of the settings, 0 of the store, 0 of the platform');
  const bad = await runAdmin([...INSPECT, '--token-file', fileOf(await issuer.issueToken({ nonce: 'CANARY-other' })), ...flags]);
  expect([bad.code, rows(bad)['verdict']]).toEqual([1, 'refused (nonce_mismatch)']);
  expect(bad.out).not.toContain('CANARY');
  const open = await runAdmin([...INSPECT, '--token-file', fileOf(await issuer.issueToken()), ...flags, '--auth.enabled=false']);
  expect(open.err).toBe('auth.enabled is false: the server lets every call in, whatever its token\n');
  const asking = await runAdmin([...INSPECT, '--ask', '--token-file', fileOf('t'), ...flags]);
  expect(asking).toMatchObject({ code: 2, out: '', err: expect.stringContaining('the platform cannot be asked') as string });
  await server.close();
});

it('says what to do without a token', async () => {
  const around = await servedWorld();
  for (const argv of [[], ['--token-file', fileOf(' \n')]]) {
    const end = await runAdmin([...INSPECT, ...argv, ...around.flags]);
    expect(end).toMatchObject({ code: 2, out: '', err: expect.stringContaining('pipe one in, or name its file') as string });
  }
  const missing = await runAdmin([...INSPECT, '--token-file', '/nowhere/token.txt', ...around.flags]);
  expect(missing).toMatchObject({ code: 2, out: '', err: expect.stringContaining('/nowhere/token.txt cannot be read') as string });
});

it('reads the standard input, as a process of its own, and says no by its exit code', async () => {
  const around = await servedWorld();
  const { jwsToken, nonce } = around.only();
  const command = new ParleyProcess(
    ['admin', ...INSPECT, ...around.flags, ...OTHER_FLAGS],
    `${jwsToken.slice(0, -12)}CANARY12${jwsToken.slice(-4)}\n`,
  );
  onTestFinished(() => command.kill());
  expect(await command.ended()).toEqual({ code: 1, signal: null });
  expect(command.stdout).toMatch(/^verdict +refused \(signature_invalid\)$/mu);
  for (const secret of [nonce, 'CANARY', ...jwsToken.split('.')]) expect(command.stdout + command.stderr).not.toContain(secret);
});
