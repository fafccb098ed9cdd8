// The keys of the shared administration in Redis, and a way to run its scripts. Knows neither the meaning of the texts nor who may change
// them.
import { AppError } from '../../base/errors.ts';
import * as scripts from './admin-scripts.ts';
import type { RedisConnection, RedisScript } from './connection.ts';
import type { RedisUse } from './rights.ts';

/** The keys of one deployment. */
export interface AdminKeys {
  /** The token of the leader; expires with the lease. */
  readonly lease: string;
  /** Hash: sealed texts by name. */
  readonly texts: string;
  /** Sorted set: each name with the revision of its last change, including deleted names. */
  readonly changes: string;
  /** Hash: sealed deliveries that the leader has not processed yet. */
  readonly deliveries: string;
}

/** The shared store. Does not close the connection. */
export interface AdminStore {
  readonly keys: AdminKeys;
  /** Sends one command. @throws AppError `store_unavailable` within a bounded time. */
  send(args: readonly string[]): Promise<unknown>;
  /** Runs a script atomically; the result is a number, a text or a list. @throws as {@link AdminStore.send}. */
  run(script: RedisScript, keys: readonly string[], args: readonly string[]): Promise<unknown>;
}

function keysOf(prefix: string): AdminKeys {
  const key = (name: string): string => `${prefix}:admin:${name}`;
  return { lease: key('lease'), texts: key('texts'), changes: key('changes'), deliveries: key('deliveries') };
}

/** The rights that the Redis user needs for the administration. */
export function administrationUse(prefix: string): RedisUse {
  return { keys: Object.values(keysOf(prefix)), scripts: Object.values(scripts), commands: ['HLEN', 'HSETNX', 'HDEL'] };
}

/** @param prefix - prefix of all keys of the deployment. */
export function adminStore(connection: Pick<RedisConnection, 'send'>, prefix: string): AdminStore {
  return {
    keys: keysOf(prefix),
    send: (args) => connection.send(args),
    run: async ({ sha1, source }, keys, args) => {
      const rest = [String(keys.length), ...keys, ...args];
      try {
        return await connection.send(['EVALSHA', sha1, ...rest]);
      } catch (thrown) {
        // The server was restarted and does not know the script, so nothing was executed.
        if (!(thrown instanceof AppError) || thrown.details['reason'] !== 'NOSCRIPT') throw thrown;
        return connection.send(['EVAL', source, ...rest]);
      }
    },
  };
}

/** The error for an answer that none of our scripts returns. */
export function answerInvalid(): AppError {
  return new AppError('store_failed', 'the shared store answers in another form');
}
