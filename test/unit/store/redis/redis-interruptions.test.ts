import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import type { CallKey } from '../../../../src/dialog/call.ts';
import type { RedisConnection } from '../../../../src/store/redis/connection.ts';
import { RedisInterruptions } from '../../../../src/store/redis/redis-interruptions.ts';
import { requireDebian } from '../../../support/debian.ts';
import { redisConnection } from '../../../support/redis-connection.ts';
import { REDIS_NEEDS, RedisServer } from '../../../support/redis-server.ts';
import { until, within } from '../../../support/until.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
const KEY: CallKey = { organizationId: 'org', conversationId: 'call "1" – ü' };
const SPOKE = { place: 3, isHangUp: false };
/** Interruptions that are measured. */
const MEASURED = 101;

let server: RedisServer;
beforeAll(async () => {
  if (hasRedis) server = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await server.stop();
});

/** One process: it hears into a list. */
async function process(
  owner: string,
  keyPrefix = 'parley',
): Promise<{
  readonly connection: RedisConnection;
  readonly interruptions: RedisInterruptions;
  readonly heard: CallKey[];
}> {
  const connection = await redisConnection(server);
  const interruptions = new RedisInterruptions({ connection, owner, keyPrefix });
  const heard: CallKey[] = [];
  onTestFinished(interruptions.listen((key) => heard.push(key)));
  return { connection, interruptions, heard };
}

/** Waits until so many processes listen. */
async function listened(count: number, keyPrefix = 'parley'): Promise<void> {
  await until(`${String(count)} processes listen`, async () =>
    (await server.ask('PUBSUB', 'NUMSUB', `${keyPrefix}:interrupted`)).endsWith(`:${String(count)}`),
  );
}

describe('an interruption', () => {
  it('is heard by all other processes of the installation and not by the one that tells it', async () => {
    const [one, two, three, stranger] = [await process('1'), await process('2'), await process('3'), await process('4', 'other')];
    await listened(3);
    await listened(1, 'other');
    one.interruptions.tell(KEY, SPOKE);
    await until('two have heard', () => two.heard.length + three.heard.length === 2);
    two.interruptions.tell({ ...KEY, organizationId: 'second' }, SPOKE);
    await until('two have heard', () => one.heard.length + three.heard.length === 3);
    expect([one.heard, two.heard, three.heard, stranger.heard]).toEqual([
      [{ ...KEY, organizationId: 'second' }],
      [KEY],
      [KEY, { ...KEY, organizationId: 'second' }],
      [],
    ]);
  });

  it('arrives within 50 ms as the median', async () => {
    const [one, two] = [await process('1'), await process('2')];
    await listened(2);
    const tookMs: number[] = [];
    for (let count = 1; count <= MEASURED; count += 1) {
      const heard = new Promise<void>((resolve) => {
        const stop = two.interruptions.listen(() => {
          stop();
          resolve();
        });
      });
      const toldMs = systemClock.monotonicMs();
      one.interruptions.tell(KEY, SPOKE);
      await within('it is heard', heard);
      tookMs.push(systemClock.monotonicMs() - toldMs);
    }
    const median = tookMs.sort((a, b) => a - b)[(MEASURED - 1) / 2] ?? NaN;
    expect(median).toBeLessThan(50);
  });

  it('is heard again after the server was killed and came back', async () => {
    const [one, two] = [await process('1'), await process('2')];
    await listened(2);
    await server.kill();
    await until('both know', () => !one.connection.isUp && !two.connection.isUp);
    // Lost, and nobody minds.
    one.interruptions.tell(KEY, SPOKE);
    await server.again();
    await listened(2);
    await until('the one that tells is back', () => one.connection.isUp);
    one.interruptions.tell({ ...KEY, organizationId: 'again' }, SPOKE);
    await until('it has been heard', () => two.heard.length > 0);
    expect(two.heard).toEqual([{ ...KEY, organizationId: 'again' }]);
  });

  it('is not made of what others say on the channel', async () => {
    const { heard, connection } = await process('1');
    await listened(1);
    const foreign = [
      '',
      'hello',
      '{}',
      '[]',
      '["2","org"]',
      '["2","org",7]',
      '["2","org","call","more"]',
      '["2","org","call",3,true,4]',
      'null',
      '[[],[],[]]',
    ];
    for (const message of [
      ...foreign,
      '["2","org","call"]',
      '["2","org","call",3]',
      '["2","org","call","3",false]',
      '["2","org","call",3,0]',
      JSON.stringify(['2', 'org', 'x'.repeat(9000), 3, false]),
    ]) {
      await server.ask('PUBLISH', 'parley:interrupted', message);
    }
    await server.ask('PUBLISH', 'parley:interrupted', '["2","org","call",3,false]');
    await until('ours has been heard', () => heard.length > 0);
    expect(heard).toEqual([{ organizationId: 'org', conversationId: 'call' }]);
    expect(connection.isUp).toBe(true);
  });
});
