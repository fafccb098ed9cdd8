// Connections to a Redis server of a test, closed when it ends, with what they log and the timers they leave.
import { onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { RedisConnection, type RedisConnectionOptions } from '../../src/store/redis/connection.ts';
import { CountedClock } from './counted-clock.ts';
import type { RedisServer } from './redis-server.ts';

/** Longest wait for an answer, ms: long for a server on the same machine that is there, short for a test that waits for one that is not. */
export const REDIS_TIMEOUT_MS = 1000;

/** A connection and what surrounds it. */
export interface OpenedConnection {
  readonly connection: RedisConnection;
  readonly clock: CountedClock;
  /** The lines it has logged. */
  readonly logged: readonly string[];
}

/** Opens one that is closed when the test ends. */
export async function openConnection(
  server: Pick<RedisServer, 'url'>,
  change: Partial<RedisConnectionOptions> = {},
): Promise<OpenedConnection> {
  const clock = new CountedClock();
  const logged: string[] = [];
  const log = createLogger({ level: 'debug', destination: { write: (line: string) => void logged.push(line) } });
  const nobody = { user: undefined, password: undefined, caFile: undefined };
  const connection = await RedisConnection.open({ url: server.url, ...nobody, timeoutMs: REDIS_TIMEOUT_MS, clock, log, ...change });
  onTestFinished(() => connection.close());
  return { connection, clock, logged };
}

/** As `openConnection`, for a test that looks at nothing else. */
export async function redisConnection(
  server: Pick<RedisServer, 'url'>,
  change?: Partial<RedisConnectionOptions>,
): Promise<RedisConnection> {
  return (await openConnection(server, change)).connection;
}
