// The table of instances on a Redis server: one hash for all instances, one set per inbox. Entries are sealed, so that only processes with
// the store key can join. Knows no connections.
import type { Logger } from '../base/log.ts';
import { parseJson } from '../base/json.ts';
import type { InstanceEntry, InstanceTable, ReadInstance, Reading, TakenCall } from './instance-table.ts';
import type { RedisCommands, Sealing } from './redis-directory.ts';
import { BEAT, READ_INBOX, REMOVE, NOTIFY } from './redis-scripts.ts';
import { inboxKey, instancesKey } from './redis-use.ts';

/** Time without any beat after which the table expires, ms. */
const TABLE_TTL_MS = 86_400_000;
/** Time without a new notification after which an inbox expires, ms. */
const INBOX_TTL_MS = 600_000;
/** Owner name of sealed entries. */
const SEALED_FOR = 'instance';
export interface RedisInstancesOptions {
  /** The caller closes the connection. */
  readonly connection: Pick<RedisCommands, 'run'>;
  readonly seal: Sealing;
  /** Prefix of all keys. */
  readonly keyPrefix: string;
  readonly log: Logger;
}

/** One per process. */
export class RedisInstances implements InstanceTable {
  readonly #options: RedisInstancesOptions;
  readonly #key: string;
  /** Whether an unreadable entry has been logged. */
  #isLogged = false;

  constructor(options: RedisInstancesOptions) {
    this.#options = options;
    this.#key = instancesKey(options.keyPrefix);
  }

  async beat({ counter, ...entry }: ReadInstance, heard: readonly TakenCall[]): Promise<Reading> {
    const { connection, seal } = this.#options;
    // Sealed anew for each beat, because the key may have changed.
    const text = `${String(counter)} ${seal.close(JSON.stringify(entry), SEALED_FOR)}`;
    const [table, inbox] = await Promise.all([
      connection.run(BEAT, this.#key, [entry.id, text, String(TABLE_TTL_MS)]),
      connection.run(READ_INBOX, this.#inboxOf(entry.id), heard.map(inboxEntry)),
    ]);
    const [isNew, fields] = Array.isArray(table) ? (table as readonly unknown[]) : [];
    return {
      instances: this.#read(Array.isArray(fields) ? (fields as readonly unknown[]) : []),
      taken: Array.isArray(inbox) ? inbox.flatMap(heardOf) : [],
      isNew: isNew === 1,
    };
  }

  async notify(id: string, taken: TakenCall): Promise<void> {
    await this.#options.connection.run(NOTIFY, this.#inboxOf(id), [inboxEntry(taken), String(INBOX_TTL_MS)]);
  }

  async remove({ id, counter }: Pick<ReadInstance, 'id' | 'counter'>): Promise<void> {
    await this.#options.connection.run(REMOVE, this.#key, [id, String(counter)]);
  }

  #inboxOf(id: string): string {
    return inboxKey(this.#options.keyPrefix, id);
  }

  /** @param fields - ids and texts, alternating. */
  #read(fields: readonly unknown[]): readonly ReadInstance[] {
    const words = fields.map(String);
    const instances: ReadInstance[] = [];
    for (let at = 0; at + 1 < words.length; at += 2) {
      const [id = '', text = ''] = words.slice(at, at + 2);
      const space = text.indexOf(' ');
      instances.push({ ...this.#entryOf(id, text.slice(space + 1)), counter: Number(text.slice(0, space)) });
    }
    return instances;
  }

  /** An unreadable entry still counts as an instance, so that its calls are not taken while it is alive. */
  #entryOf(id: string, sealed: string): InstanceEntry {
    const { seal, log } = this.#options;
    try {
      // Trusted without validation: only processes with the key can seal entries.
      return { ...(JSON.parse(seal.open(sealed, SEALED_FOR)) as InstanceEntry), id };
    } catch (cause) {
      if (!this.#isLogged) log.warn({ err: cause }, 'an instance of the shared store has another key: no call is forwarded to it');
      this.#isLogged = true;
      return { id, address: '', certificate: '', isDraining: true, version: 0 };
    }
  }
}

/** The text of a notification in an inbox. */
function inboxEntry({ call, epoch }: TakenCall): string {
  return JSON.stringify([call.organizationId, call.conversationId, epoch]);
}

function heardOf(text: unknown): readonly TakenCall[] {
  const [organizationId, conversationId, epoch] = listOf(parseJson(String(text)));
  if (typeof organizationId !== 'string' || typeof conversationId !== 'string' || typeof epoch !== 'number') return [];
  return [{ call: { organizationId, conversationId }, epoch }];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
