import { describe, expect, it } from 'vitest';
import { Organizations, organizationsWithTokens, OrgNotRegisteredError } from '../../../src/admin/organizations.ts';
import { RestError } from '../../../src/admin/rest/rest-error.ts';
import type { OAuthTokens, ServiceAppTokens } from '../../../src/admin/tokens.ts';
import { AppError } from '../../../src/base/errors.ts';
import { RequestFailure } from '../../../src/base/http-exchange.ts';
import { failureOf, keptLog, MemorySecrets } from '../../support/admin-server.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';
import { never } from '../../support/voice.ts';

const HOUR_MS = 3_600_000;
const SCHEME = 'example://';
const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const OTHER = '11111111-6e2f-49f9-9a84-b354008fac9e';
const ENCODED = Buffer.from(`${SCHEME}eu/ORGANIZATION/${ORG}`).toString('base64url');
const KEY = `organizations/${ORG}/tokens`;

/** A platform that counts what is asked of it. */
class Platform {
  readonly clock = new FakeClock();
  readonly obtained: string[] = [];
  readonly refreshes: string[] = [];
  obtainFailure: Error | undefined;
  refreshFailure: Error | undefined;
  /** Set: answers wait for it. */
  gate: Promise<void> | undefined;
  #count = 0;

  readonly applications = {
    // Heeds no signal: one that has its answer already gives it.
    obtain: async (organization: string): Promise<ServiceAppTokens> => {
      this.obtained.push(organization);
      await this.gate;
      if (this.obtainFailure !== undefined) throw this.obtainFailure;
      const orgId = organization === OTHER ? OTHER : ORG;
      return { ...this.#next(), orgId, targetOrgId: organization };
    },
  };
  readonly requests = {
    refresh: async (before: OAuthTokens): Promise<OAuthTokens> => {
      this.refreshes.push(before.refreshToken ?? 'none');
      await this.gate;
      if (this.refreshFailure !== undefined) throw this.refreshFailure;
      return this.#next();
    },
  };

  #next(): OAuthTokens {
    this.#count += 1;
    const number = String(this.#count);
    return { accessToken: `CANARY-a${number}`, refreshToken: `CANARY-r${number}`, expiresAtMs: this.clock.nowMs() + HOUR_MS };
  }
}

function open(platform = new Platform(), store = new MemorySecrets()) {
  const { clock, applications, requests } = platform;
  const { log, lines } = keptLog();
  return {
    platform,
    clock,
    store,
    lines,
    organizations: new Organizations({ store, applications, requests, idScheme: SCHEME, clock, log, bufferSeconds: 60 }),
  };
}

const refusal = (status: number): RestError =>
  new RestError(
    'platform_refused',
    'POST /applications/x/token',
    new RequestFailure('client_error', 'refused the request', { status }),
    { message: 'not authorized', trackingId: 'T_1' },
    false,
  );
const dead = (): AppError => new AppError('login_needed', 'invalid_grant');

describe('the tokens of an organization', () => {
  it('are asked for once, in the spelling that was given, and kept by its UUID', async () => {
    const { organizations, platform, store } = open();
    const source = organizations.tokensOf(ENCODED);
    expect(platform.obtained).toEqual([]);
    expect(await Promise.all([source.current(never()), organizations.tokensOf(ORG).current(never())])).toEqual(['CANARY-a1', 'CANARY-a1']);
    expect(platform.obtained).toEqual([ENCODED]);
    expect([...store.values.keys()]).toEqual([KEY]);
    expect(await organizationsWithTokens(store)).toEqual([ORG]);
  });

  it('survive a restart, with the spelling that the platform took (U-14)', async () => {
    const { organizations, platform, store, clock } = open();
    await organizations.tokensOf(ENCODED).current(never());
    const again = open(platform, store).organizations;
    expect(await again.tokensOf(ORG).current(never())).toBe('CANARY-a1');
    platform.refreshFailure = dead();
    clock.advance(HOUR_MS);
    expect(await again.tokensOf(ORG).current(never())).toBe('CANARY-a2');
    expect(platform.obtained).toEqual([ENCODED, ENCODED]);
  });

  it('are refreshed in time, without the integration', async () => {
    const { organizations, platform, clock } = open();
    const source = organizations.tokensOf(ORG);
    await source.current(never());
    clock.advance(HOUR_MS - 60_000);
    expect(await source.current(never())).toBe('CANARY-a2');
    expect([platform.refreshes, platform.obtained]).toEqual([['CANARY-r1'], [ORG]]);
  });

  it('are asked for anew when the refresh token is dead (6.5)', async () => {
    const { organizations, platform } = open();
    const source = organizations.tokensOf(ORG);
    await source.current(never());
    platform.refreshFailure = dead();
    expect(await source.refreshed('CANARY-a1', never())).toBe('CANARY-a2');
    expect(platform.obtained).toEqual([ORG, ORG]);
  });

  it('are not asked for anew while the platform is away', async () => {
    const { organizations, platform, clock } = open();
    const source = organizations.tokensOf(ORG);
    await source.current(never());
    platform.refreshFailure = new AppError('platform_unavailable', 'not now');
    clock.advance(HOUR_MS);
    expect((await failureOf(source.current(never()))).code).toBe('platform_unavailable');
    expect(platform.obtained).toEqual([ORG]);
  });

  it('are refused for an organization that has not authorized the app (H-26)', async () => {
    const { organizations, platform } = open();
    platform.obtainFailure = refusal(403);
    const failure = await failureOf(organizations.tokensOf(ENCODED).current(never()));
    expect(failure).toBeInstanceOf(OrgNotRegisteredError);
    expect(failure.code).toBe('org_not_registered');
    expect(failure.details).toMatchObject({ status: 403, trackingId: 'T_1', platformMessage: 'not authorized', organization: ORG });
    // It may be so a moment later.
    platform.obtainFailure = undefined;
    expect(await organizations.tokensOf(ENCODED).current(never())).toBe('CANARY-a1');
  });

  it('are refused for what the platform says otherwise, as it says it', async () => {
    const { organizations, platform } = open();
    platform.obtainFailure = refusal(404);
    expect((await failureOf(organizations.tokensOf(ORG).current(never()))).code).toBe('platform_refused');
    platform.obtainFailure = dead();
    expect((await failureOf(organizations.tokensOf(ORG).current(never()))).code).toBe('login_needed');
  });

  it('of two organizations are two', async () => {
    const { organizations, store } = open();
    await organizations.tokensOf(ORG).current(never());
    expect(await organizations.tokensOf(OTHER).current(never())).toBe('CANARY-a2');
    expect([...(await organizationsWithTokens(store))].sort()).toEqual([OTHER, ORG].sort());
  });

  it('are none of what is no organization', () => {
    const { organizations } = open();
    expect(() => organizations.tokensOf('CANARY')).toThrow(expect.objectContaining({ code: 'bad_message' }));
    expect(() => organizations.tokensOf('CANARY')).not.toThrow(/CANARY/u);
  });
});

describe('forgetting an organization', () => {
  it('erases its tokens and no others', async () => {
    const { organizations, store } = open();
    const source = organizations.tokensOf(ORG);
    await source.current(never());
    await organizations.tokensOf(OTHER).current(never());
    await organizations.forget(ENCODED);
    expect(await organizationsWithTokens(store)).toEqual([OTHER]);
    expect(await failureOf(source.current(never()))).toBeInstanceOf(OrgNotRegisteredError);
    expect(await failureOf(source.refreshed('x', never()))).toBeInstanceOf(OrgNotRegisteredError);
  });

  it('erases what was kept before a restart', async () => {
    const { organizations, platform, store } = open();
    await organizations.tokensOf(ORG).current(never());
    await open(platform, store).organizations.forget(ORG);
    expect(store.values.size).toBe(0);
  });

  it('is not undone by a request that was under way (H-23)', async () => {
    const { organizations, platform, store } = open();
    let goOn: () => void = () => undefined;
    platform.gate = new Promise((resolve) => {
      goOn = resolve;
    });
    const current = failureOf(organizations.tokensOf(ORG).current(never()));
    await flushMicrotasks();
    expect(platform.obtained).toEqual([ORG]);
    const forgotten = organizations.forget(ORG);
    goOn();
    await forgotten;
    expect(await current).toBeInstanceOf(OrgNotRegisteredError);
    await flushMicrotasks();
    expect(store.values.size).toBe(0);
  });

  it('does not erase what comes after it', async () => {
    const { organizations, store } = open();
    await organizations.tokensOf(ORG).current(never());
    let goOn: () => void = () => undefined;
    const erase = store.delete.bind(store);
    store.delete = async (key) => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await erase(key);
    };
    const forgotten = organizations.forget(ORG);
    const anew = organizations.tokensOf(ORG).current(never());
    await flushMicrotasks();
    goOn();
    await forgotten;
    expect(await anew).toBe('CANARY-a2');
    expect(JSON.parse(store.values.get(KEY) ?? '')).toMatchObject({ accessToken: 'CANARY-a2' });
  });

  it('says so when the store fails, and can be repeated', async () => {
    const { organizations, store } = open();
    await organizations.tokensOf(ORG).current(never());
    const erase = store.delete.bind(store);
    store.delete = () => Promise.reject(new AppError('store_failed', 'not now'));
    expect((await failureOf(organizations.forget(ORG))).code).toBe('store_failed');
    store.delete = erase;
    await organizations.forget(ORG);
    expect(store.values.size).toBe(0);
  });
});
