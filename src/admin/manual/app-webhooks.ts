// The webhooks of a service app, for the manual commands: lists them with their owners, repairs ours, and deletes one together with its
// stored secret. Prints nothing, and shows no secret.
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { ServiceAppSide } from '../access.ts';
import { isSameId } from '../platform-id.ts';
import type { SecretStore } from '../secret-store.ts';
import type { WebhookRegistration } from '../webhook-records.ts';
import { SERVICE_APP_EVENTS } from '../webhooks/delivery.ts';
import { forgetRegistration, keptRegistrations } from '../webhooks/kept-registrations.ts';
import { isMadeByUs, Registrations, notifiesOf, type RegistrationChange } from '../webhooks/registration.ts';
import { shownRecord } from './shown-record.ts';

/**
 * Who owns a webhook. `ours`: this store has its secret, or its name and address are ours; `same_app`: it is for the same app, but has
 * another name or address; `other`: it is for something else.
 */
export type WebhookOwner = 'ours' | 'same_app' | 'other';

/** The printable members of a webhook. Absent when the platform does not send them. */
export type WebhookView = Omit<WebhookRegistration, 'secret'> & { readonly owner: WebhookOwner };

export interface AppWebhooksOptions {
  readonly app: ServiceAppSide;
  readonly store: SecretStore;
  /** The target of deliveries; undefined when no webhooks are configured. */
  readonly targetUrl: string | undefined;
  /** Whether a running server holds the store. */
  readonly isHeldElsewhere: boolean;
}

/** Every method rejects as requests to the platform do, and with errors of the store. */
export class AppWebhooks {
  readonly #options: AppWebhooksOptions;

  constructor(options: AppWebhooksOptions) {
    this.#options = options;
  }

  /** Lists all webhooks that the integration can see. */
  async list(signal: AbortSignal): Promise<readonly WebhookView[]> {
    const keptIds = await this.#keptIds();
    return (await this.#options.app.api.list(signal)).map((webhook) => viewOf(webhook, this.#ownerOf(webhook, keptIds)));
  }

  /**
   * Registers and repairs both webhooks of the app.
   *
   * @param onDone - called for each webhook, also after a failure.
   * @throws AppError `config_invalid` when no webhooks are configured, and the first failure.
   */
  async ensure(onDone: (change: RegistrationChange) => void, signal: AbortSignal): Promise<void> {
    const { app, store, targetUrl } = this.#options;
    if (targetUrl === undefined) throw new AppError('config_invalid', 'no webhooks are wanted: admin.webhooks.target_url is not set');
    const { api, applicationId, filterId, idScheme, names } = app;
    const about = { api, store, targetUrl, applicationId, filterId, idScheme, resource: names.appResource, clock: systemClock };
    const registrations = await Registrations.open({ ...about, onRegistration: onDone });
    await registrations.ensure(signal);
  }

  /**
   * Deletes a webhook, and erases its secret from the store.
   *
   * @param id - in any spelling.
   * @returns the deleted webhook.
   * @throws AppError `platform_refused` when there is no such webhook, `store_failed` for one of ours while a server holds the store.
   */
  async delete(id: string, signal: AbortSignal): Promise<WebhookView> {
    const { app, store, isHeldElsewhere } = this.#options;
    const isMeant = (webhook: WebhookRegistration): boolean => webhook.id === id || isSameId(webhook.id, id, 'WEBHOOK', app.idScheme);
    const found = (await app.api.list(signal)).find(isMeant);
    if (found === undefined) {
      throw new AppError('platform_refused', 'the integration has no such webhook: `parley admin webhooks list` shows those there are');
    }
    const view = viewOf(found, this.#ownerOf(found, await this.#keptIds()));
    if (view.owner === 'ours' && isHeldElsewhere) {
      const why = 'a running server keeps this webhook and would register another one at its next check';
      throw new AppError('store_failed', `${why}: stop it first`);
    }
    await app.api.delete(found.id, signal);
    if (view.owner === 'ours') await forgetRegistration(store, found.id);
    return view;
  }

  /** Ids of the webhooks with stored secrets. */
  async #keptIds(): Promise<ReadonlySet<string | undefined>> {
    const kept = await keptRegistrations(this.#options.store);
    return new Set(SERVICE_APP_EVENTS.map((event) => kept[event]?.webhookId));
  }

  #ownerOf(webhook: WebhookRegistration, keptIds: ReadonlySet<string | undefined>): WebhookOwner {
    const { app, targetUrl } = this.#options;
    const target = { resource: app.names.appResource, applicationId: app.applicationId, idScheme: app.idScheme };
    const event = SERVICE_APP_EVENTS.find((each) => notifiesOf(webhook, each, target));
    if (event === undefined) return 'other';
    return keptIds.has(webhook.id) || isMadeByUs(webhook, event, targetUrl) ? 'ours' : 'same_app';
  }
}

function viewOf({ secret, ...webhook }: WebhookRegistration, owner: WebhookOwner): WebhookView {
  return { ...shownRecord(webhook, [secret]), owner };
}
