// The apps that developers have registered with the platform: integrations, which act for a developer, and service apps, which act for a
// customer organization after its administrator has authorized them.
import { randomBytes, randomUUID } from 'node:crypto';
import { BoundedMap } from './bounded-map.ts';

export interface Developer {
  /** Plain UUIDs. */
  readonly organizationId: string;
  readonly personId: string;
}

export interface Integration {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The allowed redirect addresses, compared character for character. */
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly developer: Developer;
}

export interface ServiceApp {
  /** `C` and hex digits (H-03). */
  readonly clientId: string;
  readonly clientSecret: string;
  /** Bare domains: the host of a data source must be in one of them. */
  readonly domains: readonly string[];
  readonly scopes: readonly string[];
  readonly developer: Developer;
}

const MAX_APPS = 100;
const DOMAIN = /^(?!-)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/u;

/** A client id in the platform's form. */
export function newClientId(): string {
  return `C${randomBytes(32).toString('hex')}`;
}

/** All apps: at most 100 of each kind; beyond that, the oldest are dropped. */
export class AppBook {
  readonly #integrations = new BoundedMap<string, Integration>(MAX_APPS);
  readonly #serviceApps = new BoundedMap<string, ServiceApp>(MAX_APPS);
  readonly #scopes: { readonly integration: readonly string[]; readonly serviceApp: readonly string[] };
  readonly #developer: Developer = { organizationId: randomUUID(), personId: randomUUID() };

  /** @param scopes - the scopes that apps have by default. */
  constructor(scopes: { readonly integration: readonly string[]; readonly serviceApp: readonly string[] }) {
    this.#scopes = scopes;
  }

  /** Registers an integration; missing values are generated. By default, all apps belong to the same developer. */
  addIntegration(given: Partial<Integration> = {}): Integration {
    const app: Integration = {
      clientId: newClientId(),
      clientSecret: randomBytes(32).toString('hex'),
      redirectUris: ['http://127.0.0.1:8765/callback'],
      scopes: this.#scopes.integration,
      developer: this.#developer,
      ...given,
    };
    this.#integrations.set(app.clientId, app);
    return app;
  }

  /**
   * Registers a service app; missing values are generated. By default, its domain is this machine.
   * @throws RangeError for a domain with scheme, port, path or wildcard.
   */
  addServiceApp(given: Partial<ServiceApp> = {}): ServiceApp {
    const app: ServiceApp = {
      clientId: newClientId(),
      clientSecret: randomBytes(32).toString('hex'),
      domains: ['127.0.0.1', 'localhost'],
      scopes: this.#scopes.serviceApp,
      developer: this.#developer,
      ...given,
    };
    if (!app.domains.every((domain) => DOMAIN.test(domain))) throw new RangeError('a domain is bare: no scheme, port, path or wildcard');
    this.#serviceApps.set(app.clientId, app);
    return app;
  }

  integration(clientId: string): Integration | undefined {
    return this.#integrations.get(clientId);
  }

  serviceApp(clientId: string): ServiceApp | undefined {
    return this.#serviceApps.get(clientId);
  }

  kindOf(clientId: string): 'integration' | 'service_app' | undefined {
    if (this.#integrations.get(clientId) !== undefined) return 'integration';
    return this.#serviceApps.get(clientId) === undefined ? undefined : 'service_app';
  }

  secretOf(clientId: string): string | undefined {
    return (this.#integrations.get(clientId) ?? this.#serviceApps.get(clientId))?.clientSecret;
  }
}
