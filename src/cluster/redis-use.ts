// The names of all that servers keep of calls on the Redis server, and what works on it.
import * as scripts from './redis-scripts.ts';

/** @param name - of the call, without its id. */
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

/** What the user of the Redis server needs rights for: a key of each kind, and all that works on them. */
export function callsUse(prefix: string) {
  return {
    keys: [homeKey(prefix, ''), instancesKey(prefix), inboxKey(prefix, '')],
    scripts: Object.values(scripts),
    commands: ['HMGET', 'PEXPIRE'],
  };
}
