// The shared store of the administration for a command: read as it is there, whoever renews, and changed only while no server does
// (L-10). A command that looks owns it just for the moment of a change.
import type { Renewing } from '../admin/kept-tokens.ts';
import type { SecretStore } from '../admin/secret-store.ts';
import { pause } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { adminPlace, sharedServer } from '../store/redis/admin-place.ts';
import { RedisConnection } from '../store/redis/connection.ts';
import type { OwnedTexts } from '../store/redis/owned-texts.ts';
import { isOwned, takeOwnership, type OwnerLease, type OwnerLeaseOptions } from '../store/redis/owner-lease.ts';
import { SharedTexts } from '../store/redis/shared-texts.ts';
import type { Seal } from '../store/seal.ts';
import type { Settings } from './config/settings.ts';

/** Between two tries to own it, ms. */
const TRY_MS = 1000;
/** By how much the end of a lease may be told later than before when nobody has prolonged it, ms. */
const TELLING_MS = 200;

/** How it is opened. */
export interface SharedCommandStoreOptions {
  readonly redis: Settings['store']['redis'];
  readonly seal: Seal;
  readonly log: Logger;
  /** What to do when a server renews and something is to be changed. */
  readonly ifHeld: string;
  /** Whether somebody who seems to own it is waited for: he may have died. */
  readonly waits: boolean;
}

/** An owned store, while it is. */
interface Ours {
  readonly lease: OwnerLease;
  readonly texts: OwnedTexts;
}

/** `close` must be called. */
export class SharedCommandStore implements SecretStore {
  readonly #connection: RedisConnection;
  readonly #lease: OwnerLeaseOptions;
  readonly #texts: SharedTexts;
  readonly #options: Pick<SharedCommandStoreOptions, 'ifHeld' | 'waits'>;
  #ours: Promise<Ours> | undefined;
  #holders = 0;
  #released: Promise<unknown> = Promise.resolve();

  private constructor(
    connection: RedisConnection,
    lease: OwnerLeaseOptions,
    texts: SharedTexts,
    options: Pick<SharedCommandStoreOptions, 'ifHeld' | 'waits'>,
  ) {
    this.#connection = connection;
    this.#lease = lease;
    this.#texts = texts;
    this.#options = options;
  }

  /** @throws AppError `store_unavailable`; `store_failed` when a text does not open with the keys; `config_invalid`. */
  static async open({ redis, seal, log, ...options }: SharedCommandStoreOptions): Promise<SharedCommandStore> {
    const connection = await RedisConnection.open({ ...redis, clock: systemClock, log });
    try {
      const [server, place] = [sharedServer(connection), adminPlace(redis.keyPrefix)];
      const texts = await SharedTexts.open({ server, place, seal });
      return new SharedCommandStore(connection, { server, place }, texts, options);
    } catch (thrown) {
      await connection.close();
      throw thrown;
    }
  }

  /** Whether a server, or another command, owns it now. @throws AppError `store_unavailable`. */
  isHeld(): Promise<boolean> {
    return isOwned(this.#lease);
  }

  /**
   * Owns it until the returned function is called, for all who change something meanwhile.
   *
   * @param heldText - says what to do while somebody else owns it.
   * @throws AppError `store_unavailable`, `store_failed` while a server renews.
   */
  async own(
    heldText = `a running server or another command renews with the shared store: ${this.#options.ifHeld}`,
  ): Promise<() => Promise<void>> {
    this.#holders += 1;
    const release = async (): Promise<void> => {
      this.#holders -= 1;
      if (this.#holders === 0) await this.#release();
    };
    try {
      this.#ours ??= this.#released.then(() => this.#take(heldText));
      await this.#ours;
      return release;
    } catch (thrown) {
      await release();
      throw thrown;
    }
  }

  /** Lets a renewal happen while the store is ours: nobody else then uses up the refresh token that it begins with. */
  readonly renewing: Renewing = (renewal) =>
    this.#alone(
      renewal,
      'the kept token has ended, and the server that renews does so at its next look (admin.data_sources.check_interval_s)',
    );

  async get(key: string): Promise<string | undefined> {
    await this.#texts.look();
    return this.#texts.peek(key);
  }

  async keys(prefix: string): Promise<readonly string[]> {
    await this.#texts.look();
    return this.#texts.keys(prefix);
  }

  set(key: string, value: string): Promise<void> {
    return this.#alone(({ texts }) => texts.set(key, value));
  }

  delete(key: string): Promise<void> {
    return this.#alone(({ texts }) => texts.delete(key));
  }

  /** Ends the connection; what is owned is given back. */
  async close(): Promise<void> {
    await this.#release();
    await this.#connection.close();
  }

  async #alone<T>(work: (ours: Ours) => Promise<T>, heldText?: string): Promise<T> {
    const release = await this.own(heldText);
    try {
      return await work(await (this.#ours ?? this.#take('')));
    } finally {
      await release();
    }
  }

  /** @throws AppError `store_unavailable`, `store_failed` while a server renews. */
  async #take(heldText: string): Promise<Ours> {
    let before = Infinity;
    for (;;) {
      const taken = await takeOwnership(this.#lease, this.#texts.claim);
      if (taken.kind === 'ours') return this.#begin(taken.lease);
      // The lease of somebody who lives is prolonged, and that of somebody who died runs out.
      if (!this.#options.waits || taken.freeInMs > before + TELLING_MS) throw new AppError('store_failed', heldText);
      before = taken.freeInMs;
      await pause(Math.min(TRY_MS, taken.freeInMs + 1), systemClock);
    }
  }

  /** @throws AppError of the store; it is given back then. */
  async #begin(lease: OwnerLease): Promise<Ours> {
    try {
      // All that whoever owned it before has written.
      await this.#texts.look();
      this.#texts.demandReadable();
      const texts = this.#texts.owned(lease.token, (error) => {
        lease.lose(error);
      });
      await texts.restore();
      return { lease, texts };
    } catch (thrown) {
      await lease.giveBack();
      throw thrown;
    }
  }

  async #release(): Promise<void> {
    const ours = this.#ours;
    this.#ours = undefined;
    this.#released = ours === undefined ? Promise.resolve() : ours.then(({ lease }) => lease.giveBack()).catch(() => undefined);
    await this.#released;
  }
}
