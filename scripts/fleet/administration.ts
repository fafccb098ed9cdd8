// What a fleet needs that looks after its data sources itself: the administration side of the fake platform behind a relay, so that
// it can be away, and a login that lies in the shared store already.
import { randomBytes } from 'node:crypto';
import { INTEGRATION_KEY } from '../../src/admin/oauth/integration-tokens.ts';
import { readTokenReply } from '../../src/admin/tokens.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startAdminApi, type AdminApi } from '../../src/fake-platform/platform/admin-api.ts';
import type { Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { adminStore } from '../../src/store/redis/admin-store.ts';
import { RedisConnection } from '../../src/store/redis/connection.ts';
import { takeLease } from '../../src/store/redis/renewal-lease.ts';
import { SharedTexts } from '../../src/store/redis/shared-texts.ts';
import { Seal } from '../../src/store/seal.ts';
import { until } from '../../test/support/until.ts';
import type { FleetAdministration } from '../../test/fleet/fleet.ts';
import type { KeptRedis } from '../../test/fleet/kept-redis.ts';
import { LineRelay } from '../../test/fleet/line-relay.ts';

const ORGANIZATION = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
/** What all keys of a server begin with by default. */
const KEY_PREFIX = 'parley';
const TIMEOUT_MS = 5000;

/** The administration of a fleet, whose platform can be away. */
export interface AwayAdministration extends FleetAdministration {
  /** The administration side of the platform. */
  readonly api: AdminApi;
  /** Between the servers and the administration side of the platform. */
  readonly line: LineRelay;
  /** Of a call over WebSocket, where the flags of a server ask for data sources of that kind. */
  readonly socketToken: () => Promise<string>;
}

/** Starts it; the fleet closes it. */
export async function fleetAdministration({
  issuer,
  redis,
}: {
  readonly issuer: Issuer;
  readonly redis: KeptRedis;
}): Promise<AwayAdministration> {
  const api = await startAdminApi({ profile: loadProfile('fake'), issuer });
  const line = await LineRelay.start(Number(new URL(api.origin).port));
  const key = randomBytes(32);
  await seeded(redis, key, JSON.stringify(readTokenReply({ ...api.logIn() }, systemClock.nowMs())));
  api.authorize(ORGANIZATION);
  const settings = {
    enabled: 'true',
    base_url: api.baseUrl.replace(new URL(api.origin).host, `127.0.0.1:${String(line.port)}`),
    organizations: JSON.stringify([ORGANIZATION]),
    'store.keys': JSON.stringify([key.toString('hex')]),
    'integration.client_id': api.integration.clientId,
    'integration.client_secret': api.integration.clientSecret,
    'service_app.client_id': api.serviceApp.clientId,
    'service_app.client_secret': api.serviceApp.clientSecret,
    'data_sources.url': 'http://127.0.0.1:50051',
    'data_sources.audience': 'aud',
    'data_sources.subject': 'sub',
  };
  const tokenOf = async (scheme: string): Promise<string> => {
    const found = () => api.dataSources(ORGANIZATION).find(({ url }) => url.startsWith(scheme));
    await until('the data source is registered', () => found() !== undefined);
    return found()?.jwsToken ?? '';
  };
  return {
    ...{ api, line },
    organizationId: ORGANIZATION,
    flags: Object.entries(settings).map(([name, value]) => `--admin.${name}=${value}`),
    token: () => tokenOf('http'),
    socketToken: () => tokenOf('wss'),
    close: async () => {
      await line.close();
      await api.close();
    },
  };
}

/** Writes down that somebody has logged in, as `parley admin login` does. */
async function seeded(redis: KeptRedis, key: Buffer, tokens: string): Promise<void> {
  const nobody = { user: undefined, password: undefined, caFile: undefined };
  const url = `redis://127.0.0.1:${String(redis.port)}`;
  const log = createLogger({ level: 'silent' });
  const connection = await RedisConnection.open({ url, ...nobody, timeoutMs: TIMEOUT_MS, clock: systemClock, log });
  try {
    const store = adminStore(connection, KEY_PREFIX);
    const texts = await SharedTexts.open(store, new Seal(key));
    const taken = await takeLease({ store });
    if (taken.kind !== 'ours') throw new Error('somebody else has the administration');
    await texts.ledBy(taken.lease).set(INTEGRATION_KEY, tokens);
    await taken.lease.giveBack();
  } finally {
    await connection.close();
  }
}
