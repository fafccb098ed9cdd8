// Keeps the two webhooks of the service app registered: existing, ours, active and signed with a known secret (R-23, R-24, H-25).
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
/** How long deliveries signed with the previous secret are accepted, ms: they may be on their way, or be repeated. */
const PREVIOUS_MS = 10 * 60_000;
/** The beginning of the filter of a service app's webhook. */
const FILTER = 'id=';

/** What was done about a registration; a closed set for the label of a metric. */
export const REGISTRATION_OUTCOMES = ['kept', 'created', 'updated', 'reactivated', 'duplicate', 'removed', 'failed'] as const;
/**
 * `kept`: correct as it was; `created`; `updated`: name, address or secret differed; `reactivated`: the platform had
 * disabled it; `duplicate`: another one fits and may be somebody's; `removed`: a duplicate of ours was deleted;
 * `failed`: an attempt failed and is repeated.
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
  /** The target of deliveries, as the platform reaches us. */
  readonly targetUrl: string;
  /** Client id of the service app, in any spelling. */
  readonly applicationId: string;
  /** The id of the service app in the spelling of filters. */
  readonly filterId: string;
  /** The name of the resource and the scheme of ids, of the profile. */
  readonly resource: string;
  readonly idScheme: string;
  readonly clock: Clock;
  /** Called for each registration at each check; must not throw. */
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

  /** Reads the stored secrets, so that deliveries are recognized from the first moment. */
  static async open(options: RegistrationsOptions): Promise<Registrations> {
    return new Registrations(options, await keptRegistrations(options.store));
  }

  /** Every secret that the platform may sign with: confirmed ones, those with unknown outcome, previous ones. */
  get secrets(): readonly string[] {
    return secretsIn(this.#kept, this.#options.clock.nowMs());
  }

  /**
   * Checks both registrations and repairs them. If one fails, the other is still repaired.
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

  /** The one that we created, else the most similar one. */
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

  /** The certain secret of a webhook; undefined when it is unknown, or another than it should be. */
  #secretOf(webhook: WebhookRegistration, event: ServiceAppEventName): string | undefined {
    const { webhookId, current, announced, isSecretTold } = this.#kept[event] ?? {};
    if (webhookId !== webhook.id || announced !== undefined) return undefined;
    // A different secret proves nothing on a platform that does not return secrets unchanged.
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
    // Keep a good secret: deliveries on their way are signed with it.
    const secret = this.#secretOf(webhook, event) ?? (await this.#announce(event));
    const updated = await api.update(webhook.id, { name: nameOf(event), targetUrl, secret, status: 'active' }, signal);
    await this.#confirm(event, { ...updated, id: webhook.id }, secret);
    onRegistration({ event, outcome: isInactive(webhook) ? 'reactivated' : 'updated', webhookId: webhook.id });
  }

  /** A duplicate of ours would deliver everything twice; another one may be somebody's and is only reported. */
  async #weedOut(webhook: WebhookRegistration, event: ServiceAppEventName, signal: AbortSignal): Promise<void> {
    const { api, onRegistration } = this.#options;
    const isOurs = isMadeByUs(webhook, event, this.#options.targetUrl);
    if (isOurs) await api.delete(webhook.id, signal);
    onRegistration({ event, outcome: isOurs ? 'removed' : 'duplicate', webhookId: webhook.id });
  }

  /** A secret that is stored before the platform can sign with it. Reuses the one with unknown outcome. */
  async #announce(event: ServiceAppEventName): Promise<string> {
    const kept = this.#kept[event];
    const announced = kept?.announced ?? randomBytes(SECRET_BYTES).toString('base64url');
    if (kept?.announced === undefined) await this.#keep(event, { ...kept, announced });
    return announced;
  }

  /** The platform has this secret; the previous one stays valid for a while. */
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

/** Whether a webhook is about this event and this app: ids are compared by meaning (H-04). */
export function notifiesOf(
  { resource, event, filter }: WebhookRegistration,
  wanted: ServiceAppEventName,
  target: Pick<RegistrationsOptions, 'resource' | 'applicationId' | 'idScheme'>,
): boolean {
  if (resource !== target.resource || event !== wanted || filter?.startsWith(FILTER) !== true) return false;
  return isSameId(filter.slice(FILTER.length), target.applicationId, 'APPLICATION', target.idScheme);
}

/** Whether a webhook of this event has our name and address. */
export function isMadeByUs({ name, targetUrl }: WebhookRegistration, event: ServiceAppEventName, ourUrl: string | undefined): boolean {
  return name === nameOf(event) && targetUrl === ourUrl;
}

function nameOf(event: ServiceAppEventName): string {
  return `Parley: service app ${event}`;
}

function isInactive({ status }: WebhookRegistration): boolean {
  return status !== undefined && status !== 'active';
}
