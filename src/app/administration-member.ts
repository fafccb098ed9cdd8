// One of several servers that share a store: as a follower it trusts what the leader writes; as the leader it renews tokens (L-10). Trusted
// data sources stay trusted while the lease changes hands (L-15).
import { serviceAppIdentity } from '../admin/access.ts';
import { Administration, type AdministrationOptions } from '../admin/administration.ts';
import type { DataSourceState } from '../admin/lifecycle/data-source-reconciler.ts';
import { TrustFollower } from '../admin/lifecycle/trust-follower.ts';
import { wantedIn } from '../admin/lifecycle/wanted.ts';
import { INTEGRATION_KEY } from '../admin/oauth/integration-tokens.ts';
import { decodeId } from '../admin/platform-id.ts';
import type { ServiceAppEvent } from '../admin/webhooks/delivery.ts';
import type { Received } from '../admin/webhooks/inbox.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { AdminStore } from '../store/redis/admin-store.ts';
import { DeliveryQueue } from '../store/redis/delivery-queue.ts';
import { takeLease, type RenewalLease } from '../store/redis/renewal-lease.ts';
import type { LeaderTexts, SharedTexts } from '../store/redis/shared-texts.ts';
import type { Seal } from '../store/seal.ts';
import type { AdminMetrics } from '../telemetry/admin-metrics.ts';
import { SharedDeliveries } from './shared-deliveries.ts';
import { LoginWait, type LoginWaitParts } from './login-wait.ts';
import type { Trust } from './trust.ts';
import { watchedStore } from './watched-store.ts';

/** Pause after a failed attempt to lead, ms. */
const RETRY_MS = 5000;

export interface MemberParts extends LoginWaitParts {
  /** The trust that this member fills. */
  readonly trust: Trust;
  readonly metrics: AdminMetrics;
  readonly clock: Clock;
  /** Aborts the start. */
  readonly signal: AbortSignal;
  /** Whether the seal has older keys. The leader then seals again what older keys have sealed. */
  readonly hasOldKeys: boolean;
}

export interface MemberOptions {
  readonly options: Omit<AdministrationOptions, 'store'>;
  readonly store: AdminStore;
  readonly seal: Seal;
  readonly texts: SharedTexts;
  readonly parts: MemberParts;
}

/** One term as the leader. */
interface Leading {
  readonly lease: RenewalLease;
  readonly administration: Administration;
  readonly texts: LeaderTexts;
  /** Set when the term begins to end; resolves when it has ended completely. */
  ended?: Promise<void>;
}

/** One of several servers that share a store. Call `stop`. */
export class AdministrationMember {
  readonly #options: MemberOptions;
  readonly #follower: TrustFollower;
  readonly #deliveries: SharedDeliveries;
  readonly #loginWait: LoginWait;
  #leading: Leading | undefined;
  #restsUntilMs = 0;
  #isReadable = true;
  #isWritable = true;
  #isStopping = false;

  /** @throws AppError `profile_invalid`, or `bad_message` for invalid ids. */
  constructor(member: MemberOptions) {
    this.#options = member;
    const { options, store, seal, texts, parts } = member;
    const { profile, access, webhooks, wanted, pinned } = options;
    const { trust, clock, log } = parts;
    const isApp = access.type === 'service_app';
    const applicationId = isApp ? serviceAppIdentity(access.serviceApp, profile).applicationId : undefined;
    this.#loginWait = new LoginWait(parts);
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

  /** Whether the last read from Redis succeeded and, while leading, the last write. */
  get isStoreUsable(): boolean {
    return this.#isReadable && this.#isWritable;
  }

  /** The states of all data sources that this server or the leader manages. */
  get states(): readonly DataSourceState[] {
    return this.#leader?.administration.states ?? this.#follower.states;
  }

  /** Trusts the data sources in the store (L-15). */
  async follow(): Promise<void> {
    await this.#follower.followAll();
    this.#awaitLogin();
  }

  /**
   * Becomes the leader if there is none. Resolves when another server leads, or as {@link Administration.start} does.
   *
   * @throws AppError `store_unavailable`, `store_failed`, and what {@link Administration.start} throws.
   */
  start(): Promise<void> {
    return this.#lead(true);
  }

  /**
   * One poll: trusts what other servers have written, tries to lead when no server does, and queues or processes deliveries. Never throws.
   */
  async poll(): Promise<void> {
    // The term that was current when the poll began: the answer of the poll does not know of a later one.
    const leading = this.#leading;
    try {
      const { changed, leader } = await this.#options.texts.poll();
      await this.#follower.follow(changed);
      this.#awaitLogin();
      this.#onStore({ isReadable: true });
      if (this.#leading === undefined) await this.#leadIfFree(leader);
      else if (leading?.lease.isHeld === true && leading.lease.token !== leader) leading.lease.lose();
      await this.#leader?.texts.restore();
    } catch {
      // The connection has logged the error; the last known state stays valid.
      this.#onStore({ isReadable: false });
      return;
    }
    await this.#deliveries.tend();
  }

  /** See {@link SharedDeliveries.receive}. */
  receive(event: ServiceAppEvent): Promise<Received> {
    return this.#deliveries.receive(event);
  }

  /** Call it after the keys have changed: reads again what did not open, and as the leader seals all with the new key. Never throws. */
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

  /** Stops leading, so that another server can lead, but keeps following. Resolves when no renewal is running. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#leading !== undefined) await this.#end(this.#leading);
  }

  /** The current term while this server holds the lease; otherwise undefined. */
  get #leader(): Leading | undefined {
    return this.#leading?.ended === undefined && this.#leading?.lease.isHeld === true ? this.#leading : undefined;
  }

  /** @throws AppError of Redis. Other errors are logged, and another attempt follows. */
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
        loginChecked: (error) => {
          observer.loginChecked(error);
          this.#loginWait.checked(error);
          this.#awaitLogin();
        },
        unsaved: (error) => {
          // Without the lease, the new leader logs its own failures. No nonce is lost.
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
    // Read everything that the previous leader wrote; it can write no more.
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

  /** @param why - set when the lease was lost: another server may renew already. */
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
    // Forget the result of the login check: the next leader checks and reports the login.
    this.#loginWait.checked(undefined);
    metrics.loginChecked(true);
    await this.#follower.followAll();
    await administration.close();
    // Trust the tokens that were renewed last.
    await this.#follower.followAll();
    // Release the lease only after everything has been written.
    await lease.giveBack();
    this.#leading = undefined;
  }

  #awaitLogin(): void {
    const { options, texts } = this.#options;
    this.#loginWait.update(options.access.type !== 'service_app' || texts.peek(INTEGRATION_KEY) !== undefined, this.states);
  }

  #onStore({ isReadable = this.#isReadable, isWritable = this.#isWritable }: { isReadable?: boolean; isWritable?: boolean }): void {
    this.#isReadable = isReadable;
    this.#isWritable = isWritable;
    this.#options.parts.metrics.storeWritten(this.isStoreUsable);
  }
}
