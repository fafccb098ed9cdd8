// The names of all Redis keys of calls, and the rights that the commands on them need.
import * as scripts from './redis-scripts.ts';

/** @param name - the hashed name of the call. */
export function homeKey(prefix: string, name: string): string {
  return `${prefix}:home:${name}`;
}

/** The hash of all instances. */
export function instancesKey(prefix: string): string {
  return `${prefix}:{instances}`;
}

/** @param id - the id of an instance. */
export function inboxKey(prefix: string, id: string): string {
  return `${instancesKey(prefix)}:inbox:${id}`;
}

/** The rights that the Redis user needs: one key of each kind, all scripts and all commands. */
export function callsUse(prefix: string) {
  return {
    keys: [homeKey(prefix, ''), instancesKey(prefix), inboxKey(prefix, '')],
    scripts: Object.values(scripts),
    commands: ['HMGET', 'PEXPIRE'],
  };
}
