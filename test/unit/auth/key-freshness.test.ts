// How long keys count as fresh, and how long they serve while the issuer cannot be reached.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PRINCIPAL, TokenBench } from '../../support/token-bench.ts';
import { createSigningKey, TokenIssuer } from '../../support/token-issuer.ts';
import { until } from '../../support/until.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const key = createSigningKey('key-1');
const nextKey = createSigningKey('key-2');

let issuer: TokenIssuer;

beforeEach(async () => {
  issuer = await TokenIssuer.start();
  issuer.publish([key.published]);
});

afterEach(async () => {
  await issuer.close();
});

/** Waits for a request that nobody else waits for: each has a timer of its own. */
const answered = (bench: TokenBench): Promise<void> => until('the issuer has answered', () => bench.clock.pendingTimers === 0);

/** A bench that remembers no token, so that every verification looks for its key. */
const open = (keySource = {}): TokenBench => new TokenBench(issuer, key, { rememberedTokens: 0, keySource });

describe('fresh keys', () => {
  it.each([
    ['no word from the issuer: 60 minutes', {}, 60 * MINUTE_MS],
    ['max-age of 10 minutes', { 'cache-control': 'public, max-age=600' }, 10 * MINUTE_MS],
    ['max-age in quotes and upper case', { 'cache-control': 'MAX-AGE="600"' }, 10 * MINUTE_MS],
    ['max-age less the age of the answer', { 'cache-control': 'max-age=600', age: '240' }, 6 * MINUTE_MS],
    ['an age that is no number counts as none', { 'cache-control': 'max-age=600', age: 'old' }, 10 * MINUTE_MS],
    ['max-age of 0, held for a minute', { 'cache-control': 'max-age=0' }, MINUTE_MS],
    ['an answer older than its max-age, held for a minute', { 'cache-control': 'max-age=10', age: '999999' }, MINUTE_MS],
    ['no-store, held for a minute', { 'cache-control': 'no-store, max-age=600' }, MINUTE_MS],
    ['no-cache, held for a minute', { 'cache-control': 'no-cache' }, MINUTE_MS],
    ['max-age of a week, held for a day', { 'cache-control': 'max-age=604800' }, 24 * HOUR_MS],
    ['a max-age that is no number counts as none', { 'cache-control': 'max-age=soon' }, 60 * MINUTE_MS],
    ['s-maxage is for shared caches', { 'cache-control': 's-maxage=600' }, 60 * MINUTE_MS],
  ])('are asked for again after %s', async (_name, headers, freshMs) => {
    issuer.headers = headers;
    const bench = open();
    await bench.verify(bench.token());
    issuer.publish([nextKey.published]);
    const asked = issuer.hold();
    bench.clock.advance(freshMs - 1);
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    const answer = await asked;
    bench.clock.advance(1);
    const late = bench.verify(bench.token());
    answer.end(JSON.stringify({ keys: [nextKey.published] }));
    expect(await late).toBe('key_not_found');
    expect(issuer.requests).toHaveLength(2);
  });

  it('do not age when the wall clock is corrected', async () => {
    const bench = open();
    await bench.verify(bench.token());
    bench.clock.stepWall(48 * HOUR_MS);
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    bench.clock.stepWall(-96 * HOUR_MS);
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    expect(issuer.requests).toHaveLength(1);
  });

  it('give way to those that are published in their place', async () => {
    const bench = open();
    await bench.verify(bench.token());
    issuer.publish([nextKey.published]);
    bench.clock.advance(HOUR_MS);
    expect(await bench.verify(bench.token())).toBe('key_not_found');
    expect(await bench.verify(bench.token({}, {}, nextKey))).toEqual(PRINCIPAL);
  });

  it('are asked for again in the last fifth of their time, and nobody waits for it', async () => {
    const bench = open();
    await bench.verify(bench.token());
    issuer.publish([nextKey.published]);
    bench.clock.advance(0.8 * HOUR_MS - 1);
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    expect(bench.clock.pendingTimers).toBe(0);

    const asked = issuer.hold();
    bench.clock.advance(1);
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    const answer = await asked;
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    expect(issuer.requests).toHaveLength(2);

    answer.end(JSON.stringify({ keys: [nextKey.published] }));
    await answered(bench);
    expect(await bench.verify(bench.token({}, {}, nextKey))).toEqual(PRINCIPAL);
    expect(await bench.verify(bench.token())).toBe('key_not_found');
    expect(issuer.requests).toHaveLength(2);
  });

  it('are not waited for while an unknown kid has them asked for', async () => {
    const bench = open();
    await bench.verify(bench.token());
    bench.clock.advance(30_000);
    const asked = issuer.hold();
    const unknown = bench.verify(bench.token({}, { kid: 'unknown' }));
    const answer = await asked;
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    answer.end(JSON.stringify({ keys: [key.published] }));
    expect(await unknown).toBe('key_not_found');
  });
});

describe('an outage', () => {
  const failures: readonly (readonly [string, (broken: TokenIssuer) => Promise<void> | void])[] = [
    [
      'answers 429',
      (broken) => {
        broken.respond = (_request, response) => response.writeHead(429, { 'retry-after': '60' }).end();
      },
    ],
    [
      'answers 503',
      (broken) => {
        broken.respond = (_request, response) => response.writeHead(503).end();
      },
    ],
    [
      'drops the connection',
      (broken) => {
        broken.respond = (_request, response) => response.destroy();
      },
    ],
    ['refuses connections', (broken) => broken.close()],
    [
      'publishes no key at all',
      (broken) => {
        broken.publish([]);
      },
    ],
    [
      'publishes no usable key',
      (broken) => {
        broken.publish([{ ...key.published, use: 'enc' }]);
      },
    ],
    [
      'answers with nonsense',
      (broken) => {
        broken.respond = (_request, response) => response.end('{"keys":');
      },
    ],
  ];

  it.each(failures)('J-2B when the issuer %s, warm keys accept and cold ones refuse', async (name, fail) => {
    const warm = open();
    await warm.verify(warm.token());
    await fail(issuer);
    warm.clock.advance(HOUR_MS);
    expect(await warm.verify(warm.token())).toEqual(PRINCIPAL);
    expect(warm.log.lines.at(-1)).toContain('"stale":true');

    const cold = open();
    expect(await cold.verify(cold.token())).toBe('keys_unavailable');
    expect(cold.log.lines[0]).toContain('"stale":false');
    expect(warm.clock.pendingTimers + cold.clock.pendingTimers).toBe(0);
    if (name === 'refuses connections') issuer = await TokenIssuer.start();
  });

  it('J-2B stale keys serve for 24 h beyond their fresh time and not a moment longer', async () => {
    const bench = open();
    await bench.verify(bench.token());
    issuer.respond = (_request, response) => response.writeHead(429).end();
    bench.clock.advance(25 * HOUR_MS - 1);
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    bench.clock.advance(1);
    expect(await bench.verify(bench.token())).toBe('keys_unavailable');
    bench.clock.advance(30_000);
    issuer.respond = undefined;
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
  });

  it('stale keys do not serve at all where that is configured', async () => {
    const bench = open({ staleMs: 0 });
    await bench.verify(bench.token());
    issuer.respond = (_request, response) => response.writeHead(500).end();
    bench.clock.advance(HOUR_MS);
    expect(await bench.verify(bench.token())).toBe('keys_unavailable');
  });

  it('delays the first caller after the fresh time, and nobody after that', async () => {
    const bench = open();
    await bench.verify(bench.token());
    const asked = issuer.hold();
    bench.clock.advance(HOUR_MS);
    const first = bench.verify(bench.token());
    await asked;
    bench.clock.advance(3000);
    expect(await first).toEqual(PRINCIPAL);

    bench.clock.advance(30_000);
    const again = issuer.hold();
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    (await again).end(JSON.stringify({ keys: [nextKey.published] }));
    await answered(bench);
    expect(await bench.verify(bench.token())).toBe('key_not_found');
  });

  it('is asked about once for each pause, and noticed when it is over', async () => {
    const bench = open();
    await bench.verify(bench.token());
    issuer.respond = (_request, response) => response.writeHead(500).end();
    bench.clock.advance(HOUR_MS);
    issuer.forgetRequests();
    for (let attempt = 0; attempt < 20; attempt++) expect(await bench.verify(bench.token({ iat: attempt }))).toEqual(PRINCIPAL);
    bench.clock.advance(29_999);
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    expect(bench.clock.pendingTimers).toBe(0);
    expect(issuer.requests).toHaveLength(1);
    issuer.respond = undefined;
    bench.clock.advance(1);
    await bench.verify(bench.token());
    await answered(bench);
    bench.clock.advance(30_000);
    await bench.verify(bench.token());
    expect(bench.clock.pendingTimers).toBe(0);
    expect(issuer.requests).toHaveLength(2);
  });

  it('makes an unknown kid a matter of missing keys, not of forgery', async () => {
    const bench = open();
    await bench.verify(bench.token());
    issuer.respond = (_request, response) => response.writeHead(500).end();
    bench.clock.advance(30_000);
    expect(await bench.verify(bench.token({}, { kid: 'new' }))).toBe('keys_unavailable');
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    issuer.respond = undefined;
    bench.clock.advance(30_000);
    expect(await bench.verify(bench.token({}, { kid: 'new' }))).toBe('key_not_found');
  });
});
