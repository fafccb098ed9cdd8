// SIGHUP as an operator or a service manager sends it to `parley serve`: what may change is read anew, and calls go on. How workers
// hear of it is in control.test.ts.
import { status } from '@grpc/grpc-js';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { writeThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { testCertificate, type TestCertificate } from '../support/certificate.ts';
import { compiledEntry } from '../support/compiled-program.ts';
import { PlatformClient } from '../support/platform-client.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../support/server-flags.ts';
import { ServeProcess, type ReadyLine } from '../support/serve-process.ts';
import { WatchedFolder } from '../support/watched-folder.ts';
import { event, keys } from '../support/wire-audio.ts';

type Line = Readonly<Record<string, unknown>>;

let issuer: Issuer;
let certificate: TestCertificate;
let folder: WatchedFolder;

beforeAll(async () => {
  issuer = await startIssuer({ profile: loadProfile('fake') });
});
afterAll(() => issuer.close());
beforeEach(async ({ onTestFinished }) => {
  certificate = await testCertificate();
  onTestFinished(() => {
    certificate.remove();
  });
  folder = new WatchedFolder();
});

/** Starts a server whose log level stands in a file. It ends with its test. */
function serve({ onTestFinished }: TestContext, ...flags: readonly string[]): ServeProcess {
  const base = serverFlags(issuer, certificate, [dataSource(issuer)]).filter((flag) => !flag.startsWith('--log.level'));
  const running = new ServeProcess([...base, `--config=${folder.file('parley.yaml')}`, '--json', ...flags]);
  onTestFinished(() => running.kill());
  return running;
}

/** Lines of the log with this event. */
function lines({ stderr }: ServeProcess, name: string): readonly Line[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line['event'] === name);
}

/** Sends the signal and waits for what comes of it. */
async function reload(running: ServeProcess): Promise<readonly Line[]> {
  const before = lines(running, 'reloaded').length;
  running.signal('SIGHUP');
  await running.said('it reloads', () => lines(running, 'reloaded').length > before || running.exit !== undefined);
  expect(running.exit).toBeUndefined();
  return lines(running, 'reloaded').slice(before);
}

async function connect(
  { onTestFinished }: TestContext,
  { port }: ReadyLine,
  authority = certificate.certificatePem,
): Promise<PlatformClient> {
  const client = new PlatformClient({
    target: `localhost:${String(port)}`,
    authority,
    authorization: await issuer.issueToken(),
    organizationId: issuer.claims.organizationId,
  });
  onTestFinished(() => {
    client.close();
  });
  return client;
}

/** A call that is in the middle of a prompt, and what proves afterwards that it has gone on. */
async function inProgress(client: PlatformClient): Promise<{ goesOn(): Promise<void> }> {
  const call = client.call();
  await call.turn(event('SESSION_START'));
  const open = call.open(keys('7')).halfClose();
  await open.heard('CHUNK audio');
  return {
    goesOn: async () => {
      expect(open.ending).toBeUndefined();
      await call.turn(event('START_OF_DTMF'));
      expect(await open.ended()).toMatchObject({ code: status.OK });
      expect(await call.turn(event('SESSION_END'))).toMatchObject({ ending: { code: status.OK } });
    },
  };
}

describe('SIGHUP', () => {
  it('brings the new certificate and log level at once, names what needs a restart, leaves all of it where the next state is wrong, and ends no call', async (context) => {
    folder.write('parley.yaml', 'log:\n  level: info\n');
    const running = serve(context, ...WITH_TEST_BOTS);
    const ready = await running.ready();
    const call = await inProgress(await connect(context, ready));
    expect(running.stderr).not.toContain('"level":"debug"');

    const next = await writeThrowAwayCertificate(certificate.folder, systemClock.nowMs());
    folder.write('parley.yaml', 'log:\n  level: debug\nsessions:\n  max: 77\n');
    expect(await reload(running)).toMatchObject([
      { level: 'warn', taken: ['certificate', 'log.level'], refused: [], needRestart: ['sessions.max'] },
    ]);
    const client = await connect(context, ready, next.certificatePem);
    await client.list();

    writeFileSync(certificate.keyFile, 'broken');
    folder.write('parley.yaml', 'log:\n  level: loud\n');
    expect(await reload(running)).toMatchObject([{ level: 'warn', taken: [], refused: ['certificate', 'log.level'] }]);
    expect(lines(running, 'files_refused')).toHaveLength(1);
    expect(lines(running, 'reload_refused')[0]?.['msg']).toContain('log.level');
    await call.goesOn();
    await (await inProgress(await connect(context, ready, next.certificatePem))).goesOn();
    expect(running.stderr).toContain('"level":"debug"');
    running.signal('SIGTERM');
    expect(await running.ended()).toEqual({ code: 0, signal: null });
  });

  it('loads changed bots at once where they are watched', async (context) => {
    folder.write('parley.yaml', 'log:\n  level: info\n');
    const bots = await makeFolder({ 'one.mjs': botModule('one', '', compiledEntry()) });
    context.onTestFinished(() => removeFolder(bots));
    const running = serve(context, `--bots.folder=${bots}`, '--bots.watch=true');
    await running.ready();
    writeFileSync(path.join(bots, 'two.mjs'), botModule('two', '', compiledEntry()));
    const [line] = await reload(running);
    expect([line?.['taken'], line?.['unchanged']].flat()).toContain('bots');
    expect(running.stderr).toContain('"bots":["one","two"]');
  });
});
