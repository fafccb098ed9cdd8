// Where what the replicas of the administration share lies on the server, and how this room's scripts run there. Knows neither
// what the texts say nor who may change them.
import { AppError } from '../../base/errors.ts';
import type { RedisConnection, RedisScript } from './connection.ts';

/** What is asked of a connection to the server. */
export interface SharedServer {
  /**
   * Runs a script in one step; nobody else's command comes in between. Numbers, texts and lists come back.
   *
   * @throws AppError `store_unavailable` within a bounded time.
   */
  run(script: RedisScript, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Hears what is published while there is a connection, until the returned function is called. */
  listen(channel: string, listener: (message: string) => void): () => void;
}

/** A connection as this room uses it. Whoever opened it closes it. */
export function sharedServer(connection: Pick<RedisConnection, 'send' | 'listen'>): SharedServer {
  return {
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
    listen: (channel, listener) => connection.listen(channel, listener),
  };
}

/** What is published when something has changed; each says where to look, and nothing else. */
export const NEWS = { texts: 'texts', deliveries: 'deliveries', free: 'free' } as const;

/** The keys of one deployment. */
export interface AdminPlace {
  /** Hash: sealed texts by name. */
  readonly texts: string;
  /** Sorted set: the revision at which a name was changed last, also of names that are gone. */
  readonly changes: string;
  /** Sorted set: names that are gone, by the revision at which they went. */
  readonly gone: string;
  /** Hash: `revision`, `epoch`, `floor`, and of the owners `fence`, `last` and `from`. */
  readonly state: string;
  /** The token of the one that renews, as long as its lease lasts. */
  readonly owner: string;
  /** Hash: sealed deliveries that the owner has not taken yet. */
  readonly deliveries: string;
  /** Where changes are told. */
  readonly news: string;
}

/** @param prefix - what all keys of the deployment begin with. */
export function adminPlace(prefix: string): AdminPlace {
  const key = (name: string): string => `${prefix}:admin:${name}`;
  return {
    texts: key('texts'),
    changes: key('changes'),
    gone: key('gone'),
    state: key('state'),
    owner: key('owner'),
    deliveries: key('deliveries'),
    news: key('news'),
  };
}
