// What an operator is told of organizations that authorize the service app or take that back: by a line of the log, a program,
// an address, and code of whoever starts the server.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { AuthorizationResult } from '../../src/admin/webhooks/authorization-result.ts';
import { adminSurroundings } from '../support/admin-surroundings.ts';
import { json } from '../support/admin-server.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { speechService } from '../support/speech-service.ts';
import { until } from '../support/until.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u) as string;

/** A program that writes down what it is given: its environment and its standard input, one line for each run. */
function noting(): { readonly command: readonly string[]; readonly runs: () => readonly unknown[] } {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-hook-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const [program, notes] = [path.join(folder, 'hook.mjs'), path.join(folder, 'notes')];
  const text = `import { appendFileSync, readFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(notes)}, JSON.stringify([process.env, JSON.parse(readFileSync(0, 'utf8'))]) + '\\n');`;
  writeFileSync(program, text);
  // What stands behind the last line break is being written.
  const lines = (): readonly string[] => (existsSync(notes) ? readFileSync(notes, 'utf8').split('\n').slice(0, -1) : []);
  const runs = (): readonly unknown[] => lines().map((line): unknown => JSON.parse(line));
  return { command: [process.execPath, program], runs };
}

it('authorizations and their ends reach log, program, address and callback, with organization and date and without tokens', async () => {
  const around = await adminSurroundings();
  const service = await speechService(json({}));
  const { command, runs } = noting();
  const told: AuthorizationResult[] = [];
  const flags = [
    `--admin.authorization_hook.command=${JSON.stringify(command)}`,
    `--admin.authorization_hook.url=${service.url}/told`,
    '--admin.authorization_hook.key=CANARY-key',
  ];
  const server = await RunningServer.start({
    flags: [...WITH_TEST_BOTS, ...around.flags, ...flags],
    dataSources: () => [],
    onAuthorization: (result) => void told.push(result),
  });
  onTestFinished(() => server.close());
  around.api.authorize(ORG);
  await until('the program has run', () => runs().length === 1);
  await until('the callback is told', () => told.length === 1);
  const [authorized] = told;
  if (authorized?.event !== 'authorized') throw new Error('it is told of something else');
  const token = await authorized.tokens.current(new AbortController().signal);
  expect(token).toContain(ORG);
  around.api.deauthorize(ORG);
  await until('the program has run again', () => runs().length === 2);
  await service.arrived(2);

  const events = ['authorized', 'deauthorized'] as const;
  const bodies = events.map((event) => ({ event, organizationId: ORG, authorizedAt: date }));
  expect(told).toMatchObject(events.map((event) => ({ event, organizationId: ORG })));
  expect(
    service.received.map(({ path: asked, headers, body }) => [asked, headers.authorization, JSON.parse(body.toString()) as unknown]),
  ).toEqual(bodies.map((body) => ['/told', 'Bearer CANARY-key', body]));
  expect(runs()).toEqual(
    bodies.map((body) => [
      expect.objectContaining({ AUTHORIZATION_EVENT: body.event, AUTHORIZATION_ORGANIZATION: ORG, AUTHORIZATION_DATE: date }) as unknown,
      body,
    ]),
  );
  expect(server.logged({ event: 'authorization' })).toMatchObject(
    events.map((result) => ({ result, organizationId: ORG, authorizedAt: date })),
  );
  const shown = JSON.stringify([runs(), service.received.map(({ body }) => body.toString())]);
  for (const secret of [token, 'CANARY', around.key]) expect(shown).not.toContain(secret);
});

it('a hook that fails changes nothing but a line of the log', async () => {
  const around = await adminSurroundings();
  const flags = [
    `--admin.authorization_hook.command=["/no/such/program"]`,
    '--admin.authorization_hook.url=http://127.0.0.1:1/',
    '--admin.authorization_hook.timeout_ms=2000',
  ];
  const server = await RunningServer.start({ flags: [...WITH_TEST_BOTS, ...around.flags, ...flags], dataSources: () => [] });
  onTestFinished(() => server.close());
  around.api.authorize(ORG);
  await until('both have failed', () => server.logged({ event: 'authorization_hook' }).length === 2);
  const failures = server.logged({ event: 'authorization_hook' });
  expect(failures).toMatchObject(failures.map(() => ({ result: 'authorized', organizationId: ORG, err: { code: 'hook_failed' } })));
  expect(failures.map(({ hook }) => hook).sort()).toEqual(['command', 'url']);
  expect(server.logged({ event: 'data_source', transition: 'created' })).toHaveLength(1);
  expect(server.logged({ event: 'authorization_event' })).toEqual([]);
});
