// What the shared store of the administration is in Redis: its keys, and how its scripts run. Knows neither what the texts say nor
// who may change them.
import { AppError } from '../../base/errors.ts';
import * as scripts from './admin-scripts.ts';
import type { RedisConnection, RedisScript } from './connection.ts';
import type { RedisUse } from './rights.ts';

/** The keys of one deployment. */
export interface AdminKeys {
  /** The token of the leader, as long as its lease lasts. */
  readonly lease: string;
  /** Hash: sealed texts by name. */
  readonly texts: string;
  /** Sorted set: the revision at which a name was changed last, also of names that were deleted. */
  readonly changes: string;
  /** Hash: sealed deliveries that the leader has not taken yet. */
  readonly deliveries: string;
}

/** The shared store. Whoever opened its connection closes it. */
export interface AdminStore {
  readonly keys: AdminKeys;
  /** Sends one command. @throws AppError `store_unavailable` within a bounded time. */
  send(args: readonly string[]): Promise<unknown>;
  /** Runs a script in one step; numbers, texts and lists come back. @throws as {@link AdminStore.send}. */
  run(script: RedisScript, keys: readonly string[], args: readonly string[]): Promise<unknown>;
}

function keysOf(prefix: string): AdminKeys {
  const key = (name: string): string => `${prefix}:admin:${name}`;
  return { lease: key('lease'), texts: key('texts'), changes: key('changes'), deliveries: key('deliveries') };
}

/** What the user of the Redis server needs rights for where there is an administration. */
export function administrationUse(prefix: string): RedisUse {
  return { keys: Object.values(keysOf(prefix)), scripts: Object.values(scripts), commands: ['HLEN', 'HSETNX', 'HDEL'] };
}

/** @param prefix - what all keys of the deployment begin with. */
export function adminStore(connection: Pick<RedisConnection, 'send'>, prefix: string): AdminStore {
  return {
    keys: keysOf(prefix),
    send: (args) => connection.send(args),
    run: async ({ sha1, source }, keys, args) => {
      const rest = [String(keys.length), ...keys, ...args];
      try {
        return await connection.send(['EVALSHA', sha1, ...rest]);
      } catch (thrown) {
        // A server that was started anew has not seen it, and has done nothing.
        if (!(thrown instanceof AppError) || thrown.details['reason'] !== 'NOSCRIPT') throw thrown;
        return connection.send(['EVAL', source, ...rest]);
      }
    },
  };
}

/** The error for an answer of Redis that no version of ours gives. */
export function answerInvalid(): AppError {
  return new AppError('store_failed', 'the shared store answers in another form');
}
