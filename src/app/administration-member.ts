// One of several servers with one store: it follows what the leader writes down, or leads and renews itself (L-10). What it lets in
// stays let in while the lease changes hands (L-15).
import { serviceAppIdentity } from '../admin/access.ts';
import { Administration, type AdministrationOptions } from '../admin/administration.ts';
import type { DataSourceState } from '../admin/lifecycle/data-source-reconciler.ts';
import { TrustFollower } from '../admin/lifecycle/trust-follower.ts';
import { wantedIn } from '../admin/lifecycle/wanted.ts';
import { decodeId } from '../admin/platform-id.ts';
import type { ServiceAppEvent } from '../admin/webhooks/delivery.ts';
import type { Received } from '../admin/webhooks/inbox.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { AdminStore } from '../store/redis/admin-store.ts';
import { DeliveryQueue } from '../store/redis/delivery-queue.ts';
import { takeLease, type RenewalLease } from '../store/redis/renewal-lease.ts';
import type { LeaderTexts, SharedTexts } from '../store/redis/shared-texts.ts';
import type { Seal } from '../store/seal.ts';
import type { AdminMetrics } from '../telemetry/admin-metrics.ts';
import { SharedDeliveries } from './shared-deliveries.ts';
import type { Trust } from './trust.ts';
import { watchedStore } from './watched-store.ts';

/** Until a server tries again that could not begin to lead, ms. */
const RETRY_MS = 5000;

export interface MemberParts {
  /** Filled from now on; `refresh` is given where several servers share a store. */
  readonly trust: Trust;
  readonly metrics: AdminMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Gives the start up. */
  readonly signal: AbortSignal;
  /** Whether the seal has older keys as well: then what they have sealed is sealed anew. */
  readonly hasOldKeys: boolean;
}

export interface MemberOptions {
  readonly options: Omit<AdministrationOptions, 'store'>;
  readonly store: AdminStore;
  readonly seal: Seal;
  readonly texts: SharedTexts;
  readonly parts: MemberParts;
}

/** What belongs to one time as the leader. */
interface Leading {
  readonly lease: RenewalLease;
  readonly administration: Administration;
  readonly texts: LeaderTexts;
  /** Resolves when nothing of it goes on; undefined before its end has begun. */
  ended?: Promise<void>;
}

/** One server. `stop` must be called. */
export class AdministrationMember {
  readonly #options: MemberOptions;
  readonly #follower: TrustFollower;
  readonly #deliveries: SharedDeliveries;
  #leading: Leading | undefined;
  #restsUntilMs = 0;
  #isReadable = true;
  #isWritable = true;
  #isStopping = false;

  /** @throws AppError `profile_invalid`, `bad_message` for ids that are none. */
  constructor(member: MemberOptions) {
    this.#options = member;
    const { options, store, seal, texts, parts } = member;
    const { profile, access, webhooks, wanted, pinned } = options;
    const { trust, clock, log } = parts;
    const isApp = access.type === 'service_app';
    const applicationId = isApp ? serviceAppIdentity(access.serviceApp, profile).applicationId : undefined;
    this.#deliveries = new SharedDeliveries({
      queue: new DeliveryQueue(store, seal),
      leader: () => (this.#leader?.administration.takesEvents === true ? this.#leader.administration : undefined),
      log,
    });
    this.#follower = new TrustFollower({
      ...{ store: texts, trust, clock, mayLeave: isApp, hasEvents: isApp && webhooks !== undefined },
      organizations: options.organizations.map((each) => decodeId(each, 'ORGANIZATION', profile.ids?.urnScheme ?? '')),
      wanted: (organizationId) => wantedIn(organizationId, { wanted, pinned, applicationId }),
      onFailed: (organizationId, error) => {
        log.warn({ event: 'organization_failed', organizationId, err: error }, 'an organization is not served yet');
      },
    });
  }

  /** Whether Redis could be read the last time, and by the leader be written. */
  get isStoreUsable(): boolean {
    return this.#isReadable && this.#isWritable;
  }

  /** Every data source that is managed here or elsewhere. */
  get states(): readonly DataSourceState[] {
    return this.#leader?.administration.states ?? this.#follower.states;
  }

  /** Lets in what is written down (L-15). */
  follow(): Promise<void> {
    return this.#follower.followAll();
  }

  /**
   * Leads if nobody does. Resolves when another server leads, or this one has begun as {@link Administration.start} does.
   *
   * @throws AppError `store_unavailable`, `store_failed`, and what keeps the administration from starting.
   */
  start(): Promise<void> {
    return this.#lead(true);
  }

  /**
   * One poll: lets in what others have written down, and does what is due: leads if nobody does, queues deliveries or takes them.
   * Never throws.
   */
  async poll(): Promise<void> {
    // As it was when the poll began: a lease that was taken since is not in its answer.
    const leading = this.#leading;
    try {
      const { changed, leader } = await this.#options.texts.poll();
      await this.#follower.follow(changed);
      this.#onStore({ isReadable: true });
      if (this.#leading === undefined) await this.#leadIfFree(leader);
      else if (leading?.lease.isHeld === true && leading.lease.token !== leader) leading.lease.lose();
      await this.#leader?.texts.restore();
    } catch {
      // The connection has logged it; what is known stays good.
      this.#onStore({ isReadable: false });
      return;
    }
    await this.#deliveries.tend();
  }

  /** As {@link SharedDeliveries.receive}. */
  receive(event: ServiceAppEvent): Promise<Received> {
    return this.#deliveries.receive(event);
  }

  /** After a change of the keys: reads again what did not open, and the leader seals everything with the new key. Never throws. */
  async rewrite(): Promise<void> {
    const { texts, parts } = this.#options;
    texts.readAll();
    await this.poll();
    try {
      await this.#leader?.texts.rewrite();
      this.#onStore({ isWritable: true });
    } catch (thrown) {
      this.#onStore({ isWritable: false });
      const line = { event: 'admin_store_unwritten', err: toAppError(thrown) };
      parts.log.error(line, 'the store of the administration could not be sealed with its new key');
    }
  }

  /** Leads no more, so that another server can; goes on following. Resolves when nothing is renewed any more. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#leading !== undefined) await this.#end(this.#leading);
  }

  /** As long as the lease is ours. */
  get #leader(): Leading | undefined {
    return this.#leading?.ended === undefined && this.#leading?.lease.isHeld === true ? this.#leading : undefined;
  }

  /** @throws AppError of Redis; what else keeps it from leading is logged, and tried again. */
  async #leadIfFree(leader: string): Promise<void> {
    const isFree = leader === '' || this.#options.texts.deposes !== '';
    if (!isFree || this.#isStopping || systemClock.monotonicMs() < this.#restsUntilMs) return;
    try {
      await this.#lead(false);
    } catch (thrown) {
      this.#restsUntilMs = systemClock.monotonicMs() + RETRY_MS;
      this.#options.parts.log.warn({ event: 'admin_owner', err: toAppError(thrown) }, 'this server cannot begin to renew and tries again');
    }
  }

  async #lead(isFirst: boolean): Promise<void> {
    const { store, texts } = this.#options;
    const taken = await takeLease({ store }, texts.deposes);
    if (taken.kind === 'held') return;
    const leading = this.#leaderWith(taken.lease, isFirst);
    this.#leading = leading;
    void taken.lease.lost.then((why) => this.#end(leading, why));
    try {
      if (this.#isStopping) throw new AppError('shutting_down', 'this server stops');
      await this.#begin(leading, isFirst);
    } catch (thrown) {
      const isOver = !taken.lease.isHeld || this.#isStopping;
      await this.#end(leading);
      if (!isOver) throw thrown;
    }
  }

  #leaderWith(lease: RenewalLease, isFirst: boolean): Leading {
    const { options, texts } = this.#options;
    const written = texts.ledBy(lease);
    const { webhooks, observer } = options;
    const administration = new Administration({
      ...options,
      observer: {
        ...observer,
        unsaved: (error) => {
          // Else another server leads, and this one logs that: nobody has lost a nonce.
          if (lease.isHeld) observer.unsaved(error);
        },
      },
      store: watchedStore(written, (isWritable) => {
        this.#onStore({ isWritable });
      }),
      leader: { served: (wanted) => this.#follower.served(wanted, () => lease.isHeld), confirm: () => lease.confirm() },
      webhooks: webhooks && { ...webhooks, isFed: true },
      failsStart: options.failsStart && isFirst,
    });
    return { lease, administration, texts: written };
  }

  async #begin({ lease, administration, texts }: Leading, isFirst: boolean): Promise<void> {
    const { parts, texts: shared } = this.#options;
    const { metrics, log, hasOldKeys, signal } = parts;
    // All that the leader before us wrote, and it writes no more.
    await this.#follower.follow((await shared.poll()).changed);
    shared.demandReadable();
    await (hasOldKeys ? texts.rewrite() : texts.restore());
    if (!lease.isHeld) throw new AppError('store_failed', 'another server renews by now');
    metrics.renews(true);
    if (!isFirst) metrics.tookOver();
    log.info({ event: 'admin_owner', owns: true }, 'this server renews for all that share its store');
    await administration.start(signal);
    await this.#deliveries.tend();
  }

  /** @param why - the lease is lost: another server may renew already. */
  #end(leading: Leading, why?: AppError): Promise<void> {
    leading.ended ??= this.#endOnce(leading, why);
    return leading.ended;
  }

  async #endOnce({ lease, administration }: Leading, why: AppError | undefined): Promise<void> {
    const { metrics, log } = this.#options.parts;
    const line = { event: 'admin_owner', owns: false, ...(why === undefined ? {} : { err: why }) };
    if (why === undefined) log.info(line, 'this server renews no more');
    else {
      log.warn(line, 'this server renews no more: another one does, or Redis could not be reached');
      administration.rest(why);
    }
    metrics.renews(false);
    this.#onStore({ isWritable: true });
    await this.#follower.followAll();
    await administration.close();
    // What was renewed at the very end.
    await this.#follower.followAll();
    // Not before everything that we did is written down.
    await lease.giveBack();
    this.#leading = undefined;
  }

  #onStore({ isReadable = this.#isReadable, isWritable = this.#isWritable }: { isReadable?: boolean; isWritable?: boolean }): void {
    this.#isReadable = isReadable;
    this.#isWritable = isWritable;
    this.#options.parts.metrics.storeWritten(this.isStoreUsable);
  }
}
