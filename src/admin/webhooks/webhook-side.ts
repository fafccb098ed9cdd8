// Everything that has to do with webhooks, joined: registrations at the platform, the address where they deliver, and the
// events that were delivered.
import type { Clock } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import type { Live } from '../../base/live-value.ts';
import type { TlsIdentity } from '../../base/tls-identity.ts';
import type { ServiceAppSide } from '../access.ts';
import type { SecretStore } from '../secret-store.ts';
import type { ServiceAppEventName } from './delivery.ts';
import { startEndpoint } from './endpoint.ts';
import { Inbox, type AuthorizationHandler, type AuthorizingOrganization } from './inbox.ts';
import { Receiver, type DeliveryOutcome } from './receiver.ts';
import { Registrations, type RegistrationChange } from './registration.ts';

/** Where deliveries arrive. */
export interface WebhookSettings {
  /** As the platform reaches us. */
  readonly targetUrl: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Begins with a slash. */
  readonly path: string;
  /** Undefined behind a proxy that ends TLS. */
  readonly tls?: Live<TlsIdentity> | undefined;
}

/** Told of what arrives and what is registered; its calls must not throw. */
export interface WebhookObserver {
  delivered?(outcome: DeliveryOutcome, about: { readonly organizationId?: string; readonly error?: AppError }): void;
  registered?(change: RegistrationChange): void;
  /** An event could not have its effect yet and is repeated. */
  eventFailed?(organizationId: string, event: ServiceAppEventName, error: AppError): void;
}

/** The open side. */
export interface WebhookSide {
  readonly port: number;
  readonly registrations: Registrations;
  /** Organizations that are authorized as far as their events say. */
  readonly authorized: readonly AuthorizingOrganization[];
  /** Takes no more deliveries and stops working on events; they are gone on with after the next start. */
  close(): Promise<void>;
}

/**
 * Opens it: deliveries are taken, nothing is registered yet.
 *
 * @throws AppError `listen_failed`, and of the store.
 */
export async function openWebhookSide(
  { targetUrl, ...where }: WebhookSettings,
  { api, applicationId, filterId, names, idScheme }: ServiceAppSide,
  parts: {
    readonly handler: AuthorizationHandler;
    readonly store: SecretStore;
    readonly clock: Clock;
    readonly observer: WebhookObserver;
  },
): Promise<WebhookSide> {
  const { handler, store, clock, observer } = parts;
  const resource = names.appResource;
  const registrations = await Registrations.open({
    ...{ api, store, targetUrl, applicationId, filterId, resource, idScheme, clock },
    onRegistration: (change) => {
      observer.registered?.(change);
    },
  });
  const inbox = await Inbox.open({
    ...{ store, handler, clock },
    onFailed: (organizationId, event, error) => {
      observer.eventFailed?.(organizationId, event, error);
    },
  });
  const receiver = new Receiver({
    target: { applicationId, resource, idScheme },
    inbox,
    // A stronger header in a form that nobody has described yet must not cost the delivery (U-10).
    policy: () => ({ secrets: registrations.secrets, takesUnreadableSha2: true }),
    onDelivery: (outcome, about) => {
      observer.delivered?.(outcome, about);
    },
  });
  try {
    const headers = { sha1Header: names.sha1SignatureHeader, sha2Header: names.sha2SignatureHeader };
    const endpoint = await startEndpoint({ ...where, ...headers, receiver, clock });
    return {
      port: endpoint.port,
      registrations,
      get authorized() {
        return inbox.authorized;
      },
      close: async () => {
        // Work on events is not gone on with for want of a client that ends its connection.
        await Promise.all([endpoint.close(), inbox.close()]);
      },
    };
  } catch (thrown) {
    await inbox.close();
    throw thrown;
  }
}
