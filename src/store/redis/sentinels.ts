// Finds the primary through Redis Sentinel. Asks again for every connection, so that a new attempt is enough after a failover. Knows no
// keys; the wire checks whether the server really is a primary.
import type { Clock } from '../../base/clock.ts';
import { toAppError, type AppError } from '../../base/errors.ts';
import type { RedisClient, RedisPackage } from './client-package.ts';
import { noPrimary, reasonOf, silent, unknownPrimary } from './failure.ts';
import { RedisWire } from './wire.ts';

/** The address of a server. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** The sentinels, and the primary to find. */
export interface SentinelOptions {
  /** At least one address. */
  readonly addresses: readonly RedisAddress[];
  /** The name under which the sentinels know the primary and its replicas. */
  readonly name: string;
  /** A client of a sentinel, not connected yet. */
  readonly createSentinel: (address: RedisAddress) => RedisClient;
  /** A client of the primary, not connected yet. */
  readonly createPrimary: (address: RedisAddress) => RedisClient;
  readonly isRefusal: RedisPackage['isRefusal'];
  /** Limit for connecting to the primary, ms; half of it is for asking the sentinels. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

type Event = 'connect' | 'ready' | 'end' | 'error';

/** A client of the server that is the primary when the client connects. */
export class PrimaryClient implements RedisClient {
  readonly #options: SentinelOptions;
  readonly #listeners: (readonly [Event, (error: unknown) => void])[] = [];
  #client: RedisClient | undefined;

  constructor(options: SentinelOptions) {
    this.#options = options;
  }

  on(event: Event, listener: (error: unknown) => void): void {
    this.#listeners.push([event, listener]);
  }

  /** @throws AppError `store_unavailable` when no sentinel names the primary in time. */
  async connect(): Promise<unknown> {
    const client = this.#options.createPrimary(await findPrimary(this.#options));
    this.#client = client;
    for (const [event, listener] of this.#listeners) {
      if (event === 'error') client.on(event, listener);
      else {
        client.on(event, () => {
          listener(undefined);
        });
      }
    }
    return client.connect();
  }

  destroy(): void {
    this.#client?.destroy();
  }

  sendCommand(args: readonly string[]): Promise<unknown> {
    return this.#connected.sendCommand(args);
  }

  get #connected(): RedisClient {
    if (this.#client === undefined) throw silent();
    return this.#client;
  }
}

/**
 * Asks all sentinels at once. Returns an address as soon as more than half of them name it. Otherwise, when half the time is over or all
 * have answered, returns the most frequent one: a sentinel that was cut off from the others may still name a former primary.
 *
 * @throws AppError `store_unavailable`.
 */
function findPrimary(options: SentinelOptions): Promise<RedisAddress> {
  const { addresses, name, clock, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    const votes = new Map<string, { readonly address: RedisAddress; count: number }>();
    const failures: AppError[] = [];
    const wires = addresses.map((address) => sentinelWire(options, address));
    let left = wires.length;
    const settle = (): void => {
      cancelTimer();
      for (const wire of wires) wire.end();
      const [most] = [...votes.values()].sort((one, other) => other.count - one.count);
      if (most !== undefined) resolve(most.address);
      else reject(failures.find((failure) => reasonOf(failure) === reasonOf(unknownPrimary(name))) ?? noPrimary(failures[0] ?? silent()));
    };
    const cancelTimer = clock.after(timeoutMs / 2, settle);
    const answered = (): void => {
      left -= 1;
      if (left === 0 || [...votes.values()].some(({ count }) => count > wires.length / 2)) settle();
    };
    for (const wire of wires) {
      namedBy(wire, name).then(
        (address) => {
          const key = `${address.host} ${String(address.port)}`;
          votes.set(key, { address, count: (votes.get(key)?.count ?? 0) + 1 });
          answered();
        },
        (thrown: unknown) => {
          failures.push(toAppError(thrown));
          answered();
        },
      );
    }
  });
}

function sentinelWire({ createSentinel, isRefusal, timeoutMs, clock }: SentinelOptions, address: RedisAddress): RedisWire {
  return new RedisWire({ client: createSentinel(address), isRefusal, timeoutMs, clock, onLost: () => undefined });
}

async function namedBy(wire: RedisWire, name: string): Promise<RedisAddress> {
  await wire.open();
  const answer = await wire.send(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]);
  if (!Array.isArray(answer)) throw unknownPrimary(name);
  return { host: String(answer[0]), port: Number(answer[1]) };
}
