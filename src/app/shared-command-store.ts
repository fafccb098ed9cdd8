// The administration's shared store for a command: reads at any time, but writes only while no server leads (L-10). A command that only
// reads holds the lease just for the moment of a change, such as a renewal.
import type { Renewing } from '../admin/kept-tokens.ts';
import type { SecretStore } from '../admin/secret-store.ts';
import { pause } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { HELD, isHeldElsewhere } from '../store/durable-store.ts';
import { adminStore, type AdminStore } from '../store/redis/admin-store.ts';
import { RedisConnection } from '../store/redis/connection.ts';
import { takeLease, type RenewalLease } from '../store/redis/renewal-lease.ts';
import { SharedTexts, type LeaderTexts } from '../store/redis/shared-texts.ts';
import type { Seal } from '../store/seal.ts';
import type { Settings } from './config/settings.ts';
import { HeldWhileNeeded } from './held-while-needed.ts';

/** Pause between two attempts to take the lease, ms. */
const TRY_MS = 1000;
/** Tolerance when comparing the remaining time of a lease at two attempts, ms: it grows only when the holder is alive. */
const TOLERANCE_MS = 200;

export interface SharedCommandStoreOptions {
  readonly redis: Settings['store']['redis'];
  readonly seal: Seal;
  readonly log: Logger;
  /** The advice in the error when the command wants to write but a server leads. */
  readonly ifHeld: string;
  /** Whether to wait until the lease of a holder that may be dead expires. */
  readonly waits: boolean;
  /** Whether to take the lease from the leading server. Afterwards any server leads again, with the texts that were written. */
  readonly deposes: boolean;
}

/** The lease, and the texts to write under it. */
interface Ours {
  readonly lease: RenewalLease;
  readonly texts: LeaderTexts;
}

/** A connected store. Call `close`. */
export class SharedCommandStore implements SecretStore {
  readonly #connection: RedisConnection;
  readonly #store: AdminStore;
  readonly #texts: SharedTexts;
  readonly #waits: boolean;
  readonly #deposes: boolean;
  readonly #heldText: string;
  readonly #ours: HeldWhileNeeded<Ours>;

  private constructor(
    connection: RedisConnection,
    store: AdminStore,
    texts: SharedTexts,
    { waits, deposes, ifHeld }: SharedCommandStoreOptions,
  ) {
    this.#connection = connection;
    this.#store = store;
    this.#texts = texts;
    this.#waits = waits;
    this.#deposes = deposes;
    this.#heldText = `a running server or another command renews with the shared store: ${ifHeld}`;
    this.#ours = new HeldWhileNeeded(
      () => this.#take(),
      ({ lease }) => lease.giveBack(),
    );
  }

  /** @throws AppError `store_unavailable`; `store_failed` when a text does not open with the keys; `config_invalid`. */
  static async open(options: SharedCommandStoreOptions): Promise<SharedCommandStore> {
    const { redis, seal, log } = options;
    const connection = await RedisConnection.open({ ...redis, clock: systemClock, log });
    try {
      const store = adminStore(connection, redis.keyPrefix);
      return new SharedCommandStore(connection, store, await SharedTexts.open(store, seal), options);
    } catch (thrown) {
      await connection.close();
      throw thrown;
    }
  }

  /** Whether a server or another command holds the lease. @throws AppError `store_unavailable`. */
  async isHeld(): Promise<boolean> {
    return (await this.#texts.poll()).leader !== '';
  }

  /** Holds the lease until `close`. @throws AppError `store_unavailable`, or `store_failed` while a server leads. */
  lead(): Promise<void> {
    return this.#ours.hold();
  }

  /** Renews under the lease, so that no other process uses the same refresh token. */
  readonly renewing: Renewing = async (renewal) => {
    try {
      return await this.#ours.use(renewal);
    } catch (thrown) {
      if (!isHeldElsewhere(thrown)) throw thrown;
      const text = 'the kept token has ended, and the server that renews does so at its next check (admin.data_sources.check_interval_s)';
      throw new AppError('store_failed', text, { cause: thrown });
    }
  };

  async get(key: string): Promise<string | undefined> {
    await this.#texts.poll();
    return this.#texts.peek(key);
  }

  async keys(prefix: string): Promise<readonly string[]> {
    await this.#texts.poll();
    return this.#texts.keys(prefix);
  }

  set(key: string, value: string): Promise<void> {
    return this.#ours.use(({ texts }) => texts.set(key, value));
  }

  delete(key: string): Promise<void> {
    return this.#ours.use(({ texts }) => texts.delete(key));
  }

  /** Closes the connection and releases the lease. */
  async close(): Promise<void> {
    await this.#ours.close();
    await this.#connection.close();
  }

  /** @throws AppError `store_unavailable`, or `store_failed` while a server leads. */
  async #take(): Promise<Ours> {
    for (let before = Infinity; ;) {
      const leader = this.#deposes ? (await this.#texts.poll()).leader : '';
      const taken = await takeLease({ store: this.#store }, leader);
      if (taken.kind === 'ours') return this.#begin(taken.lease);
      // A living holder keeps the lease; the lease of a dead one expires.
      if (!this.#waits || taken.freeInMs > before + TOLERANCE_MS) {
        throw new AppError('store_failed', this.#heldText, { details: { reason: HELD } });
      }
      before = taken.freeInMs;
      await pause(Math.min(TRY_MS, taken.freeInMs + 1), systemClock);
    }
  }

  /** Begins to write under a lease, which is released on failure. @throws AppError of the store. */
  async #begin(lease: RenewalLease): Promise<Ours> {
    try {
      // Read everything that the previous leader has written.
      await this.#texts.poll();
      this.#texts.demandReadable();
      const texts = this.#texts.ledBy(lease);
      await texts.restore();
      return { lease, texts };
    } catch (thrown) {
      await lease.giveBack();
      throw thrown;
    }
  }
}
