// Genuine events of the service app until they are processed: stored before they are acknowledged, processed one after another for
// each organization, and fenced, so that an authorization that is still being processed cannot outlive the deauthorization after
// it (H-22, H-23). Does not know how to process them.
import { linkAbort, pause, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { retryAfterOf } from '../rest/rest-error.ts';
import type { SecretStore } from '../secret-store.ts';
import type { ServiceAppEvent } from './delivery.ts';
import { isOpen, organizationsWithEvents, readKeptEvent, writeKeptEvent, type KeptEvent } from './kept-events.ts';

/** Events of one organization that are recognized when they are delivered again. */
const MAX_SEEN = 20;
const MAX_ORGANIZATIONS = 5000;
/** The first pause after a failed attempt, ms, doubled up to the longest. */
const FIRST_RETRY_MS = 2000;
const MAX_RETRY_MS = 300_000;

/** An organization as its events name it. */
export interface AuthorizingOrganization {
  /** A plain lower-case UUID. */
  readonly organizationId: string;
  /** In the platform's spelling (U-14). */
  readonly authorizerOrgId: string;
}

/** A processed event. */
export type HandledEvent = AuthorizingOrganization & Pick<ServiceAppEvent, 'event' | 'authorizedAtMs'>;

/** Processes an event. Both methods are repeated until they resolve, and stop when `signal` aborts. */
export interface AuthorizationHandler {
  authorized(organization: AuthorizingOrganization, signal: AbortSignal): Promise<void>;
  deauthorized(organization: AuthorizingOrganization, signal: AbortSignal): Promise<void>;
}

export type Received = 'taken' | 'known' | 'outdated';

export interface InboxOptions {
  readonly store: SecretStore;
  readonly handler: AuthorizationHandler;
  readonly clock: Clock;
  /** An event was processed: called at least once for each, and again when that could not be stored. Must not throw. */
  readonly onDone: (event: HandledEvent) => void;
  /** An attempt failed and will be repeated. */
  readonly onFailed: (organizationId: string, event: ServiceAppEvent['event'], error: AppError) => void;
}

interface Organization {
  written: KeptEvent;
  /** The newest stored event: a delivery of the same event is acknowledged at once. */
  saved: KeptEvent | undefined;
  /** Aborts the processing of an event that a newer one has overtaken. */
  work: LinkedAbort | undefined;
  running: Promise<void> | undefined;
}

/** The events of all organizations. Call `close`. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #organizations = new Map<string, Organization>();
  readonly #over: LinkedAbort = linkAbort();

  private constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Reads the stored events and continues with those that are not processed yet. */
  static async open(options: InboxOptions): Promise<Inbox> {
    const inbox = new Inbox(options);
    for (const id of await organizationsWithEvents(options.store)) {
      const written = await readKeptEvent(options.store, id);
      if (written !== undefined) inbox.#organizations.set(id, { written, saved: written, work: undefined, running: undefined });
    }
    for (const id of inbox.#organizations.keys()) inbox.#begin(id);
    return inbox;
  }

  /** Organizations that are authorized according to their events, processed or not. */
  get authorized(): readonly AuthorizingOrganization[] {
    return [...this.#organizations]
      .filter(([, { written }]) => written.event === 'authorized')
      .map(([organizationId, { written }]) => ({ organizationId, authorizerOrgId: written.authorizerOrgId }));
  }

  /**
   * Accepts an event. Resolves when it is stored, so that it can be acknowledged; processing follows. If it cannot be stored, a
   * deauthorization is processed all the same, and an authorization once it can be stored.
   *
   * @throws AppError `store_failed` when it cannot be kept, `overloaded` beyond the bound of organizations.
   */
  async receive(event: ServiceAppEvent): Promise<Received> {
    const known = this.#organizations.get(event.organizationId);
    if (known?.written.seen.includes(event.idempotencyKey) === true) {
      // The earlier delivery may still be on its way to the disk, or may have failed: this is its second chance.
      if (!isSaved(known)) await this.#save(event.organizationId, known);
      this.#begin(event.organizationId);
      return 'known';
    }
    if (known === undefined && this.#organizations.size >= MAX_ORGANIZATIONS) {
      throw new AppError('overloaded', 'too many organizations', { details: { limit: MAX_ORGANIZATIONS } });
    }
    const isOutdated = known !== undefined && isOvertaken(event, known.written);
    const organization = known ?? { written: nothingYet(event), saved: undefined, work: undefined, running: undefined };
    organization.written = isOutdated ? seen(organization.written, event) : next(organization.written, event);
    this.#organizations.set(event.organizationId, organization);
    // The overtaken event must not continue while this one is stored.
    if (!isOutdated) organization.work?.abort('superseded');
    try {
      await this.#save(event.organizationId, organization);
    } catch (thrown) {
      // It may never be delivered again (H-24).
      if (!isOutdated) this.#begin(event.organizationId);
      throw thrown;
    }
    if (isOutdated) return 'outdated';
    this.#begin(event.organizationId);
    return 'taken';
  }

  /** Stops; the rest is processed after the next start. */
  async close(): Promise<void> {
    this.#over.abort('shutdown');
    for (const { running } of [...this.#organizations.values()]) await running;
  }

  #begin(id: string): void {
    const organization = this.#organizations.get(id);
    if (organization === undefined || organization.running !== undefined) return;
    organization.running = this.#workOff(id, organization).finally(() => {
      organization.running = undefined;
      // An event that came at the very end.
      if (isOpen(organization.written) && !this.#over.signal.aborted) this.#begin(id);
    });
  }

  /** Never throws. */
  async #workOff(id: string, organization: Organization): Promise<void> {
    const { clock, onFailed } = this.#options;
    // A processed event that is not stored as such would be processed again after a restart.
    const isLeft = (): boolean => isOpen(organization.written) || !isSaved(organization);
    for (let failures = 0; isLeft() && !this.#over.signal.aborted;) {
      const { generation, event } = organization.written;
      const work = linkAbort(this.#over.signal);
      organization.work = work;
      try {
        // After a restart it would be unknown whom to trust; but nobody may be trusted because a disk is full.
        if (event === 'authorized' && !isSaved(organization)) {
          await this.#save(id, organization);
          // Overtaken meanwhile: by a newer event, or by the end.
          if (work.signal.aborted) continue;
        }
        if (isOpen(organization.written)) {
          await this.#handle(id, organization.written, work.signal);
          failures = 0;
          if (markDone(organization, generation)) this.#notify(id, organization.written);
        }
        if (!isSaved(organization)) await this.#save(id, organization);
      } catch (thrown) {
        if (!work.signal.aborted) {
          onFailed(id, event, toAppError(thrown, 'internal', 'an event of the service app failed'));
          failures += 1;
          const pauseMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
          await pause(Math.max(pauseMs, retryAfterOf(thrown)), clock, work.signal);
        } else failures = 0;
      } finally {
        work.dispose();
        organization.work = undefined;
      }
    }
  }

  #handle(organizationId: string, { event, authorizerOrgId }: KeptEvent, signal: AbortSignal): Promise<void> {
    const { handler } = this.#options;
    const organization = { organizationId, authorizerOrgId };
    return event === 'authorized' ? handler.authorized(organization, signal) : handler.deauthorized(organization, signal);
  }

  #notify(organizationId: string, { event, authorizerOrgId, authorizedAtMs }: KeptEvent): void {
    this.#options.onDone({ organizationId, event, authorizerOrgId, authorizedAtMs });
  }

  /** @throws AppError of the store; an event that is not stored stays open, and the platform delivers it again. */
  async #save(id: string, organization: Organization): Promise<void> {
    const { written } = organization;
    await writeKeptEvent(this.#options.store, id, written);
    organization.saved = written;
  }
}

/** Whether the store has the newest event and its state. */
function isSaved({ saved, written }: Organization): boolean {
  return saved === written;
}

/** The fence: only the newest event can be completed. @returns whether it was the newest. */
function markDone(organization: Organization, generation: number): boolean {
  if (organization.written.generation !== generation) return false;
  organization.written = { ...organization.written, done: generation };
  return true;
}

/**
 * Deliveries may come late and in any order; a deauthorization may carry the date of the authorization it ends, and then is
 * the newer one of both (H-22).
 */
function isOvertaken({ event, authorizedAtMs }: ServiceAppEvent, written: KeptEvent): boolean {
  if (authorizedAtMs !== written.authorizedAtMs) return authorizedAtMs < written.authorizedAtMs;
  return event === 'authorized' && written.event === 'deauthorized';
}

function nothingYet({ event, authorizerOrgId, authorizedAtMs }: ServiceAppEvent): KeptEvent {
  return { version: 1, generation: 0, done: 0, event, authorizerOrgId, authorizedAtMs, seen: [] };
}

function seen(written: KeptEvent, { idempotencyKey }: ServiceAppEvent): KeptEvent {
  return { ...written, seen: [...written.seen, idempotencyKey].slice(-MAX_SEEN) };
}

function next(written: KeptEvent, event: ServiceAppEvent): KeptEvent {
  const { authorizerOrgId, authorizedAtMs } = event;
  return { ...seen(written, event), generation: written.generation + 1, event: event.event, authorizerOrgId, authorizedAtMs };
}
