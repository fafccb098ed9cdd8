// The names of all Redis keys of calls, and the commands that use them.
import * as scripts from './redis-scripts.ts';

/** @param name - hashed name of the call. */
export function homeKey(prefix: string, name: string): string {
  return `${prefix}:home:${name}`;
}

/** The hash of all instances. */
export function instancesKey(prefix: string): string {
  return `${prefix}:{instances}`;
}

/** @param id - of an instance. */
export function inboxKey(prefix: string, id: string): string {
  return `${instancesKey(prefix)}:inbox:${id}`;
}

/** The rights that the Redis user needs: a key of each kind, and all commands. */
export function callsUse(prefix: string) {
  return {
    keys: [homeKey(prefix, ''), instancesKey(prefix), inboxKey(prefix, '')],
    scripts: Object.values(scripts),
    commands: ['HMGET', 'PEXPIRE'],
  };
}
