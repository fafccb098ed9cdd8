// Finds the rights that our Redis user lacks: asks the server for a dry run of each command (Redis 7 or later). Changes nothing.
import { AppError } from '../../base/errors.ts';
import type { RedisConnection } from './connection.ts';
import { reasonOf } from './failure.ts';

/** Commands that work on some keys. */
export interface RedisUse {
  /** One key of each kind; the keys need not exist. */
  readonly keys: readonly string[];
  readonly scripts: readonly { readonly source: string }[];
  /** Commands besides those in the scripts. */
  readonly commands: readonly string[];
}

/** The commands that every connection needs: its health checks, and the two ways to run a script. */
export const EVERYWHERE: readonly string[] = ['PING', 'ROLE', 'EVALSHA', 'EVAL'];
/** Rights that only this file and `keeping.ts` need. */
export const FOR_EXAMINATION: readonly string[] = ['+info', '+acl|dryrun'];

const WITHOUT_KEY: ReadonlySet<string> = new Set(['PING', 'ROLE', 'TIME', 'INFO']);
const WRITES: ReadonlySet<string> = new Set(['HSET', 'HSETNX', 'HDEL', 'DEL', 'PEXPIRE', 'SADD', 'SREM', 'SET', 'ZADD']);
/** Number of arguments after the key, because a dry run needs a complete command. */
const ARGUMENTS: Readonly<Record<string, number>> = {
  ...{ HGET: 1, HMGET: 1, HDEL: 1, SADD: 1, SREM: 1, SET: 1, ZSCORE: 1, PEXPIRE: 1 },
  ...{ HSET: 2, HSETNX: 2, ZADD: 2, ZRANGEBYSCORE: 2, ZREVRANGE: 2 },
};
/** How the server reports a missing right. */
const DENIED = /'(?<what>[^']+)' (?<kind>command|key)$/u;

/** The commands of a use, in upper case. */
export function commandsOf({ scripts, commands }: RedisUse): readonly string[] {
  const called = scripts.flatMap(({ source }) => [...source.matchAll(/redis\.call\('(\w+)'/gu)].map(([, command = '']) => command));
  return [...new Set([...called, ...commands])];
}

/**
 * The rights that our own user lacks, in ACL syntax (`+hset`, `~parley:home:`). Empty when none is missing, or the server is too old for a
 * dry run.
 *
 * @throws AppError `store_unavailable` when the server cannot be reached.
 */
export async function missingRights(
  connection: Pick<RedisConnection, 'send'>,
  ownUser: string,
  uses: readonly RedisUse[],
): Promise<readonly string[]> {
  try {
    const wanted = uses.flatMap((use) => dryRuns([...EVERYWHERE, ...commandsOf(use)], use));
    return await denials(connection, ownUser, [...wanted, ['INFO']]);
  } catch (thrown) {
    // A connection error does not show a missing right.
    if (!(thrown instanceof AppError) || thrown.details['command'] !== 'ACL') throw thrown;
    return reasonOf(thrown) === 'NOPERM' ? ['+acl|dryrun'] : [];
  }
}

/** The rights that a user lacks for all our writes. @throws AppError `store_unavailable`, also when our own user may not ask. */
export function missingWrites(
  connection: Pick<RedisConnection, 'send'>,
  user: string,
  uses: readonly RedisUse[],
): Promise<readonly string[]> {
  const isWrite = (command: string): boolean => WRITES.has(command);
  const wanted = uses.flatMap((use) => dryRuns(commandsOf(use).filter(isWrite), use));
  return denials(connection, user, wanted);
}

/** A dry run of each command with each key. */
function dryRuns(commands: readonly string[], { keys }: RedisUse): readonly (readonly string[])[] {
  return commands.flatMap((command) => {
    if (WITHOUT_KEY.has(command)) return [[command]];
    if (command.startsWith('EVAL')) return keys.map((key) => [command, '', '1', key]);
    const behind = Array.from({ length: ARGUMENTS[command] ?? 0 }, () => '1');
    return keys.map((key) => [command, key, ...behind]);
  });
}

async function denials(
  connection: Pick<RedisConnection, 'send'>,
  user: string,
  commands: readonly (readonly string[])[],
): Promise<readonly string[]> {
  const missing = new Set<string>();
  const answers = await Promise.all(commands.map((command) => connection.send(['ACL', 'DRYRUN', user, ...command])));
  for (const [index, answer] of answers.entries()) {
    if (answer === 'OK') continue;
    const { what, kind } = DENIED.exec(String(answer))?.groups ?? {};
    missing.add(kind === 'key' ? `~${what ?? ''}` : `+${commands[index]?.[0]?.toLowerCase() ?? ''}`);
  }
  return [...missing];
}
