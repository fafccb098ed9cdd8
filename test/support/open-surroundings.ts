// Everything around a server that looks after its data sources itself: a fake platform with its token issuer, a sealed store
// in a folder of its own, and the flags that join a server or a command to them.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { INTEGRATION_KEY } from '../../src/admin/oauth/integration-tokens.ts';
import { readTokenReply } from '../../src/admin/tokens.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startAdminApi, type AdminApi } from '../../src/fake-platform/platform/admin-api.ts';
import type { InitialSwitches } from '../../src/fake-platform/platform/switches.ts';
import { startIssuer, type Issuer, type TokenClaims } from '../../src/fake-platform/platform/issuer.ts';
import { DurableStore } from '../../src/store/durable-store.ts';
import { Seal } from '../../src/store/seal.ts';
import { freePort } from './free-port.ts';

/** A token of a data source that the platform has signed. */
export interface SignedToken {
  readonly claims: Partial<TokenClaims>;
  readonly token: string;
  /** By the platform's clock, ms since the epoch. */
  readonly issuedAtMs: number;
}

/** How they are started. */
export interface SurroundingsOptions {
  readonly clock?: Clock;
  /** Whether somebody has logged in with the integration already; default true. */
  readonly isLoggedIn?: boolean;
  /** The address that data sources are registered with. */
  readonly url?: string;
  readonly switches?: InitialSwitches;
  /** Called for each token of a data source. The platform has taken the change by then, and answers it when this resolves. */
  readonly onSigned?: (signed: SignedToken) => void | Promise<void>;
}

/** What stays when a server is started again. */
export interface AdminSurroundings {
  readonly api: AdminApi;
  readonly issuer: Issuer;
  /** Of the store, hex. */
  readonly key: string;
  readonly storeFile: string;
  readonly webhookPort: number;
  /** `--admin.…=…` and the issuer; a test adds its own behind them. */
  readonly flags: readonly string[];
  /** Opens the store; the test closes it. */
  openStore(): Promise<DurableStore>;
}

/** Surroundings with an end. */
export interface OpenSurroundings extends AdminSurroundings {
  close(): Promise<void>;
}

/** Starts them. Whoever starts them closes them. */
export async function openSurroundings(options: SurroundingsOptions = {}): Promise<OpenSurroundings> {
  const { clock = systemClock, isLoggedIn = true, url = 'http://127.0.0.1:50051', switches = {}, onSigned = () => undefined } = options;
  const profile = loadProfile('fake');
  const issuer = await startIssuer({ profile, clock });
  const issueToken: Issuer['issueToken'] = async (claims = {}, issuedAtMs = clock.nowMs()) => {
    const token = await issuer.issueToken(claims, issuedAtMs);
    await onSigned({ claims, token, issuedAtMs });
    return token;
  };
  const api = await startAdminApi({ profile, issuer: { issueToken }, clock, switches });
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-admin-'));
  const close = async (): Promise<void> => {
    await api.close();
    await issuer.close();
    rmSync(folder, { recursive: true, force: true });
  };
  // Connections to the platform stay open for the next request, and are no server's: they are there before the first one.
  await Promise.all(Array.from({ length: 4 }, async () => (await fetch(`${api.baseUrl}/nothing`)).text()));
  const key = randomBytes(32).toString('hex');
  const storeFile = path.join(folder, 'admin.store');
  const openStore = (): Promise<DurableStore> => DurableStore.open({ file: storeFile, seal: new Seal(Buffer.from(key, 'hex')) });
  if (isLoggedIn) {
    const store = await openStore();
    await store.set(INTEGRATION_KEY, JSON.stringify(readTokenReply({ ...api.logIn() }, clock.nowMs())));
    await store.close();
  }
  const webhookPort = await freePort();
  const admin = {
    enabled: 'true',
    base_url: api.baseUrl,
    'store.file': storeFile,
    'store.keys': JSON.stringify([key]),
    'integration.client_id': api.integration.clientId,
    'integration.client_secret': api.integration.clientSecret,
    'service_app.client_id': api.serviceApp.clientId,
    'service_app.client_secret': api.serviceApp.clientSecret,
    'data_sources.url': url,
    'data_sources.audience': 'aud',
    'data_sources.subject': 'sub',
    'data_sources.token_lifetime_minutes': '60',
    'data_sources.renewal_lead_minutes': '20',
    'webhooks.target_url': `http://127.0.0.1:${String(webhookPort)}/webhooks`,
    'webhooks.port': String(webhookPort),
  };
  const flags = [
    `--platform.extra_issuers=${JSON.stringify([issuer.issuer])}`,
    ...Object.entries(admin).map(([name, value]) => `--admin.${name}=${value}`),
  ];
  return { api, issuer, key, storeFile, webhookPort, flags, openStore, close };
}
