// Runs a reconciler for each data source of each authorized organization, until the organization withdraws its authorization. Does not know
// what reconcilers do.
import { linkAbort, waitAtMost, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { SecretStore } from '../secret-store.ts';
import type { TokenSource } from '../token-source.ts';
import type { AuthorizationHandler, AuthorizingOrganization } from '../webhooks/inbox.ts';
import { DataSourceReconciler, type DataSourceState } from './data-source-reconciler.ts';
import { journalKey, JOURNALS, NonceJournal } from './nonce-journal.ts';
import type { DataSourcesApi, LifecycleObserver, Leader, Trust, WantedDataSource } from './ports.ts';
import type { LifecycleTimes } from './schedule.ts';

/** Most organizations to start concurrently, because the platform limits requests. */
const MAX_AT_ONCE = 4;
/** Number of organizations after which reading their journals, which are in memory, lets the event loop run. */
const MAX_IN_A_ROW = 50;
/** Limit for the first step of an organization, ms; its reconcilers continue afterwards. */
const MAX_START_MS = 120_000;

export interface OrganizationTokens {
  /** @throws AppError `bad_message` for an invalid organization id. */
  tokensOf(organization: string): TokenSource;
  /** Erases the tokens of an organization. */
  forget(organization: string): Promise<void>;
}

export interface ServedOrganizationsOptions {
  readonly store: SecretStore;
  readonly tokens: OrganizationTokens;
  /** The wanted data sources of an organization (a plain UUID). */
  readonly wanted: (organizationId: string) => readonly WantedDataSource[];
  /** Opens the requests for the data sources of one organization. */
  readonly openApi: (tokens: TokenSource) => DataSourcesApi;
  readonly trust: Trust;
  /** Set in the one process that renews for several. */
  readonly leader?: Leader | undefined;
  readonly times: LifecycleTimes;
  readonly clock: Clock;
  readonly observer: LifecycleObserver;
  /** See {@link NonceJournalOptions.onUnsaved}. */
  readonly onUnsaved: (error: AppError) => void;
}

export interface StartFailure {
  readonly organizationId: string;
  readonly error: AppError;
}

/** All served organizations. Call `close`. */
export class ServedOrganizations implements AuthorizationHandler {
  readonly #options: ServedOrganizationsOptions;
  readonly #served = new Map<string, Promise<readonly DataSourceReconciler[]>>();
  /** The reconcilers of each organization, after they have trusted their stored nonces. */
  readonly #reconcilers = new Map<string, readonly DataSourceReconciler[]>();
  /** Organizations that were deauthorized since the start: a start in progress must not bring them back (H-23). */
  readonly #gone = new Set<string>();
  readonly #over: LinkedAbort = linkAbort();
  /** Organizations that are opened and wait for their start, or that failed to open. */
  readonly #waiting: {
    readonly organization: AuthorizingOrganization;
    readonly reconcilers: readonly DataSourceReconciler[] | AppError;
  }[] = [];
  /** The running first steps. */
  #starting: Promise<unknown> | undefined;

  constructor(options: ServedOrganizationsOptions) {
    this.#options = options;
  }

  /** The states of all managed data sources. */
  get states(): readonly DataSourceState[] {
    return [...this.#reconcilers.values()].flatMap((reconcilers) => reconcilers.map(({ state }) => state));
  }

  /**
   * Trusts the tokens that were valid before a restart, for authorized organizations, without a request (L-15). Their first steps follow
   * with {@link ServedOrganizations.start}.
   */
  async serveKept(organizations: readonly AuthorizingOrganization[]): Promise<void> {
    for (const [index, organization] of organizations.entries()) {
      if (index % MAX_IN_A_ROW === MAX_IN_A_ROW - 1) await new Promise(setImmediate);
      this.#waiting.push({ organization, reconcilers: await this.#opened(organization) });
    }
  }

  /**
   * Starts the waiting organizations, a few at a time. Resolves after the first step of each, or when `signal` aborts. @returns the
   * failures until then; the other organizations continue.
   */
  async start(signal: AbortSignal): Promise<readonly StartFailure[]> {
    const failures: StartFailure[] = [];
    const { clock } = this.#options;
    const waiting = this.#waiting.splice(0);
    const { length } = waiting;
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { organization, reconcilers } = next;
        const errors = reconcilers instanceof AppError ? [reconcilers] : await this.#begin(organization, reconcilers, this.#over.signal);
        failures.push(...errors.map((error) => ({ organizationId: organization.organizationId, error })));
      }
    };
    this.#starting = Promise.all(Array.from({ length: MAX_AT_ONCE }, worker));
    await waitAtMost(this.#starting, MAX_START_MS * Math.max(1, length), clock, signal);
    return [...failures];
  }

  /**
   * Serves an organization that has authorized the app. Resolves when its tokens are available and its data sources were checked once;
   * failed checks are retried without end.
   *
   * @throws AppError of the store, or of the tokens: `org_not_registered` while the platform does not know the authorization everywhere
   * (H-26).
   */
  async authorized(organization: AuthorizingOrganization, signal: AbortSignal): Promise<void> {
    const { tokens } = this.#options;
    await tokens.tokensOf(organization.authorizerOrgId).current(signal);
    this.#gone.delete(organization.organizationId);
    const known = this.#reconcilers.get(organization.organizationId);
    if (known === undefined) {
      const reconcilers = await this.#opened(organization);
      if (reconcilers instanceof AppError) throw reconcilers;
      await this.#begin(organization, reconcilers, signal);
    }
    // A new authorization has another machine account (6.5), so data sources of the previous one must be found again or replaced.
    else await this.#wait(Promise.all(known.map((reconciler) => reconciler.renew())), signal);
  }

  /** Stops serving an organization that has withdrawn its authorization: its tokens are refused and its data is erased (6.5). */
  async deauthorized({ organizationId }: AuthorizingOrganization): Promise<void> {
    const { store, tokens } = this.#options;
    this.#gone.add(organizationId);
    const reconcilers = (await this.#served.get(organizationId)?.catch(() => [])) ?? [];
    // All at once, even if one fails, because each immediately ends the trust in its data source.
    const forgotten = await Promise.allSettled(reconcilers.map((reconciler) => reconciler.forget()));
    this.#served.delete(organizationId);
    this.#reconcilers.delete(organizationId);
    const failed = forgotten.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw toAppError(failed.reason, 'store_failed', 'the nonces of an organization could not be erased');
    // Erases also journals of data sources that are no longer wanted, or were never started in this process.
    for (const key of await store.keys(`${JOURNALS}${organizationId}/`)) await store.delete(key);
    await tokens.forget(organizationId);
  }

  /** Stops all work; deletes and disables nothing, neither here nor on the platform (L-13). */
  async close(): Promise<void> {
    this.#over.abort('shutdown');
    const opened = await Promise.allSettled([...this.#served.values()]);
    const reconcilers = opened.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    await Promise.all(reconcilers.map((reconciler) => reconciler.stop()));
    await this.#starting;
  }

  /**
   * Creates the reconcilers of an organization, and trusts its stored nonces. Creates none when they exist or the organization has
   * withdrawn its authorization.
   *
   * @returns the reconcilers, or the error. Never throws.
   */
  async #opened(organization: AuthorizingOrganization): Promise<readonly DataSourceReconciler[] | AppError> {
    const { organizationId } = organization;
    if (this.#hasEnded(organizationId) || this.#served.has(organizationId)) return [];
    const opening = this.#open(organization);
    this.#served.set(organizationId, opening);
    try {
      const reconcilers = await opening;
      if (this.#hasEnded(organizationId)) return [];
      for (const reconciler of reconcilers) reconciler.serveKnown();
      this.#reconcilers.set(organizationId, reconcilers);
      return reconcilers;
    } catch (thrown) {
      this.#served.delete(organizationId);
      return toAppError(thrown, 'internal', 'an organization could not be begun');
    }
  }

  /** Runs the first step of each reconciler. @returns the errors. */
  async #begin(
    { organizationId }: AuthorizingOrganization,
    reconcilers: readonly DataSourceReconciler[],
    signal: AbortSignal,
  ): Promise<readonly AppError[]> {
    if (this.#hasEnded(organizationId)) return [];
    const errors: AppError[] = [];
    const started = reconcilers.map((reconciler) =>
      reconciler.start().catch((thrown: unknown) => {
        errors.push(toAppError(thrown, 'internal', 'a data source could not be checked'));
      }),
    );
    const isOver = await this.#wait(Promise.all(started), signal);
    if (!isOver && !signal.aborted) errors.push(new AppError('platform_unavailable', 'the first check of a data source takes too long'));
    return errors;
  }

  /** While the journals were read, this object may have been closed or the organization may have withdrawn its authorization. */
  #hasEnded(organizationId: string): boolean {
    return this.#over.isAborted || this.#gone.has(organizationId);
  }

  async #open({ organizationId, authorizerOrgId }: AuthorizingOrganization): Promise<readonly DataSourceReconciler[]> {
    const { store, tokens, wanted, openApi, trust, times, clock, observer, leader, onUnsaved } = this.#options;
    const api = openApi(tokens.tokensOf(authorizerOrgId));
    return Promise.all(
      wanted(organizationId).map(async (one) => {
        const journal = await NonceJournal.open({ key: journalKey(one), store, configured: one, clock, onUnsaved });
        return new DataSourceReconciler({ wanted: one, api, journal, trust, times, clock, observer, leader });
      }),
    );
  }

  /** @returns whether `work` ended before the limit. */
  async #wait(work: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
    return (await waitAtMost(work, MAX_START_MS, this.#options.clock, signal)).kind === 'value';
  }
}
