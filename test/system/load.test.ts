// `parley load` against a real server that takes only some of its callers: those whom it turns away are no good calls.
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readLoadResult } from '../../src/fake-platform/load/load-result.ts';
import { makeFolder, removeFolder } from '../support/bots-folder.ts';
import { ParleyProcess } from '../support/parley-process.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';

async function load(server: RunningServer, ...words: readonly string[]): Promise<ParleyProcess> {
  const { issuer, certificate, target } = server;
  const access = ['--org', issuer.claims.organizationId, '--token', await issuer.issueToken(), '--ca', certificate.certificateFile];
  const running = new ParleyProcess(['load', target, ...access, '--mix', 'listen', '--arrivals', 'fixed', '--json', ...words]);
  onTestFinished(() => running.kill());
  return running;
}

async function serverFor(...flags: readonly string[]): Promise<RunningServer> {
  const server = await RunningServer.start({ flags: [...WITH_TEST_BOTS, ...flags] });
  onTestFinished(() => server.close());
  await server.app.warmed;
  return server;
}

it('counts callers as failed and refused whom the server transfers for its limits, with the reason that it gives', async () => {
  const server = await serverFor('--sessions.max=1');
  const loading = await load(server, '--rate', '10/s', '--duration', '2s', '--expect', 'failed < 1%');
  expect(await loading.ended()).toMatchObject({ code: 1 });
  const { calls, turns, failures } = readLoadResult(loading.stdout, 'stdout');
  expect(calls.finished).toBe(20);
  expect(calls.failed).toBeGreaterThan(0);
  expect(calls).toMatchObject({ refused: calls.failed, unheard: 0 });
  expect(failures).toEqual([
    { code: 'unexpected_transfer', count: calls.failed, example: 'the server transferred the caller, with the reason "total"' },
  ]);
  expect(turns.failed).toBe(0);
});

it('measures nothing where already the rehearsed caller is transferred unasked', async () => {
  const server = await serverFor('--overload.max_rss_bytes=1048576');
  const loading = await load(server, '--find-capacity', 'first-audio p99 < 10s');
  expect(await loading.ended()).toMatchObject({ code: 1 });
  expect(JSON.parse(loading.stdout)).toEqual({
    failures: ['listen: unexpected_transfer: the server transferred the caller unasked, with the reason "memory"'],
  });
});

it.each([
  ['nothing is said about its end', ''],
  ['its test expects a transfer', ', expect: { ends: transferred }'],
])('measures nothing where the rehearsed call is transferred because the bot failed, and %s', async (_title, expectation) => {
  const folder = await makeFolder({
    'dead.yaml': `tests:\n  - name: dead\n    steps:\n      - press: '8'\n      - { press: '8'${expectation} }\n`,
  });
  onTestFinished(() => removeFolder(folder));
  const server = await serverFor();
  const loading = await load(server, '--mix', path.join(folder, 'dead.yaml'), '--find-capacity', 'first-audio p99 < 10s');
  expect(await loading.ended()).toMatchObject({ code: 1 });
  expect(JSON.parse(loading.stdout)).toEqual({
    failures: ['dead: unexpected_transfer: the server transferred the caller unasked, with the reason "failed"'],
  });
});
