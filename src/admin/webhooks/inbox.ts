// Genuine events of the service app, kept until they have had their effect: written down before they are acknowledged,
// worked off one after the other for each organization, and fenced, so that an authorization which is still being worked
// on cannot outlive the deauthorization after it (H-22, H-23). Knows what happened, not what to do about it.
import { linkAbort, pause, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import { retryAfterOf } from '../rest/rest-error.ts';
import type { SecretStore } from '../secret-store.ts';
import type { ServiceAppEvent } from './delivery.ts';
import { isOpen, organizationsWithEvents, readKeptEvent, writeKeptEvent, type KeptEvent } from './kept-events.ts';

/** Events of one organization that are known again when they are delivered again. */
const MAX_SEEN = 20;
const MAX_ORGANIZATIONS = 5000;
/** The first pause after a failed try, ms, doubled up to the longest. */
const FIRST_RETRY_MS = 2000;
const MAX_RETRY_MS = 300_000;

/** An organization as its events name it. */
export interface AuthorizingOrganization {
  /** A plain lower-case UUID. */
  readonly organizationId: string;
  /** As the platform spelt it (U-14). */
  readonly authorizerOrgId: string;
}

/** An event that has had its effect. */
export type HandledEvent = AuthorizingOrganization & Pick<ServiceAppEvent, 'event' | 'authorizedAtMs'>;

/** Does what an event asks for. Both are repeated until they resolve, and stop when `signal` aborts. */
export interface AuthorizationHandler {
  authorized(organization: AuthorizingOrganization, signal: AbortSignal): Promise<void>;
  deauthorized(organization: AuthorizingOrganization, signal: AbortSignal): Promise<void>;
}

export type Received = 'taken' | 'known' | 'outdated';

export interface InboxOptions {
  readonly store: SecretStore;
  readonly handler: AuthorizationHandler;
  readonly clock: Clock;
  /** An event has had its effect: at least once for each, and again when that could not be written down. Must not throw. */
  readonly onDone: (event: HandledEvent) => void;
  /** A try failed and will be repeated. */
  readonly onFailed: (organizationId: string, event: ServiceAppEvent['event'], error: AppError) => void;
}

interface Organization {
  written: KeptEvent;
  /** The newest that is on disk: a delivery is acknowledged when it is the same. */
  saved: KeptEvent | undefined;
  /** Aborts the work on an event that another one has overtaken. */
  work: LinkedAbort | undefined;
  running: Promise<void> | undefined;
}

/** The events of all organizations. `close` must be called. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #organizations = new Map<string, Organization>();
  readonly #over: LinkedAbort = linkAbort();

  private constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Reads what was written before and goes on with what had no effect yet. */
  static async open(options: InboxOptions): Promise<Inbox> {
    const inbox = new Inbox(options);
    for (const id of await organizationsWithEvents(options.store)) {
      const written = await readKeptEvent(options.store, id);
      if (written !== undefined) inbox.#organizations.set(id, { written, saved: written, work: undefined, running: undefined });
    }
    for (const id of inbox.#organizations.keys()) inbox.#begin(id);
    return inbox;
  }

  /** Organizations that are authorized, as far as their events say, whether that has had its effect or not. */
  get authorized(): readonly AuthorizingOrganization[] {
    return [...this.#organizations]
      .filter(([, { written }]) => written.event === 'authorized')
      .map(([organizationId, { written }]) => ({ organizationId, authorizerOrgId: written.authorizerOrgId }));
  }

  /**
   * Takes an event. Resolves when it is on disk, so that it can be acknowledged; its effect comes later. When it cannot be
   * written, a deauthorization has its effect all the same, and an authorization once it can.
   *
   * @throws AppError `store_failed` when it cannot be kept, `overloaded` beyond the bound of organizations.
   */
  async receive(event: ServiceAppEvent): Promise<Received> {
    const known = this.#organizations.get(event.organizationId);
    if (known?.written.seen.includes(event.idempotencyKey) === true) {
      // The delivery before may still be on its way to the disk, or may not have come there: this one is its second chance.
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
    // What it overtakes must not go on while it is being written.
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

  /** Stops; what had no effect yet is gone on with after the next start. */
  async close(): Promise<void> {
    this.#over.abort('shutdown');
    for (const { running } of [...this.#organizations.values()]) await running;
  }

  #begin(id: string): void {
    const organization = this.#organizations.get(id);
    if (organization === undefined || organization.running !== undefined) return;
    organization.running = this.#workOff(id, organization).finally(() => {
      organization.running = undefined;
      // One that came at the very end.
      if (isOpen(organization.written) && !this.#over.signal.aborted) this.#begin(id);
    });
  }

  /** Never throws. */
  async #workOff(id: string, organization: Organization): Promise<void> {
    const { clock, onFailed } = this.#options;
    // What has had its effect and is not written down yet would come back with a restart.
    const isLeft = (): boolean => isOpen(organization.written) || !isSaved(organization);
    for (let failures = 0; isLeft() && !this.#over.signal.aborted;) {
      const { generation, event } = organization.written;
      const work = linkAbort(this.#over.signal);
      organization.work = work;
      try {
        // A restart would not know whom it is to let in; but nobody may be let in for want of a disk.
        if (event === 'authorized' && !isSaved(organization)) {
          await this.#save(id, organization);
          // Overtaken meanwhile: by what is worked on next, or by the end.
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

  /** @throws AppError of the store; what is not on disk stays open, and the platform delivers it again. */
  async #save(id: string, organization: Organization): Promise<void> {
    const { written } = organization;
    await writeKeptEvent(this.#options.store, id, written);
    organization.saved = written;
  }
}

/** Whether a restart would know the newest event, and what became of it. */
function isSaved({ saved, written }: Organization): boolean {
  return saved === written;
}

/** The fence: only the newest event can be done. @returns whether it was the newest. */
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
