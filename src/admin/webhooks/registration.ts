// Keeps the two webhooks of the service app registered: each exists, is ours, active, and signed with a known secret (R-23, R-24, H-25).
// Does not handle deliveries.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { toAppError, type AppError } from '../../base/errors.ts';
import { isSameId } from '../platform-id.ts';
import type { Webhooks } from '../rest/webhooks.ts';
import type { SecretStore } from '../secret-store.ts';
import type { WebhookRegistration } from '../webhook-records.ts';
import { SERVICE_APP_EVENTS, type ServiceAppEventName } from './delivery.ts';
import { keptRegistrations, secretsIn, writeRegistrations, type KeptRegistration, type KeptRegistrations } from './kept-registrations.ts';

const SECRET_BYTES = 32;
/** How long deliveries that the previous secret signed are accepted, ms: they may be on their way, or repeated. */
const PREVIOUS_MS = 10 * 60_000;
/** The beginning of the filter of a webhook for a service app. */
const FILTER = 'id=';

/** The outcome of a check of one registration; a closed set, for the label of a metric. */
export const REGISTRATION_OUTCOMES = ['kept', 'created', 'updated', 'reactivated', 'duplicate', 'removed', 'failed'] as const;
/**
 * `kept`: was correct; `created`; `updated`: name, address or secret differed; `reactivated`: the platform had disabled it; `duplicate`:
 * there is another fitting one, which may belong to somebody else; `removed`: a duplicate of ours was deleted; `failed`: the attempt failed
 * and will be repeated.
 */
export type RegistrationOutcome = (typeof REGISTRATION_OUTCOMES)[number];

export interface RegistrationChange {
  readonly event: ServiceAppEventName;
  readonly outcome: RegistrationOutcome;
  readonly webhookId?: string | undefined;
  readonly error?: AppError | undefined;
}

export interface RegistrationsOptions {
  readonly api: Pick<Webhooks, 'list' | 'create' | 'update' | 'delete'>;
  readonly store: SecretStore;
  /** The target of deliveries: the address at which the platform reaches us. */
  readonly targetUrl: string;
  /** The service app's client id, in any spelling. */
  readonly applicationId: string;
  /** The service app's id, in the spelling of filters. */
  readonly filterId: string;
  /** The name of the resource and the scheme of ids, both from the profile. */
  readonly resource: string;
  readonly idScheme: string;
  readonly clock: Clock;
  /** Called for each registration in each check; must not throw. */
  readonly onRegistration: (change: RegistrationChange) => void;
}

/** The registrations of one service app. Holds nothing open. */
export class Registrations {
  readonly #options: RegistrationsOptions;
  #kept: KeptRegistrations;

  private constructor(options: RegistrationsOptions, kept: KeptRegistrations) {
    this.#options = options;
    this.#kept = kept;
  }

  /** Reads the stored secrets first, so that deliveries are recognized from the beginning. */
  static async open(options: RegistrationsOptions): Promise<Registrations> {
    return new Registrations(options, await keptRegistrations(options.store));
  }

  /** Every secret with which the platform may sign: confirmed ones, those with unknown outcome, and previous ones. */
  get secrets(): readonly string[] {
    return secretsIn(this.#kept, this.#options.clock.nowMs());
  }

  /**
   * Checks both registrations and repairs them. When one fails, the other is repaired nevertheless.
   *
   * @throws AppError of the platform, of the tokens, or of the store: the first error.
   */
  async ensure(signal: AbortSignal): Promise<void> {
    const { api, onRegistration } = this.#options;
    const failures: AppError[] = [];
    const failed = (event: ServiceAppEventName, thrown: unknown): void => {
      const error = toAppError(thrown, 'internal', 'a webhook could not be registered');
      failures.push(error);
      onRegistration({ event, outcome: 'failed', error });
    };
    let listed: readonly WebhookRegistration[] = [];
    try {
      listed = await api.list(signal);
    } catch (thrown) {
      for (const event of SERVICE_APP_EVENTS) failed(event, thrown);
    }
    if (failures.length === 0) {
      for (const event of SERVICE_APP_EVENTS) {
        await this.#ensureOne(event, listed, signal).catch((thrown: unknown) => {
          failed(event, thrown);
        });
      }
    }
    const [first] = failures;
    if (first !== undefined) throw first;
  }

  async #ensureOne(event: ServiceAppEventName, listed: readonly WebhookRegistration[], signal: AbortSignal): Promise<void> {
    const { onRegistration } = this.#options;
    const fitting = listed.filter((webhook) => notifiesOf(webhook, event, this.#options));
    const ours = this.#chosen(fitting, event);
    if (ours === undefined) await this.#create(event, signal);
    else if (this.#isRight(ours, event)) onRegistration({ event, outcome: 'kept', webhookId: ours.id });
    else await this.#update(ours, event, signal);
    for (const other of fitting.filter(({ id }) => id !== ours?.id)) await this.#weedOut(other, event, signal);
  }

  /** The webhook that we created, or else the most similar one. */
  #chosen(fitting: readonly WebhookRegistration[], event: ServiceAppEventName): WebhookRegistration | undefined {
    const known = this.#kept[event]?.webhookId;
    return (
      fitting.find(({ id }) => id === known) ??
      fitting.find((webhook) => isMadeByUs(webhook, event, this.#options.targetUrl)) ??
      fitting.find(({ targetUrl }) => targetUrl === this.#options.targetUrl) ??
      fitting[0]
    );
  }

  #isRight(webhook: WebhookRegistration, event: ServiceAppEventName): boolean {
    return isMadeByUs(webhook, event, this.#options.targetUrl) && !isInactive(webhook) && this.#secretOf(webhook, event) !== undefined;
  }

  /** The secret of a webhook if it is certain; undefined when it is unknown or known to differ. */
  #secretOf(webhook: WebhookRegistration, event: ServiceAppEventName): string | undefined {
    const { webhookId, current, announced, isSecretTold } = this.#kept[event] ?? {};
    if (webhookId !== webhook.id || announced !== undefined) return undefined;
    // When the platform does not return secrets unchanged, a different secret proves nothing.
    return isSecretTold !== true || webhook.secret === undefined || webhook.secret === current ? current : undefined;
  }

  async #create(event: ServiceAppEventName, signal: AbortSignal): Promise<void> {
    const { api, targetUrl, resource, filterId, onRegistration } = this.#options;
    const secret = await this.#announce(event);
    const create = { name: nameOf(event), targetUrl, resource, event, filter: FILTER + filterId, secret };
    const created = await api.create(create, signal);
    await this.#confirm(event, created, secret);
    onRegistration({ event, outcome: 'created', webhookId: created.id });
  }

  async #update(webhook: WebhookRegistration, event: ServiceAppEventName, signal: AbortSignal): Promise<void> {
    const { api, targetUrl, onRegistration } = this.#options;
    // Keep a certain secret, because it has signed deliveries that are on their way.
    const secret = this.#secretOf(webhook, event) ?? (await this.#announce(event));
    const updated = await api.update(webhook.id, { name: nameOf(event), targetUrl, secret, status: 'active' }, signal);
    await this.#confirm(event, { ...updated, id: webhook.id }, secret);
    onRegistration({ event, outcome: isInactive(webhook) ? 'reactivated' : 'updated', webhookId: webhook.id });
  }

  /** Deletes a duplicate of ours, which would deliver everything twice. Only reports another one, which may belong to somebody else. */
  async #weedOut(webhook: WebhookRegistration, event: ServiceAppEventName, signal: AbortSignal): Promise<void> {
    const { api, onRegistration } = this.#options;
    const isOurs = isMadeByUs(webhook, event, this.#options.targetUrl);
    if (isOurs) await api.delete(webhook.id, signal);
    onRegistration({ event, outcome: isOurs ? 'removed' : 'duplicate', webhookId: webhook.id });
  }

  /** A secret that is stored before the platform can sign with it. Reuses a secret with unknown outcome. */
  async #announce(event: ServiceAppEventName): Promise<string> {
    const kept = this.#kept[event];
    const announced = kept?.announced ?? randomBytes(SECRET_BYTES).toString('base64url');
    if (kept?.announced === undefined) await this.#keep(event, { ...kept, announced });
    return announced;
  }

  /** Records that the platform has this secret; the previous one stays valid for a while. */
  async #confirm(event: ServiceAppEventName, { id, secret: repeated }: WebhookRegistration, secret: string): Promise<void> {
    const { current, previous } = this.#kept[event] ?? {};
    const isNew = current !== undefined && current !== secret;
    const last = isNew ? { secret: current, untilMs: this.#options.clock.nowMs() + PREVIOUS_MS } : previous;
    await this.#keep(event, { webhookId: id, current: secret, previous: last, isSecretTold: repeated === secret });
  }

  async #keep(event: ServiceAppEventName, kept: KeptRegistration): Promise<void> {
    const written = { ...this.#kept, [event]: kept };
    await writeRegistrations(this.#options.store, written);
    this.#kept = written;
  }
}

/** Whether a webhook is for this event and this app. Ids are compared by value (H-04). */
export function notifiesOf(
  { resource, event, filter }: WebhookRegistration,
  wanted: ServiceAppEventName,
  target: Pick<RegistrationsOptions, 'resource' | 'applicationId' | 'idScheme'>,
): boolean {
  if (resource !== target.resource || event !== wanted || filter?.startsWith(FILTER) !== true) return false;
  return isSameId(filter.slice(FILTER.length), target.applicationId, 'APPLICATION', target.idScheme);
}

/** Whether a webhook for this event has our name and address. */
export function isMadeByUs({ name, targetUrl }: WebhookRegistration, event: ServiceAppEventName, ourUrl: string | undefined): boolean {
  return name === nameOf(event) && targetUrl === ourUrl;
}

function nameOf(event: ServiceAppEventName): string {
  return `Parley: service app ${event}`;
}

function isInactive({ status }: WebhookRegistration): boolean {
  return status !== undefined && status !== 'active';
}
