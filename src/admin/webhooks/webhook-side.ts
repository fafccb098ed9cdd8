// Connects the parts for webhooks: registrations on the platform, the endpoint for deliveries, and the inbox of events.
import type { Clock } from '../../base/clock.ts';
import type { ServiceAppSide } from '../access.ts';
import type { SecretStore } from '../secret-store.ts';
import type { ServiceAppEvent } from './delivery.ts';
import { openDeliveryPort, type DeliveryAddress } from './delivery-port.ts';
import { Inbox, type AuthorizationHandler, type AuthorizingOrganization, type InboxOptions, type Received } from './inbox.ts';
import type { ReceiverOptions } from './receiver.ts';
import { Registrations, type RegistrationsOptions } from './registration.ts';

export interface WebhookSettings extends DeliveryAddress {
  /** The target of deliveries: the address at which the platform reaches us. */
  readonly targetUrl: string;
  /** Whether other servers accept deliveries and pass the events to {@link WebhookSide.receive}. Default false. */
  readonly isFed?: boolean | undefined;
}

/** Notified of deliveries, registrations and failures; the methods must not throw. */
export interface WebhookObserver {
  readonly delivered: ReceiverOptions['onDelivery'];
  readonly registered: RegistrationsOptions['onRegistration'];
  /** Called when an event could not be processed yet; it will be repeated. */
  readonly eventFailed: InboxOptions['onFailed'];
}

export interface WebhookSide {
  /** The port of the endpoint; undefined when deliveries are accepted elsewhere. */
  readonly port: number | undefined;
  readonly registrations: Registrations;
  /** The organizations whose newest event is an authorization. */
  readonly authorized: readonly AuthorizingOrganization[];
  /** Accepts an event that another server has received, as {@link Inbox.receive} does. */
  receive(event: ServiceAppEvent): Promise<Received>;
  /** Accepts no more deliveries and stops processing events; the next start continues. */
  close(): Promise<void>;
}

/**
 * Opens the parts: accepts deliveries, but registers nothing yet.
 *
 * @throws AppError `listen_failed`, and of the store.
 */
export async function openWebhookSide(
  { targetUrl, isFed = false, ...where }: WebhookSettings,
  serviceApp: Omit<ServiceAppSide, 'api'> & Pick<RegistrationsOptions, 'api'>,
  parts: {
    readonly handler: AuthorizationHandler;
    readonly store: SecretStore;
    readonly clock: Clock;
    readonly observer: WebhookObserver;
    /** See {@link InboxOptions.onDone}. */
    readonly onDone: InboxOptions['onDone'];
  },
): Promise<WebhookSide> {
  const { api, applicationId, filterId, names, idScheme } = serviceApp;
  const { handler, store, clock, observer, onDone } = parts;
  const registrations = await Registrations.open({
    ...{ api, store, targetUrl, applicationId, filterId, resource: names.appResource, idScheme, clock },
    onRegistration: observer.registered,
  });
  const inbox = await Inbox.open({ store, handler, clock, onDone, onFailed: observer.eventFailed });
  const secrets = (): readonly string[] => registrations.secrets;
  try {
    const opened = isFed ? undefined : await openDeliveryPort(where, serviceApp, { inbox, secrets, onDelivery: observer.delivered, clock });
    return {
      port: opened?.port,
      registrations,
      get authorized() {
        return inbox.authorized;
      },
      receive: (event) => inbox.receive(event),
      close: async () => {
        // In parallel, because stopping the processing must not wait for a client that keeps its connection open.
        await Promise.all([opened?.close(), inbox.close()]);
      },
    };
  } catch (thrown) {
    await inbox.close();
    throw thrown;
  }
}
