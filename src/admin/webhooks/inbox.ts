// Genuine events of the service app, until they are processed. Stores each event before it is acknowledged, and processes the events of an
// organization one after another. A fence prevents an authorization that is still being processed from outliving a later deauthorization
// (H-22, H-23). Does not know how events are processed.
import { linkAbort, pause, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { retryAfterOf } from '../rest/rest-error.ts';
import type { SecretStore } from '../secret-store.ts';
import type { ServiceAppEvent } from './delivery.ts';
import { isOpen, organizationsWithEvents, readKeptEvent, writeKeptEvent, type KeptEvent } from './kept-events.ts';

/** Most remembered events of one organization, to recognize repeated deliveries. */
const MAX_SEEN = 20;
const MAX_ORGANIZATIONS = 5000;
/** The pause after the first failed attempt, ms; doubled with each further one up to `MAX_RETRY_MS`. */
const FIRST_RETRY_MS = 2000;
const MAX_RETRY_MS = 300_000;

/** An organization as named in its events. */
export interface AuthorizingOrganization {
  /** A plain lower-case UUID. */
  readonly organizationId: string;
  /** The id in the platform's spelling (U-14). */
  readonly authorizerOrgId: string;
}

/** A processed event. */
export type HandledEvent = AuthorizingOrganization & Pick<ServiceAppEvent, 'event' | 'authorizedAtMs'>;

/** Processes events. Both methods are called again until they resolve, and must stop when `signal` aborts. */
export interface AuthorizationHandler {
  authorized(organization: AuthorizingOrganization, signal: AbortSignal): Promise<void>;
  deauthorized(organization: AuthorizingOrganization, signal: AbortSignal): Promise<void>;
}

export type Received = 'taken' | 'known' | 'outdated';

export interface InboxOptions {
  readonly store: SecretStore;
  readonly handler: AuthorizationHandler;
  readonly clock: Clock;
  /** Called when an event was processed: at least once, and again when that could not be stored. Must not throw. */
  readonly onDone: (event: HandledEvent) => void;
  /** Called when an attempt failed; it will be repeated. */
  readonly onFailed: (organizationId: string, event: ServiceAppEvent['event'], error: AppError) => void;
}

interface Organization {
  written: KeptEvent;
  /** The event as it was stored last; differs from `written` until that is stored. */
  saved: KeptEvent | undefined;
  /** Aborts the processing of an event when a newer one arrives. */
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

  /** Reads the stored events, and continues with those that are not processed. */
  static async open(options: InboxOptions): Promise<Inbox> {
    const inbox = new Inbox(options);
    for (const id of await organizationsWithEvents(options.store)) {
      const written = await readKeptEvent(options.store, id);
      if (written !== undefined) inbox.#organizations.set(id, { written, saved: written, work: undefined, running: undefined });
    }
    for (const id of inbox.#organizations.keys()) inbox.#begin(id);
    return inbox;
  }

  /** The organizations whose newest event is an authorization, processed or not. */
  get authorized(): readonly AuthorizingOrganization[] {
    return [...this.#organizations]
      .filter(([, { written }]) => written.event === 'authorized')
      .map(([organizationId, { written }]) => ({ organizationId, authorizerOrgId: written.authorizerOrgId }));
  }

  /**
   * Accepts an event. Resolves when it is stored, so that it can be acknowledged; processing follows. When it cannot be stored, a
   * deauthorization is processed nevertheless, and an authorization only after it could be stored.
   *
   * @throws AppError `store_failed` when the event cannot be stored, `overloaded` beyond the bound of organizations.
   */
  async receive(event: ServiceAppEvent): Promise<Received> {
    const known = this.#organizations.get(event.organizationId);
    if (known?.written.seen.includes(event.idempotencyKey) === true) {
      // Storing the earlier delivery may still be running, or may have failed: store the event again.
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
    // The processing of an older event must not continue while this one is stored.
    if (!isOutdated) organization.work?.abort('superseded');
    try {
      await this.#save(event.organizationId, organization);
    } catch (thrown) {
      // The platform may never deliver this event again (H-24).
      if (!isOutdated) this.#begin(event.organizationId);
      throw thrown;
    }
    if (isOutdated) return 'outdated';
    this.#begin(event.organizationId);
    return 'taken';
  }

  /** Stops processing; the next start continues it. */
  async close(): Promise<void> {
    this.#over.abort('shutdown');
    for (const { running } of [...this.#organizations.values()]) await running;
  }

  #begin(id: string): void {
    const organization = this.#organizations.get(id);
    if (organization === undefined || organization.running !== undefined) return;
    organization.running = this.#workOff(id, organization).finally(() => {
      organization.running = undefined;
      // An event may have arrived at the end of the previous run.
      if (isOpen(organization.written) && !this.#over.signal.aborted) this.#begin(id);
    });
  }

  /** Never throws. */
  async #workOff(id: string, organization: Organization): Promise<void> {
    const { clock, onFailed } = this.#options;
    // A processed event must also be stored as such, or it would be processed again after a restart.
    const isLeft = (): boolean => isOpen(organization.written) || !isSaved(organization);
    for (let failures = 0; isLeft() && !this.#over.signal.aborted;) {
      const { generation, event } = organization.written;
      const work = linkAbort(this.#over.signal);
      organization.work = work;
      try {
        // Unstored, an authorization would be forgotten at a restart. A deauthorization is never delayed, even when the disk is full.
        if (event === 'authorized' && !isSaved(organization)) {
          await this.#save(id, organization);
          // Meanwhile a newer event has arrived, or the inbox was closed.
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

/** Whether the store has the newest event with its state. */
function isSaved({ saved, written }: Organization): boolean {
  return saved === written;
}

/** Marks an event as processed if it is still the newest one; this is the fence. @returns whether it was. */
function markDone(organization: Organization, generation: number): boolean {
  if (organization.written.generation !== generation) return false;
  organization.written = { ...organization.written, done: generation };
  return true;
}

/**
 * Whether a newer event is known: deliveries may come late and in any order. A deauthorization may have the date of the authorization that
 * it ends, and is then the newer of both (H-22).
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
