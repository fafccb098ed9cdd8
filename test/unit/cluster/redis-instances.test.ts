import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createLogger } from '../../../src/base/log.ts';
import { RedisInstances, type RedisInstancesOptions } from '../../../src/cluster/redis-instances.ts';
import { RedisConnection } from '../../../src/store/redis/connection.ts';
import { Seal } from '../../../src/store/seal.ts';
import { instancesSuite } from '../../suites/instances.ts';
import { requireDebian } from '../../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../../support/redis-server.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
const ENTRY = { address: '127.0.0.1:1', certificate: 'its fingerprint', version: 1, isDraining: false, counter: 7 };

let server: RedisServer | undefined;
let connection: RedisConnection;

beforeAll(async () => {
  if (!hasRedis) return;
  server = await RedisServer.start();
  const nobody = { user: undefined, password: undefined, caFile: undefined };
  const log = createLogger({ level: 'silent' });
  connection = await RedisConnection.open({ url: server.url, ...nobody, timeoutMs: 10_000, clock: systemClock, log });
});
afterAll(async () => {
  if (!hasRedis) return;
  await connection.close();
  await server?.stop();
});

function tableOf(change: Partial<RedisInstancesOptions> = {}): RedisInstances {
  return new RedisInstances({ connection, seal: new Seal(), keyPrefix: randomUUID(), log: createLogger({ level: 'silent' }), ...change });
}

instancesSuite('instances with a table on a Redis server', () => {
  const shared = { keyPrefix: randomUUID(), seal: new Seal() };
  return {
    view: () => tableOf(shared),
    lose: async () => {
      await connection.send(['DEL', `${shared.keyPrefix}:{instances}`]);
    },
  };
});

it('an instance with another key is alive and has no address, and what it says of itself does not lie open', async () => {
  const keyPrefix = randomUUID();
  const logged: string[] = [];
  const log = createLogger({ level: 'debug', destination: { write: (line: string) => void logged.push(line) } });
  await tableOf({ keyPrefix }).beat({ ...ENTRY, id: 'stranger' }, []);
  const own = tableOf({ keyPrefix, log });
  for (let time = 0; time < 2; time += 1) {
    const { instances } = await own.beat({ ...ENTRY, id: 'one' }, []);
    expect(instances.find(({ id }) => id === 'stranger')).toMatchObject({ address: '', certificate: '', isDraining: true, counter: 7 });
  }
  expect(logged).toHaveLength(1);
  const texts = JSON.stringify(await connection.send(['HVALS', `${keyPrefix}:{instances}`]));
  expect(texts).not.toContain('fingerprint');
});

it('an entry that was written into the table by somebody without the key is nobody to forward to', async () => {
  const keyPrefix = randomUUID();
  const own = tableOf({ keyPrefix });
  await connection.send(['HSET', `${keyPrefix}:{instances}`, 'forged', JSON.stringify({ ...ENTRY, id: 'forged' })]);
  const { instances } = await own.beat({ ...ENTRY, id: 'one' }, []);
  expect(instances.find(({ id }) => id === 'forged')).toMatchObject({ address: '' });
});
