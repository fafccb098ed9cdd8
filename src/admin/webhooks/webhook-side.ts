// Connects everything about webhooks: registrations on the platform, the endpoint for deliveries, and the
// inbox of events.
import type { Clock } from '../../base/clock.ts';
import type { ServiceAppSide } from '../access.ts';
import type { SecretStore } from '../secret-store.ts';
import type { ServiceAppEvent } from './delivery.ts';
import { openDeliveryPort, type DeliveryAddress } from './delivery-port.ts';
import { Inbox, type AuthorizationHandler, type AuthorizingOrganization, type InboxOptions, type Received } from './inbox.ts';
import type { ReceiverOptions } from './receiver.ts';
import { Registrations, type RegistrationsOptions } from './registration.ts';

export interface WebhookSettings extends DeliveryAddress {
  /** The target of deliveries, as the platform reaches us. */
  readonly targetUrl: string;
  /** Whether other servers accept deliveries and pass their events to {@link WebhookSide.receive}. Default false. */
  readonly isFed?: boolean | undefined;
}

/** Notified of deliveries and registrations; its methods must not throw. */
export interface WebhookObserver {
  readonly delivered: ReceiverOptions['onDelivery'];
  readonly registered: RegistrationsOptions['onRegistration'];
  /** An event could not be processed yet and is repeated. */
  readonly eventFailed: InboxOptions['onFailed'];
}

export interface WebhookSide {
  /** Undefined where deliveries are accepted elsewhere. */
  readonly port: number | undefined;
  readonly registrations: Registrations;
  /** Organizations that are authorized according to their events. */
  readonly authorized: readonly AuthorizingOrganization[];
  /** Accepts an event whose delivery was accepted elsewhere, as {@link Inbox.receive} does. */
  receive(event: ServiceAppEvent): Promise<Received>;
  /** Accepts no more deliveries and stops processing events; they are continued after the next start. */
  close(): Promise<void>;
}

/**
 * Opens it: accepts deliveries, registers nothing yet.
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
    /** As {@link Inbox} has it. */
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
        // Processing must not wait for a client that does not close its connection.
        await Promise.all([opened?.close(), inbox.close()]);
      },
    };
  } catch (thrown) {
    await inbox.close();
    throw thrown;
  }
}
