// One of several servers with one store, in its two roles: it follows what another one writes down, or renews itself. What it lets
// in stays let in while the roles change (L-10, L-15).
import { serviceAppIdentity } from '../admin/access.ts';
import { Administration, type AdministrationOptions } from '../admin/administration.ts';
import type { DataSourceState } from '../admin/lifecycle/data-source-keeper.ts';
import { ServedPlaces, type OwnedPlaces } from '../admin/lifecycle/served-places.ts';
import { TrustFollower } from '../admin/lifecycle/trust-follower.ts';
import { wantedIn } from '../admin/lifecycle/wanted.ts';
import { decodeId } from '../admin/platform-id.ts';
import type { ServiceAppEvent } from '../admin/webhooks/delivery.ts';
import type { Received } from '../admin/webhooks/inbox.ts';
import { readKeptEvent } from '../admin/webhooks/kept-events.ts';
import { readWaitingEvent, writeWaitingEvent } from '../admin/webhooks/waiting-event.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, toAppError, type ErrorCode } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { DeliveryQueue, WaitingDelivery } from '../store/redis/delivery-queue.ts';
import type { OwnerLease } from '../store/redis/owner-lease.ts';
import type { OwnedTexts } from '../store/redis/owned-texts.ts';
import type { SharedTexts } from '../store/redis/shared-texts.ts';
import type { AdminMetrics } from '../telemetry/admin-metrics.ts';
import type { Reign } from './renewal-ownership.ts';
import type { Trust } from './trust.ts';
import { watchedStore } from './watched-store.ts';

/** Most events that are kept here until the store takes them. */
const MAX_UNPUT = 100;
/** What keeps every delivery from being taken, and not this one alone. */
const OF_THE_STORE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['store_failed', 'store_unavailable', 'shutting_down']);

/** What it is joined to. */
export interface ReplicaParts {
  readonly trust: Trust;
  readonly metrics: AdminMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Gives the start up. */
  readonly signal: AbortSignal;
  /** Whether the seal has older keys as well: then what they have sealed is sealed anew. */
  readonly hasOldKeys: boolean;
}

/** What it is made with. */
export interface ReplicaOptions {
  readonly options: Omit<AdministrationOptions, 'store'>;
  readonly texts: SharedTexts;
  readonly queue: DeliveryQueue;
  readonly parts: ReplicaParts;
}

/** What belongs to one time as the one that renews. */
interface Renewing {
  readonly lease: OwnerLease;
  readonly administration: Administration;
  readonly places: OwnedPlaces;
  readonly owned: OwnedTexts;
}

/** One server. Its reigns are ended by its ownership; nothing else is held. */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly #places: ServedPlaces;
  readonly #follower: TrustFollower;
  readonly #unput = new Map<string, ServiceAppEvent>();
  #renewing: Renewing | undefined;
  #followed: Promise<void> = Promise.resolve();
  #isReadable = true;
  #isWritable = true;
  #isTaking = false;

  /** @throws AppError `profile_invalid`, `bad_message` for ids that are none. */
  constructor(replica: ReplicaOptions) {
    this.#options = replica;
    const { texts, options, parts } = replica;
    const { profile, access, webhooks, wanted, pinned } = options;
    const { clock, log } = parts;
    const isApp = access.type === 'service_app';
    const applicationId = isApp ? serviceAppIdentity(access.serviceApp, profile).applicationId : undefined;
    this.#places = new ServedPlaces(parts.trust);
    this.#follower = new TrustFollower({
      ...{ store: texts, places: this.#places, clock, mayLeave: isApp, hearsEvents: isApp && webhooks !== undefined },
      organizations: options.organizations.map((each) => decodeId(each, 'ORGANIZATION', profile.ids?.urnScheme ?? '')),
      wanted: (organizationId) => wantedIn(organizationId, { wanted, pinned, applicationId }),
      onFailed: (organizationId, error) => {
        log.warn({ event: 'organization_failed', organizationId, err: error }, 'an organization is not served yet');
      },
    });
  }

  /** Whether this server renews now. */
  get renews(): boolean {
    return this.#renewing !== undefined;
  }

  /** Whether the store could be read the last time, and by a server that renews be written. */
  get isStoreUsable(): boolean {
    return this.#isReadable && this.#isWritable;
  }

  /** Every data source that is looked after here or elsewhere. */
  get states(): readonly DataSourceState[] {
    return this.#renewing?.administration.states ?? this.#follower.states;
  }

  /** Lets in what is written down (L-15). */
  follow(): Promise<void> {
    return this.#follower.followAll();
  }

  /**
   * Looks what others have written, and lets it in. A server that renews learns from it when it does not any more.
   *
   * @throws AppError `store_unavailable`, `store_failed`; what is let in stays so.
   */
  async look(): Promise<void> {
    const { texts } = this.#options;
    const { changed, lastToken } = await texts.look();
    const renewing = this.#renewing;
    if (renewing !== undefined && renewing.lease.token !== lastToken) {
      renewing.lease.lose();
      await this.#stepDown(renewing);
    } else if (renewing === undefined) {
      await this.#followed;
      await this.#follower.follow(changed);
    }
  }

  /** What is done every few seconds, in either role. Never throws. */
  async tend(): Promise<void> {
    try {
      await this.look();
      await this.#renewing?.owned.restore();
      this.#onStore({ isReadable: true });
      for (const event of this.#unput.values()) {
        await this.#put(event);
        this.#unput.delete(event.idempotencyKey);
      }
    } catch {
      // The connection has told it; what is known stays good.
      this.#onStore({ isReadable: false });
    }
    await this.takeWaiting();
  }

  /**
   * Takes a genuine event: does what it asks for, or leaves that to the server that renews. Resolves when it is written down.
   *
   * @throws AppError `store_unavailable`, `store_failed`, `overloaded`: it is tried again here, and the platform delivers it again.
   */
  async receive(event: ServiceAppEvent): Promise<Received> {
    try {
      const { administration } = this.#renewing ?? {};
      if (administration?.takesEvents === true) return await administration.receive(event);
      const kept = await readKeptEvent(this.#options.texts, event.organizationId);
      if (kept?.seen.includes(event.idempotencyKey) === true) return 'known';
      return (await this.#put(event)) ? 'taken' : 'known';
    } catch (thrown) {
      if (this.#unput.size < MAX_UNPUT) this.#unput.set(event.idempotencyKey, event);
      throw thrown;
    }
  }

  /** Does what waiting events ask for, if this server renews. Never throws. */
  async takeWaiting(): Promise<void> {
    const { administration } = this.#renewing ?? {};
    if (administration?.takesEvents !== true || this.#isTaking) return;
    const { queue, parts } = this.#options;
    this.#isTaking = true;
    try {
      for (const waiting of await queue.waiting()) await this.#takeOne(waiting, administration);
    } catch (thrown) {
      parts.log.warn({ event: 'webhook_waiting', err: toAppError(thrown) }, 'deliveries that wait could not be taken yet');
    } finally {
      this.#isTaking = false;
    }
  }

  /**
   * After a change of the keys: seals everything with the key of the moment, if this server renews, and looks anew for what did not
   * open before. Never throws.
   */
  async rewrite(): Promise<void> {
    const { texts } = this.#options;
    texts.keysChanged();
    try {
      await this.look();
      await this.#renewing?.owned.rewrite();
      this.#onStore({ isReadable: true, isWritable: true });
    } catch (thrown) {
      this.#onStore(this.renews ? { isWritable: false } : { isReadable: false });
      // Who does not renew looks again soon.
      if (!this.renews) return;
      const line = { event: 'admin_store_unwritten', err: toAppError(thrown) };
      this.#options.parts.log.error(line, 'the store of the administration could not be sealed with its new key');
    }
  }

  /** One time as the server that renews. @param isFirst - whether this server is starting. */
  reign(lease: OwnerLease, isFirst: boolean): Reign {
    const { options, texts, parts } = this.#options;
    const places = this.#places.owned();
    const owned = texts.owned(lease.token, (error) => {
      lease.lose(error);
    });
    const { webhooks, observer } = options;
    const administration = new Administration({
      ...options,
      observer: {
        ...observer,
        unsaved: (error) => {
          // Else another server renews, and this one says so as it ends: nobody has lost a nonce.
          if (lease.isHeld) observer.unsaved?.(error);
        },
      },
      store: watchedStore(owned, (isWritable) => {
        this.#onStore({ isWritable });
      }),
      owner: { served: places.of, confirm: () => lease.confirm() },
      webhooks: webhooks && { ...webhooks, isFed: true },
      failsStart: options.failsStart && isFirst,
    });
    const renewing = { lease, administration, places, owned };
    return {
      begin: () => this.#begin(renewing, isFirst, parts.signal),
      end: (why) => this.#end(renewing, why),
    };
  }

  async #begin(renewing: Renewing, isFirst: boolean, signal: AbortSignal): Promise<void> {
    const { texts, parts } = this.#options;
    const { metrics, log, hasOldKeys } = parts;
    const { lease, administration, owned } = renewing;
    // All that the server before us wrote, and it writes no more.
    await this.look();
    texts.demandReadable();
    await (hasOldKeys ? owned.rewrite() : owned.restore());
    if (!lease.isHeld) throw new AppError('store_failed', 'another server renews by now');
    this.#follower.rest();
    this.#renewing = renewing;
    metrics.renews(true);
    if (!isFirst) metrics.tookOver();
    log.info({ event: 'admin_owner', owns: true }, 'this server renews for all that share its store');
    await administration.start(signal);
    await this.takeWaiting();
  }

  async #end(renewing: Renewing, why: AppError | undefined): Promise<void> {
    const { administration } = renewing;
    if (why !== undefined) {
      administration.rest(why);
      await this.#stepDown(renewing, why);
    }
    await administration.close();
    await this.#stepDown(renewing);
  }

  /** What the keepers say is not believed from now on, but what all servers are told. Idempotent. */
  #stepDown(renewing: Renewing, why?: AppError): Promise<void> {
    renewing.places.end();
    if (this.#renewing !== renewing) return this.#followed;
    const { metrics, log } = this.#options.parts;
    this.#renewing = undefined;
    this.#onStore({ isWritable: true });
    metrics.renews(false);
    const line = { event: 'admin_owner', owns: false, ...(why === undefined ? {} : { err: why }) };
    if (renewing.lease.isHeld) log.info(line, 'this server renews no more');
    else log.warn(line, 'this server renews no more: another one does, or the store could not be reached');
    this.#followed = this.#follower.followAll();
    return this.#followed;
  }

  #put(event: ServiceAppEvent): Promise<boolean> {
    return this.#options.queue.put(event.idempotencyKey, writeWaitingEvent(event));
  }

  /** @throws AppError of the store; what is wrong with one delivery keeps no other from being taken, and is told. */
  async #takeOne({ id, text }: WaitingDelivery, administration: Pick<Administration, 'receive'>): Promise<void> {
    // One that does not open is left to a server with its key.
    if (text === undefined) return;
    try {
      const event = readWaitingEvent(text);
      if (event !== undefined) await administration.receive(event);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (OF_THE_STORE.has(error.code)) throw error;
      this.#options.parts.log.warn({ event: 'webhook_waiting', err: error }, 'a delivery that waits could not be taken yet');
      return;
    }
    await this.#options.queue.remove(id);
  }

  #onStore({ isReadable = this.#isReadable, isWritable = this.#isWritable }: { isReadable?: boolean; isWritable?: boolean }): void {
    this.#isReadable = isReadable;
    this.#isWritable = isWritable;
    this.#options.parts.metrics.storeWritten(this.isStoreUsable);
  }
}
