// The platform side of the demo: a fake platform, its server, a login, an organization that authorizes the app, and the tokens.
// Each step prints one line.
import path from 'node:path';
import { createApp, type App } from '../app/app.ts';
import { openAdminAccess } from '../app/admin-access.ts';
import { loadSettings } from '../app/config/load-settings.ts';
import type { Settings } from '../app/config/settings.ts';
import { abortAfter, pause } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { createLogger } from '../base/log.ts';
import { agreeInBrowser } from '../fake-platform/platform/browser.ts';
import type { DataSourceRecord } from '../fake-platform/platform/data-source-book.ts';
import { loadProfile } from '../fake-platform/platform/profile.ts';
import { APPOINTMENTS_SCRIPT } from '../fake-platform/models/script.ts';
import { fakeModels, type FakeModels } from '../fake-platform/models/start-models.ts';
import type { Transport } from '../fake-platform/lines/target.ts';
import { freePorts } from './free-ports.ts';
import { writeServerConfig } from '../fake-platform/cli/platform/server-config.ts';
import { startPlatform, type FakePlatform } from '../fake-platform/cli/platform/start-platform.ts';
import { writeThrowAwayCertificate } from './throw-away-certificate.ts';

/** A made-up organization that authorizes the app. */
export const DEMO_ORGANIZATION = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';

/** A fake platform, and settings and certificate of the server that it calls. Call `close`. */
export interface DemoPlatform extends FakePlatform {
  readonly settings: Settings;
  readonly models: FakeModels;
  /** PEM text that clients of the server must trust. */
  readonly certificatePem: string;
}

/** Longest wait for a login or for a step of the server, ms. */
const LIMIT_MS = 30_000;
/** Longest wait for a renewal, ms. A renewal is due half a minute after the previous token. */
const RENEWAL_LIMIT_MS = 60_000;
const PAUSE_MS = 50;

/** Starts platform and models on free ports, and writes the server's certificate and configuration into `folder`. */
export async function startDemoPlatform(folder: string): Promise<DemoPlatform> {
  const [grpcPort = 0, socketPort = 0, webhookPort = 0, redirectPort = 0] = await freePorts(4);
  const redirectUri = `http://127.0.0.1:${String(redirectPort)}/callback`;
  const { certificateFile, keyFile, certificatePem } = await writeThrowAwayCertificate(folder, systemClock.nowMs());
  const platform = await startPlatform({ port: 0, redirectUri });
  const models = await fakeModels(APPOINTMENTS_SCRIPT);
  const close = async (): Promise<void> => {
    await models.close();
    await platform.close();
  };
  try {
    // The bundled assistants of every server read the address of their model from this variable.
    // oxlint-disable-next-line no-restricted-properties -- it is set here, not read
    process.env['MODEL_URL'] = models.url;
    const file = path.join(folder, 'parley.yaml');
    await writeServerConfig(file, platform, {
      ...{ grpcPort, webhookPort, redirectUri, url: `https://localhost:${String(grpcPort)}` },
      websocket: { port: socketPort, url: `wss://localhost:${String(socketPort)}` },
      more: {
        tls: { mode: 'files', certificate_file: certificateFile, key_file: keyFile },
        ops: { port: 0 },
        recognizer: { engine: 'http', http: { url: models.url, model: 'fake' } },
        // So that a timeline can show prompt texts; never in production.
        media: { reveal_prompt_text: true },
        log: { level: 'warn' },
        shutdown: { grace_ms: 1000 },
      },
    });
    const { settings } = loadSettings({ argv: [`--config=${file}`], env: {} });
    return { ...platform, close, models, settings: { ...settings, admin: withShortTokens(settings.admin) }, certificatePem };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Logs in as `parley admin login` does; the browser needs no person. */
export async function logIn({ settings }: Pick<DemoPlatform, 'settings'>): Promise<void> {
  const log = createLogger({ level: settings.log.level });
  const opened = await openAdminAccess(settings.admin, { profile: loadProfile('fake'), clock: systemClock, log, purpose: 'change' });
  const whole = abortAfter(LIMIT_MS, systemClock);
  try {
    const show = (url: string): Promise<void> => agreeInBrowser(url, whole.signal);
    await opened.access.integration?.logIn({ show, limitMs: LIMIT_MS }, whole.signal);
    console.log("logged in   a browser has agreed on the platform's page; the tokens lie in a sealed store");
  } finally {
    whole.abort('shutdown');
    whole.dispose();
    await opened.close();
  }
}

/** Starts the server. The caller closes it. */
export function startDemoServer({ settings }: DemoPlatform): Promise<App> {
  return createApp({ settings, log: createLogger({ level: settings.log.level }) });
}

/** Authorizes the app for an organization. Resolves when the server has registered its data sources. */
export async function authorize({ api }: FakePlatform): Promise<DataSourceRecord> {
  api.authorize(DEMO_ORGANIZATION);
  console.log(`authorized  organization ${DEMO_ORGANIZATION} lets the app act for it, and a webhook notifies the server`);
  const registered = await reached('the server has registered a data source', LIMIT_MS, () => dataSourceOf(api, 'grpc'));
  const other = await reached('the server has registered that of WebSocket', LIMIT_MS, () => dataSourceOf(api, 'websocket'));
  console.log(`registered  data source ${registered.id}, token good until ${registered.tokenExpiryTime}, and ${other.id} for WebSocket`);
  return registered;
}

/** Resolves when the server has renewed the token of `before` at its regular time (L-07). */
export async function renewed({ api }: FakePlatform, before: DataSourceRecord): Promise<DataSourceRecord> {
  const after = await reached('the server has renewed the token', RENEWAL_LIMIT_MS, () => {
    const now = dataSourceOf(api, 'grpc');
    return now?.nonce === before.nonce ? undefined : now;
  });
  console.log(`\nrenewed     the server has fetched another token by itself, good until ${after.tokenExpiryTime}`);
  return after;
}

/** The data source of the demo's organization for one transport, with the token that calls carry. */
export function dataSourceOf(api: FakePlatform['api'], transport: Transport): DataSourceRecord | undefined {
  const schema = loadProfile('fake').schemas[transport];
  return api.dataSources(DEMO_ORGANIZATION).findLast(({ status, schemaId }) => status === 'active' && schemaId === schema);
}

/** Gives tokens one minute, the shortest lifetime, so that the demo can show a renewal after half of it. */
function withShortTokens(admin: Settings['admin']): Settings['admin'] {
  return { ...admin, dataSources: { ...admin.dataSources, tokenLifetimeMinutes: 1 } };
}

/** Polls `find` until it returns something. @throws AppError `platform_unavailable` after the limit. */
async function reached<T>(what: string, limitMs: number, find: () => T | undefined): Promise<T> {
  const whole = abortAfter(limitMs, systemClock);
  try {
    do {
      const found = find();
      if (found !== undefined) return found;
    } while (await pause(PAUSE_MS, systemClock, whole.signal));
  } finally {
    whole.dispose();
  }
  throw new AppError('platform_unavailable', `gave up waiting until ${what}; the log above says why it has not`);
}
