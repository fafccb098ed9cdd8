// Backup and restore with the commands of docs/operations.md: everything that servers keep is copied while calls run, all machines are
// lost, and the copies are put back.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RecordingFolder } from '../../src/recording/recording-folder.ts';
import { fleetAdministration } from '../../scripts/fleet/administration.ts';
import { Fleet, FLEET_NEEDS } from '../fleet/fleet.ts';
import { ORG, servedWorld } from '../support/admin-world.ts';
import { requireDebian } from '../support/debian.ts';
import type { PlatformCall } from '../support/platform-call.ts';
import { PlatformClient } from '../support/platform-client.ts';
import { RECORDING_KEY } from '../support/recording-lab.ts';
import { RunningServer } from '../support/running-server.ts';
import { askWith } from '../support/shared-servers.ts';
import { ROOT } from '../support/source-tree.ts';
import { until } from '../support/until.ts';
import { event, keys } from '../support/wire-audio.ts';

const [, section = ''] = readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8').split('\n## Backup and restore\n');
const [copy = '', putBack = '', keepAgain = ''] = [...(section.split('\n## ')[0] ?? '').matchAll(/^```sh\n(?<lines>[\s\S]*?)^```/gmu)].map(
  ({ groups }) => groups?.['lines'] ?? '',
);

/** What a call says next to a key. */
async function answerTo(call: PlatformCall): Promise<unknown> {
  return (await call.turn(keys('1'))).trailerTexts;
}

/** What the directory has of all calls. */
async function homesIn(redis: Fleet['redis']): Promise<string> {
  const keys = (await redis.ask('KEYS', 'parley:home:*')).split('\n').sort();
  return (await Promise.all(keys.map((key) => redis.ask('HGET', key, 'snapshot')))).join('\n');
}

describe('backup and restore', () => {
  requireDebian(FLEET_NEEDS);

  it('bring back calls, the administration in Redis and in a file, and recordings', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'parley-restore-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const [backup, recordings] = [path.join(folder, 'backup'), path.join(folder, 'recordings')];
    await Promise.all([mkdir(backup), mkdir(recordings)]);
    const fleet = await Fleet.start({
      ...{ replicas: 2, program: 'source', administration: fleetAdministration },
      flags: [
        ...['--bots.default_bot=phases', '--recordings.enabled=true', `--recordings.folder=${recordings}`],
        `--recordings.keys=["${RECORDING_KEY.toString('hex')}"]`,
      ],
    });
    onTestFinished(() => fleet.close());
    const { redis, replicas } = fleet;
    const ofFile = await servedWorld();
    const shell = (commands: string): void => {
      const places = { BACKUP: backup, RECORDINGS: recordings, ADMIN_STORE: ofFile.storeFile, REDIS_FOLDER: redis.folder };
      const env = { PATH: process.env['PATH'], REDIS_URL: `redis://127.0.0.1:${String(redis.port)}`, ...places };
      execFileSync('sh', ['-euc', commands], { env, timeout: 30_000, stdio: ['ignore', 'ignore', 'pipe'] });
    };
    const clients = fleet.replicas.map(({ ports: { grpc } }) => {
      const { token: authorization, organizationId } = fleet.access;
      return new PlatformClient({ target: `127.0.0.1:${String(grpc)}`, authority: undefined, authorization, organizationId });
    });
    onTestFinished(() => {
      for (const client of clients) client.close();
    });
    const [home, other] = clients;
    const [over, call] = [home?.call(), home?.call()];
    if (over === undefined || call === undefined || other === undefined) throw new Error('there are two servers');
    for (const name of ['SESSION_START', 'SESSION_END'] as const) await over.turn(event(name));
    const kept = new RecordingFolder(recordings, [RECORDING_KEY]);
    await until('the call that is over is recorded', async () => (await kept.list()).some(({ summary }) => summary?.end !== undefined));
    await call.turn(event('SESSION_START'));
    const before = await homesIn(redis);
    expect(await answerTo(call)).toEqual(['Answer 1.', 'Key 1.']);
    // A snapshot is written beside its answer, so that a copy may come before it.
    let last = before;
    await until('the answer is kept', async () => {
      const [previous, now] = [last, await homesIn(redis)];
      last = now;
      return now !== before && now === previous;
    });

    shell(copy);
    // The copy does not know of it.
    expect((await ofFile.run('data-sources', 'renew', '--org', ORG)).code).toBe(0);
    await Promise.all(replicas.map((replica) => replica.kill()));
    await redis.forget();
    for (const place of [recordings, ofFile.storeFile]) await rm(place, { recursive: true });
    await mkdir(recordings);

    shell(putBack);
    await redis.again();
    expect(await redis.ask('DBSIZE')).toBe('0');
    await redis.forget();
    shell(putBack);
    await redis.again('--appendonly', 'no');
    shell(keepAgain);
    await until('all is in the append-only file', async () =>
      (await redis.ask('INFO', 'persistence')).includes('aof_rewrite_in_progress:0'),
    );
    await redis.kill();
    await redis.again();

    await Promise.all(replicas.map((replica) => replica.start()));
    expect(await answerTo(other.call(call.ids))).toEqual(['Answer 2.', 'Key 1.']);

    const recorded = (await kept.list()).find(({ header }) => header?.call.conversationId === over.ids.conversationId);
    expect((await kept.read(recorded?.id ?? '')).events.map(({ kind }) => kind)).toContain('ended');

    const flags = [...ofFile.flags, `--admin.organizations=["${ORG}"]`];
    const server = await RunningServer.start({ flags, dataSources: () => [] });
    onTestFinished(() => server.app.close());
    expect(await askWith(server, ofFile.only().jwsToken)).toBe(status.OK);
    expect(ofFile.api.journal.count('POST /dataSources')).toBe(1);
  });
});
