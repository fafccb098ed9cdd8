import { describe, expect, it } from 'vitest';
import { INTEGRATION_KEY, IntegrationTokens } from '../../../../src/admin/oauth/integration-tokens.ts';
import type { OAuthTokens } from '../../../../src/admin/tokens.ts';
import { AppError, type ErrorCode } from '../../../../src/base/errors.ts';
import { failureOf, keptLog, MemorySecrets } from '../../../support/admin-server.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { never } from '../../../support/voice.ts';

const HOUR_MS = 3_600_000;

interface Asked {
  readonly before: OAuthTokens;
  readonly signal: AbortSignal;
  readonly resolve: (tokens: OAuthTokens) => void;
  readonly reject: (error: Error) => void;
}

/** Tokens number `n`, which end an hour after `fromMs`. */
function tokens(n: number, fromMs: number): OAuthTokens {
  return { accessToken: `CANARY-a${String(n)}`, expiresAtMs: fromMs + HOUR_MS, refreshToken: `CANARY-r${String(n)}` };
}

function open(store = new MemorySecrets()) {
  const clock = new FakeClock();
  const { log, lines } = keptLog();
  const asked: Asked[] = [];
  const refresh = (before: OAuthTokens, signal: AbortSignal): Promise<OAuthTokens> =>
    new Promise((resolve, reject) => {
      asked.push({ before, signal, resolve, reject });
    });
  const integration = new IntegrationTokens({ store, requests: { refresh }, clock, log, bufferSeconds: 300 });
  const kept = (): unknown => JSON.parse(store.values.get(INTEGRATION_KEY) ?? 'null');
  const only = async (): Promise<Asked> => {
    await flushMicrotasks();
    const [first, ...more] = asked;
    if (first === undefined || more.length > 0) throw new Error(`${String(asked.length)} refreshes instead of one`);
    return first;
  };
  return { clock, store, integration, asked, kept, only, lines };
}

async function loggedIn(store?: MemorySecrets) {
  const surroundings = open(store);
  await surroundings.integration.save(tokens(1, surroundings.clock.nowMs()));
  return surroundings;
}

const unavailable = (): AppError => new AppError('platform_unavailable', 'not now');

describe('the tokens of the integration', () => {
  it('are not there before somebody has logged in', async () => {
    const { integration } = open();
    expect((await failureOf(integration.current(never()))).code).toBe('login_needed');
    expect((await failureOf(integration.refreshed('x', never()))).code).toBe('login_needed');
  });

  it('survive a restart', async () => {
    const { store } = await loggedIn();
    const { integration, asked } = open(store);
    expect(await integration.current(never())).toBe('CANARY-a1');
    expect(asked).toEqual([]);
  });

  it.each(['no JSON CANARY', '{"accessToken":"CANARY"}', 'null'])('are not there when what was kept is unknown: %s', async (text) => {
    const store = new MemorySecrets();
    store.values.set(INTEGRATION_KEY, text);
    const { integration, lines } = open(store);
    expect((await failureOf(integration.current(never()))).code).toBe('login_needed');
    expect(lines.join('')).toMatch(/unknown form/u);
    expect(lines.join('')).not.toContain('CANARY');
  });

  it('are refreshed ahead of their end, and not before', async () => {
    const { integration, clock, asked, only, kept } = await loggedIn();
    clock.advance(HOUR_MS - 300_001);
    expect(await integration.current(never())).toBe('CANARY-a1');
    expect(asked).toEqual([]);
    clock.advance(1);
    const current = integration.current(never());
    (await only()).resolve(tokens(2, clock.nowMs()));
    expect(await current).toBe('CANARY-a2');
    expect(kept()).toEqual(tokens(2, clock.nowMs()));
  });

  describe('whose refresh token ends before the access token', () => {
    /** Its end is the platform's: half an hour after `fromMs`. */
    const short = (n: number, fromMs: number): OAuthTokens => ({
      ...tokens(n, fromMs),
      ...{ refreshExpiresAtMs: fromMs + HOUR_MS / 2, refreshDueMs: fromMs + HOUR_MS / 4 },
    });

    it('are kept alive by a refresh in time, and requests ask for none', async () => {
      const { integration, clock, asked, only, kept } = open();
      await integration.save(short(1, clock.nowMs()));
      clock.advance(HOUR_MS / 4 - 1);
      await integration.keepAlive(never());
      clock.advance(1);
      expect(await integration.current(never())).toBe('CANARY-a1');
      expect(asked).toEqual([]);
      const alive = integration.keepAlive(never());
      (await only()).resolve(short(2, clock.nowMs()));
      await alive;
      expect(kept()).toEqual(short(2, clock.nowMs()));
      await integration.keepAlive(never());
      expect(asked).toHaveLength(1);
    });

    it('are used on while the platform cannot be asked', async () => {
      const { integration, clock, only, lines } = open();
      await integration.save(short(1, clock.nowMs()));
      clock.advance(HOUR_MS / 4);
      const alive = integration.keepAlive(never());
      (await only()).reject(unavailable());
      await alive;
      expect(lines.join('')).toContain('used as long as it lasts');
      expect(await integration.current(never())).toBe('CANARY-a1');
    });

    it('are reported when it is too late, and used until they expire', async () => {
      const { integration, clock, only } = open();
      await integration.save(short(1, clock.nowMs()));
      clock.advance(HOUR_MS / 2);
      const alive = failureOf(integration.keepAlive(never()));
      (await only()).reject(new AppError('login_needed', 'invalid_grant'));
      expect((await alive).code).toBe('login_needed');
      expect(await integration.current(never())).toBe('CANARY-a1');
    });
  });

  it('are refreshed once for all who need them at the same time', async () => {
    const { integration, clock, only, asked } = await loggedIn();
    clock.advance(HOUR_MS);
    const current = [integration.current(never()), integration.current(never()), integration.refreshed('CANARY-a1', never())];
    (await only()).resolve(tokens(2, clock.nowMs()));
    expect(await Promise.all(current)).toEqual(['CANARY-a2', 'CANARY-a2', 'CANARY-a2']);
    // Somebody whose request was still on its way with the old one needs no other.
    expect(await integration.refreshed('CANARY-a1', never())).toBe('CANARY-a2');
    expect(asked).toHaveLength(1);
  });

  it('are refreshed when the platform refuses them, however fresh they are', async () => {
    const { integration, only, clock } = await loggedIn();
    const refreshed = integration.refreshed('CANARY-a1', never());
    const { before, resolve } = await only();
    expect(before.refreshToken).toBe('CANARY-r1');
    resolve(tokens(2, clock.nowMs()));
    expect(await refreshed).toBe('CANARY-a2');
  });

  it('are in the store before anybody gets them, and the old pair is there until then', async () => {
    const { integration, clock, only, store, kept } = await loggedIn();
    let write: () => void = () => undefined;
    const set = store.set.bind(store);
    store.set = async (key, value) => {
      await new Promise<void>((resolve) => {
        write = resolve;
      });
      await set(key, value);
    };
    clock.advance(HOUR_MS);
    let isGiven = false;
    const current = integration.current(never()).finally(() => {
      isGiven = true;
    });
    (await only()).resolve(tokens(2, clock.nowMs()));
    await flushMicrotasks();
    expect([isGiven, kept()]).toEqual([false, tokens(1, clock.nowMs() - HOUR_MS)]);
    write();
    expect(await current).toBe('CANARY-a2');
    expect(kept()).toEqual(tokens(2, clock.nowMs()));
  });

  it('are used and written down later when the store fails, so that neither pair is lost', async () => {
    const { integration, clock, only, store, kept, lines } = await loggedIn();
    clock.advance(HOUR_MS);
    store.isFull = true;
    const current = integration.current(never());
    (await only()).resolve(tokens(2, clock.nowMs()));
    expect(await current).toBe('CANARY-a2');
    expect(kept()).toEqual(tokens(1, clock.nowMs() - HOUR_MS));
    expect(lines.join('')).toContain('a restart would lose them');
    store.isFull = false;
    expect(await integration.current(never())).toBe('CANARY-a2');
    expect(kept()).toEqual(tokens(2, clock.nowMs()));
    expect(lines.join('')).not.toContain('CANARY');
  });

  it('are an error of a login when the store fails', async () => {
    const { integration, store, clock } = open();
    store.isFull = true;
    expect((await failureOf(integration.save(tokens(1, clock.nowMs())))).code).toBe('store_failed');
  });

  it('that another process has renewed are taken from the store', async () => {
    const { integration, store, clock, asked } = await loggedIn();
    clock.advance(HOUR_MS);
    store.values.set(INTEGRATION_KEY, JSON.stringify(tokens(7, clock.nowMs())));
    expect(await integration.current(never())).toBe('CANARY-a7');
    store.values.set(INTEGRATION_KEY, JSON.stringify(tokens(8, clock.nowMs())));
    expect(await integration.refreshed('CANARY-a7', never())).toBe('CANARY-a8');
    expect(asked).toEqual([]);
  });

  it.each<ErrorCode>([...(['platform_unavailable', 'platform_answer_invalid', 'store_failed', 'shutting_down'] as const)])(
    'are used to their end while there are no others, because of %s',
    async (code) => {
      const { integration, clock, asked, lines } = await loggedIn();
      clock.advance(HOUR_MS - 1000);
      const current = integration.current(never());
      await flushMicrotasks();
      asked[0]?.reject(new AppError(code, 'not now'));
      expect(await current).toBe('CANARY-a1');
      expect(lines.join('')).toContain('used as long as it lasts');
      clock.advance(1000);
      const late = failureOf(integration.current(never()));
      await flushMicrotasks();
      asked[1]?.reject(new AppError(code, 'not now'));
      expect((await late).code).toBe(code);
    },
  );

  it('that the platform refused are not given out again while it gives no others', async () => {
    const { integration, asked } = await loggedIn();
    const refreshed = failureOf(integration.refreshed('CANARY-a1', never()));
    await flushMicrotasks();
    asked[0]?.reject(unavailable());
    expect((await refreshed).code).toBe('platform_unavailable');
  });

  it('that the platform takes no longer are asked for once, until somebody logs in', async () => {
    const { integration, clock, asked, only } = await loggedIn();
    clock.advance(HOUR_MS);
    const current = failureOf(integration.current(never()));
    (await only()).reject(new AppError('login_needed', 'invalid_grant'));
    expect((await current).code).toBe('login_needed');
    expect((await failureOf(integration.current(never()))).code).toBe('login_needed');
    expect(asked).toHaveLength(1);
    await integration.save(tokens(2, clock.nowMs()));
    expect(await integration.current(never())).toBe('CANARY-a2');
  });

  it('that the platform did not take are tried again after ten minutes: one odd answer must not need a person', async () => {
    const { integration, clock, asked } = await loggedIn();
    clock.advance(HOUR_MS);
    const refused = failureOf(integration.current(never()));
    await flushMicrotasks();
    asked.shift()?.reject(new AppError('login_needed', 'answered 400'));
    await refused;
    clock.advance(599_999);
    expect([(await failureOf(integration.current(never()))).code, asked.length]).toEqual(['login_needed', 0]);
    clock.advance(1);
    const current = integration.current(never());
    await flushMicrotasks();
    asked[0]?.resolve(tokens(2, clock.nowMs()));
    expect(await current).toBe('CANARY-a2');
  });

  it('that the platform did not take are tried again after ten minutes also when the clock was corrected by a year', async () => {
    const { integration, clock, asked } = await loggedIn();
    clock.stepWall(365 * 24 * HOUR_MS);
    const refused = failureOf(integration.current(never()));
    await flushMicrotasks();
    asked.shift()?.reject(new AppError('login_needed', 'answered 400'));
    await refused;
    clock.stepWall(-364 * 24 * HOUR_MS);
    clock.advance(600_000);
    const current = integration.current(never());
    await flushMicrotasks();
    asked[0]?.resolve(tokens(2, clock.nowMs()));
    expect(await current).toBe('CANARY-a2');
  });

  it('are written down also when nobody waits for them any more', async () => {
    const { integration, clock, only, kept } = await loggedIn();
    clock.advance(HOUR_MS);
    const controller = new AbortController();
    const current = failureOf(integration.current(controller.signal));
    const { signal, resolve } = await only();
    controller.abort();
    expect((await current).code).toBe('platform_unavailable');
    expect(signal.aborted).toBe(false);
    const closed = integration.close();
    resolve(tokens(2, clock.nowMs()));
    await closed;
    expect(kept()).toEqual(tokens(2, clock.nowMs()));
    expect(clock.pendingTimers).toBe(0);
  });
});
