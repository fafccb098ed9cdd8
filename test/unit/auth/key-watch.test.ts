// Whether any token can be let in: what is held while none can, when issuers are asked for it, and what an operator reads.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fetch } from '../../../src/auth/key-set-request.ts';
import { KeySource, type KeySourceOptions } from '../../../src/auth/key-source.ts';
import { KeyWatch } from '../../../src/auth/key-watch.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';
import { CapturedLog, PRINCIPAL, sharedIssuer } from '../../support/token-bench.ts';
import { createSigningKey } from '../../support/token-issuer.ts';

const HOUR_MS = 3_600_000;
/** An hour fresh, a day stale. */
const SERVES_MS = 25 * HOUR_MS;
const HOME = 'https://home.example.test/idb';
const AWAY = 'https://away.example.test/idb';

const key = createSigningKey('key-1');

/** Issuers that answer at once, or fail, as a test says. */
class Issuers {
  readonly down = new Set<string>();
  /** Neither answers nor fails. */
  readonly silent = new Set<string>();
  readonly asked: string[] = [];

  readonly fetch: Fetch = (url) => {
    const issuer = url.replace(/\/keys$/u, '');
    this.asked.push(issuer);
    if (this.silent.has(issuer)) return new Promise(() => undefined);
    if (this.down.has(issuer)) return Promise.reject(new TypeError('fetch failed'));
    return Promise.resolve(new Response(JSON.stringify({ keys: [key.published] })));
  };
}

let clock: FakeClock;
let log: CapturedLog;
let issuers: Issuers;
let keys: KeySource;
let watch: KeyWatch;
/** How often something is held at this moment, and how often it was altogether. */
let held: number;
let holds: number;

beforeEach(() => {
  clock = new FakeClock();
  log = new CapturedLog();
  issuers = new Issuers();
  held = 0;
  holds = 0;
});

afterEach(() => {
  watch.close();
  keys.close();
  expect(clock.pendingTimers).toBe(0);
});

/** Watches, and waits until the first answers are there that come at once. */
async function begin(options: Partial<KeySourceOptions> = {}): Promise<{ readonly isAnswered: () => boolean }> {
  keys = new KeySource({ issuers: [HOME, AWAY], keySetSuffix: '/keys', fetch: issuers.fetch, clock, log, ...options });
  const hold = (): (() => void) => {
    held += 1;
    holds += 1;
    return () => {
      held -= 1;
    };
  };
  watch = new KeyWatch({ keys, hold, clock, log });
  let isAnswered = false;
  void watch.start().then(() => {
    isAnswered = true;
  });
  expect(held).toBe(1);
  await flushMicrotasks();
  return { isAnswered: () => isAnswered };
}

/** What the watch itself has written. */
function said(): readonly unknown[] {
  return log.lines.map((line) => JSON.parse(line) as { readonly event?: string }).filter(({ event }) => event !== undefined);
}

const AWAITED = {
  level: 'warn',
  message: 'no token can be let in, because no issuer gives its keys: not ready',
  event: 'keys_awaited',
  issuers: 2,
};
const there = (waitedMs: number) => ({ level: 'info', message: 'tokens can be let in: keys are there', event: 'keys_there', waitedMs });

describe('a start', () => {
  it('holds until keys are there, asks every issuer once, and writes nothing of it', async () => {
    const { isAnswered } = await begin();
    expect({ held, isAnswered: isAnswered(), asked: issuers.asked }).toEqual({ held: 0, isAnswered: true, asked: [HOME, AWAY] });
    expect(said()).toEqual([]);
  });

  it('goes on with the keys of one issuer while another is silent, and asks the other one no more by itself', async () => {
    issuers.silent.add(AWAY);
    const { isAnswered } = await begin();
    expect({ held, isAnswered: isAnswered() }).toEqual({ held: 0, isAnswered: true });
    await clock.advanceAsync(20 * HOUR_MS);
    expect({ held, asked: issuers.asked }).toEqual({ held: 0, asked: [HOME, AWAY] });
  });

  it('holds on while no issuer gives keys: asks after 1, 2, 4 s and so on up to the pause, and logs it once each way', async () => {
    issuers.down.add(HOME).add(AWAY);
    const { isAnswered } = await begin({ cooldownMs: 5000 });
    expect({ held, isAnswered: isAnswered() }).toEqual({ held: 1, isAnswered: true });
    for (const pauseMs of [1000, 2000, 4000, 5000, 5000]) {
      issuers.asked.length = 0;
      await clock.advanceAsync(pauseMs - 1);
      expect(issuers.asked).toEqual([]);
      await clock.advanceAsync(1);
      expect(issuers.asked).toEqual([HOME, AWAY]);
    }
    expect({ held, holds, said: said() }).toEqual({ held: 1, holds: 1, said: [AWAITED] });
    issuers.down.delete(AWAY);
    await clock.advanceAsync(5000);
    expect({ held, said: said() }).toEqual({ held: 0, said: [AWAITED, there(22_000)] });
  });

  it('J-14 leaves an issuer alone for the whole pause that asks for it with 429', async () => {
    const busy: Fetch = (url) => {
      issuers.asked.push(url);
      return Promise.resolve(new Response('', { status: 429 }));
    };
    await begin({ issuers: [HOME], fetch: busy });
    await clock.advanceAsync(29_999);
    expect(issuers.asked).toHaveLength(1);
    await clock.advanceAsync(1);
    expect(issuers.asked).toHaveLength(2);
  });

  it('J-14 does not let one issuer wait because another one asked for a rest', async () => {
    const fetch: Fetch = (url, ...rest) => {
      if (!url.startsWith(HOME)) return issuers.fetch(url, ...rest);
      issuers.asked.push(HOME);
      return Promise.resolve(new Response('', { status: 429 }));
    };
    issuers.down.add(AWAY);
    await begin({ fetch });
    issuers.asked.length = 0;
    await clock.advanceAsync(1000);
    expect(issuers.asked).toEqual([AWAY]);
  });

  it('waits for an issuer that says nothing no longer than one request may take', async () => {
    issuers.down.add(HOME);
    issuers.silent.add(AWAY);
    const { isAnswered } = await begin();
    await clock.advanceAsync(2999);
    expect({ isAnswered: isAnswered(), said: said() }).toEqual({ isAnswered: false, said: [] });
    await clock.advanceAsync(1);
    expect({ held, isAnswered: isAnswered(), said: said() }).toEqual({ held: 1, isAnswered: true, said: [AWAITED] });
  });

  it('holds for good where no issuer is trusted, without a timer', async () => {
    const { isAnswered } = await begin({ issuers: [] });
    expect({ held, isAnswered: isAnswered(), timers: clock.pendingTimers }).toEqual({ held: 1, isAnswered: true, timers: 0 });
    expect(said()).toEqual([{ ...AWAITED, issuers: 0 }]);
  });
});

describe('a server that runs', () => {
  it('stays as it is while its keys serve, however long the issuers are away, and has one timer and no request', async () => {
    await begin();
    issuers.down.add(HOME).add(AWAY);
    await clock.advanceAsync(SERVES_MS - 1);
    expect({ held, holds, asked: issuers.asked.length, timers: clock.pendingTimers }).toEqual({ held: 0, holds: 1, asked: 2, timers: 1 });
  });

  it('is held again when its last keys have ended and no issuer gives others, until one does', async () => {
    await begin();
    issuers.down.add(HOME).add(AWAY);
    await clock.advanceAsync(SERVES_MS);
    expect({ held, holds, said: said() }).toEqual({ held: 1, holds: 2, said: [AWAITED] });
    await clock.advanceAsync(10_000);
    issuers.down.clear();
    await clock.advanceAsync(30_000);
    expect(held).toBe(0);
    expect(said()).toEqual([AWAITED, there(15_000)]);
  });

  it('is not held when its keys have ended on a quiet day: new ones are asked for, and come', async () => {
    await begin();
    issuers.silent.add(HOME);
    await clock.advanceAsync(SERVES_MS);
    expect({ held, holds, asked: issuers.asked.length }).toEqual({ held: 0, holds: 1, asked: 4 });
    await clock.advanceAsync(SERVES_MS - 1);
    expect({ held, holds, said: said() }).toEqual({ held: 0, holds: 1, said: [] });
  });

  it('is held at the very end of its keys when it is known by then that the issuers fail', async () => {
    await begin({ issuers: [HOME] });
    issuers.down.add(HOME);
    await clock.advanceAsync(2 * HOUR_MS);
    await keys.find(HOME, key.id);
    issuers.silent.add(HOME);
    await clock.advanceAsync(SERVES_MS - 2 * HOUR_MS);
    expect({ held, said: said() }).toEqual({ held: 1, said: [{ ...AWAITED, issuers: 1 }] });
  });

  it('looks at the issuers alone of whom tokens were let in, once there are such', async () => {
    await begin();
    issuers.down.add(HOME);
    keys.noteUse(HOME);
    keys.noteUse(HOME);
    keys.noteUse('https://nobody.example.test/idb');
    issuers.asked.length = 0;
    await clock.advanceAsync(SERVES_MS);
    expect({ held, asked: issuers.asked, said: said() }).toEqual({ held: 1, asked: [HOME], said: [{ ...AWAITED, issuers: 1 }] });
    // A token of the other one comes in after all.
    await keys.find(AWAY, key.id);
    keys.noteUse(AWAY);
    expect(held).toBe(0);
  });
});

describe('the end of a watch', () => {
  it('leaves no timer and no request, and releases nothing', async () => {
    issuers.down.add(HOME).add(AWAY);
    await begin();
    watch.close();
    expect(clock.pendingTimers).toBe(0);
    issuers.asked.length = 0;
    issuers.down.clear();
    await clock.advanceAsync(HOUR_MS);
    await keys.find(HOME, key.id);
    expect({ held, asked: issuers.asked, said: said() }).toEqual({ held: 1, asked: [HOME], said: [AWAITED] });
  });

  it('lets nobody wait for first answers any longer', async () => {
    issuers.silent.add(HOME).add(AWAY);
    const { isAnswered } = await begin();
    expect(isAnswered()).toBe(false);
    watch.close();
    await flushMicrotasks();
    expect({ held, isAnswered: isAnswered() }).toEqual({ held: 1, isAnswered: true });
  });

  it('of the key source alone is enough to end all requests', async () => {
    issuers.down.add(HOME).add(AWAY);
    await begin();
    keys.close();
    issuers.asked.length = 0;
    await clock.advanceAsync(HOUR_MS);
    expect({ asked: issuers.asked, timers: clock.pendingTimers }).toEqual({ asked: [], timers: 0 });
  });
});

describe('a token that is let in', () => {
  const issuer = sharedIssuer();

  it('makes its issuer one that is needed, and one that is refused does not', async () => {
    issuer.server.publish([issuer.key.published], 'away');
    const bench = issuer.open({ regions: ['home', 'away'] });
    ({ keys, clock } = bench);
    watch = new KeyWatch({ keys, hold: () => () => undefined, clock, log });
    expect(await bench.verify(bench.token({ jti: 'another' }))).toBe('nonce_mismatch');
    expect(bench.keys.needed).toHaveLength(2);
    expect(await bench.verify(bench.token({ iss: issuer.server.issuer('away') }))).toEqual(PRINCIPAL);
    expect(bench.keys.needed).toHaveLength(1);
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    expect(bench.keys.needed).toHaveLength(2);
  });
});
