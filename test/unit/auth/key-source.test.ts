// Where keys come from: which addresses are asked, how often, and what an answer may look like. Freshness and outages
// are in key-freshness.test.ts.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Fetch } from '../../../src/auth/key-set-request.ts';
import { KeySource, type KeySourceOptions } from '../../../src/auth/key-source.ts';
import { refusalReason } from '../../../src/auth/refusal.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';
import { CapturedLog } from '../../support/token-bench.ts';
import { createSigningKey, KEY_SET_SUFFIX, TokenIssuer } from '../../support/token-issuer.ts';

const key = createSigningKey('key-1');
const body = JSON.stringify({ keys: [key.published] });

let issuer: TokenIssuer;
let other: TokenIssuer;
let clock: FakeClock;
let log: CapturedLog;

beforeAll(async () => {
  [issuer, other] = await Promise.all([TokenIssuer.start(), TokenIssuer.start()]);
  other.publish([key.published]);
});

beforeEach(() => {
  issuer.publish([key.published]);
  issuer.respond = undefined;
  issuer.forgetRequests();
  other.forgetRequests();
  clock = new FakeClock();
  log = new CapturedLog();
});

afterAll(async () => {
  await Promise.all([issuer.close(), other.close()]);
});

function open(options: Partial<KeySourceOptions> = {}): KeySource {
  return new KeySource({ issuers: [issuer.issuer()], keySetSuffix: KEY_SET_SUFFIX, allowLoopbackHttp: true, clock, log, ...options });
}

/** What became of looking for a key: `found`, or the reason of the refusal. */
async function look(keys: KeySource, keyId = key.id, of = issuer.issuer()): Promise<string> {
  try {
    await keys.find(of, keyId);
    return 'found';
  } catch (error) {
    const reason = refusalReason(error);
    if (reason === undefined) throw error;
    return reason;
  }
}

describe('which addresses are asked', () => {
  it('J-12 an issuer that is not listed is never asked', async () => {
    const keys = open();
    for (const name of [`${issuer.issuer()}/`, issuer.issuer('away'), other.issuer(), '', 'constructor', '__proto__']) {
      expect(keys.knows(name)).toBe(false);
      expect(await look(keys, key.id, name)).toBe('issuer_mismatch');
      expect(keys.holds(name, key.id, 'any')).toBe(false);
    }
    expect([...issuer.requests, ...other.requests]).toEqual([]);
  });

  it.each([
    ['http on another machine', { issuers: ['http://issuer.example.test/idb'] }],
    ['http on this machine unless allowed', { issuers: ['http://127.0.0.1:1/idb'], allowLoopbackHttp: false }],
    ['a host that begins like loopback', { issuers: ['http://127.0.0.1.example.test/idb'] }],
    ['a file', { issuers: ['file:///etc/keys'] }],
    ['no address', { issuers: ['issuer'] }],
    ['an empty issuer', { issuers: [''] }],
    ['a user name', { issuers: ['https://user@issuer.example.test/idb'] }],
    ['a password', { issuers: ['https://:word@issuer.example.test/idb'] }],
    ['a query that swallows the suffix', { issuers: ['https://issuer.example.test/idb?x='] }],
    ['a fragment that hides the suffix', { issuers: ['https://issuer.example.test/idb#'] }],
  ])('J-13 refuses at start an issuer with %s', (_name, options) => {
    const [name] = options.issuers;
    expect(() => open(options)).toThrow(expect.objectContaining({ code: 'config_invalid', details: { issuer: name } }));
  });

  it('J-13 allows no plain http unless that is allowed', () => {
    const issuers = ['http://127.0.0.1:1/idb'];
    expect(() => new KeySource({ issuers, keySetSuffix: KEY_SET_SUFFIX, clock, log })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
  });

  it.each(['https://issuer.example.test/idb', 'http://127.0.0.9:8080/idb', 'http://[::1]:8080/idb', 'http://localhost:8080/idb'])(
    'J-13 accepts %s, asking nothing yet',
    (name) => {
      expect(open({ issuers: [name] }).knows(name)).toBe(true);
    },
  );

  it.each([301, 302, 303, 307, 308])('J-13 does not follow a redirect (%d), neither away nor on the same host', async (status) => {
    for (const location of [other.issuer() + KEY_SET_SUFFIX, `${issuer.issuer('away')}${KEY_SET_SUFFIX}`]) {
      issuer.forgetRequests();
      issuer.respond = (_request, response) => response.writeHead(status, { location }).end(body);
      expect(await look(open())).toBe('keys_unavailable');
      expect(issuer.requests).toHaveLength(1);
      expect(other.requests).toEqual([]);
    }
  });
});

describe('what an answer may look like', () => {
  it.each([
    ['status 404', 404, body],
    ['status 500', 500, body],
    ['status 204', 204, ''],
    ['an empty body', 200, ''],
    ['no JSON', 200, '<html>keys</html>'],
    ['a list instead of a set', 200, JSON.stringify([key.published])],
    ['keys that are no list', 200, JSON.stringify({ keys: key.published })],
    ['null', 200, 'null'],
  ])('%s gives no keys', async (_name, status, text) => {
    issuer.respond = (_request, response) => response.writeHead(status).end(text);
    expect(await look(open())).toBe('keys_unavailable');
    expect(log.lines.join('\n')).toContain('"level":"warn"');
    expect(clock.pendingTimers).toBe(0);
  });

  it('J-13 a set over the size limit is refused, whether its length is announced, streamed or packed', async () => {
    const large = JSON.stringify({ keys: [key.published], padding: ' '.repeat(65_536) });
    issuer.respond = (_request, response) => response.end(large);
    expect(await look(open())).toBe('keys_unavailable');
    issuer.respond = (_request, response) => {
      for (let at = 0; at < large.length; at += 1000) response.write(large.slice(at, at + 1000));
      response.end();
    };
    expect(await look(open())).toBe('keys_unavailable');
    issuer.respond = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(large));
    expect(await look(open())).toBe('keys_unavailable');
    expect(await look(open({ maxBytes: large.length }))).toBe('found');
    expect(log.lines.filter((line) => line.includes('too large'))).toHaveLength(3);
  });

  it('J-13 an endless body is cut off', async () => {
    let closed: Promise<unknown> | undefined;
    issuer.respond = (_request, response) => {
      closed = once(response, 'close');
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(16_384)));
      };
      response.on('drain', more);
      more();
    };
    expect(await look(open())).toBe('keys_unavailable');
    await closed;
  });

  it('a set with more than 100 keys is refused as a whole', async () => {
    const { n, e } = key.published;
    const named = (count: number) => Array.from({ length: count }, (_, index) => ({ kty: 'RSA', n, e, kid: `key-${String(index)}` }));
    issuer.publish(named(100));
    expect(await look(open())).toBe('found');
    issuer.publish(named(101));
    expect(await look(open())).toBe('keys_unavailable');
  });
});

describe('how long an answer may take', () => {
  const giveUp = async (keys: KeySource, begin: (response: ServerResponse) => Promise<void>): Promise<void> => {
    const asked = issuer.hold();
    const looking = look(keys);
    const response = await asked;
    const closed = once(response, 'close');
    await begin(response);
    await clock.advanceAsync(2999);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1);
    expect(await looking).toBe('keys_unavailable');
    await closed;
    expect(clock.pendingTimers).toBe(0);
  };

  it('J-13 a server that never answers is given up after 3 s and its request ended', async () => {
    await giveUp(open(), () => Promise.resolve());
  });

  it('J-13 a server that stops in the middle of the body is given up after 3 s and its request ended', async () => {
    let answered = (): void => undefined;
    const headersCame = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const noting: Fetch = async (url, init) => {
      const response = await fetch(url, init);
      answered();
      return response;
    };
    await giveUp(open({ fetch: noting }), (response) => {
      response.write(body.slice(0, 40));
      return headersCame;
    });
  });

  it('a fetch that does not heed its signal is given up all the same', async () => {
    const keys = open({ fetch: () => new Promise(() => undefined), timeoutMs: 500 });
    const looking = look(keys);
    clock.advance(500);
    expect(await looking).toBe('keys_unavailable');

    clock.advance(30_000);
    const again = look(keys);
    expect(clock.pendingTimers).toBe(1);
    keys.close();
    expect(await again).toBe('keys_unavailable');
    expect(clock.pendingTimers).toBe(0);
  });

  it('close ends a request in flight, and none is made after it; known keys stay good', async () => {
    const keys = open();
    expect(await look(keys)).toBe('found');
    clock.advance(30_000);
    const asked = issuer.hold();
    const looking = look(keys, 'unknown');
    const closed = once(await asked, 'close');
    keys.close();
    expect(await looking).toBe('keys_unavailable');
    await closed;
    clock.advance(3_000_000);
    issuer.forgetRequests();
    const said = log.lines.length;
    expect(await look(keys, 'unknown')).toBe('keys_unavailable');
    expect(await look(keys)).toBe('found');
    expect(issuer.requests).toEqual([]);
    expect(log.lines).toHaveLength(said);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('how often an issuer is asked', () => {
  it('one request is in flight at most, and all who wait share it', async () => {
    const keys = open();
    const asked = issuer.hold();
    const looking = Array.from({ length: 100 }, (_, index) => look(keys, index % 2 === 0 ? key.id : `unknown-${String(index)}`));
    const response = await asked;
    const late = look(keys);
    response.end(body);
    expect(new Set(await Promise.all(looking))).toEqual(new Set(['found', 'key_not_found']));
    expect(await late).toBe('found');
    expect(issuer.requests).toHaveLength(1);
  });

  it('issuers are asked and paused each for itself', async () => {
    issuer.publish([key.published], 'away');
    const keys = open({ issuers: [issuer.issuer(), issuer.issuer('away'), issuer.issuer('broken')] });
    expect(await look(keys, key.id, issuer.issuer('broken'))).toBe('keys_unavailable');
    expect(await look(keys)).toBe('found');
    expect(await look(keys, key.id, issuer.issuer('away'))).toBe('found');
    expect(issuer.requests).toHaveLength(3);
  });

  it('J-25 an unknown kid asks once, and again only after the pause', async () => {
    const keys = open();
    expect(await look(keys)).toBe('found');
    clock.advance(29_999);
    expect(await look(keys, 'unknown')).toBe('key_not_found');
    expect(issuer.requests).toHaveLength(1);
    clock.advance(1);
    expect(await look(keys, 'unknown')).toBe('key_not_found');
    expect(await look(keys, 'unknown')).toBe('key_not_found');
    expect(issuer.requests).toHaveLength(2);
  });

  it('J-2A a new key is found by one refresh, and the old one while it is published', async () => {
    const next = createSigningKey('key-2');
    const keys = open();
    expect(await look(keys)).toBe('found');
    issuer.publish([key.published, next.published]);
    clock.advance(30_000);
    expect(await look(keys, next.id)).toBe('found');
    expect(await look(keys)).toBe('found');
    expect(issuer.requests).toHaveLength(2);
    issuer.publish([next.published]);
    clock.advance(3_600_000);
    expect(await look(keys)).toBe('key_not_found');
    expect(await look(keys, next.id)).toBe('found');
  });

  it('without any keys the first retries come after 1, 2 and 4 s, never slower than the pause', async () => {
    issuer.respond = (_request, response) => response.destroy();
    const keys = open({ cooldownMs: 5000 });
    for (const pauseMs of [1000, 2000, 4000, 5000, 5000]) {
      issuer.forgetRequests();
      expect(await look(keys)).toBe('keys_unavailable');
      // The runtime may try a dropped connection again by itself.
      expect(issuer.requests.length).toBeGreaterThan(0);
      issuer.forgetRequests();
      clock.advance(pauseMs - 1);
      expect(await look(keys)).toBe('keys_unavailable');
      expect(issuer.requests).toEqual([]);
      clock.advance(1);
    }
    issuer.respond = undefined;
    expect(await look(keys)).toBe('found');
  });

  it('429 without any keys is answered with the whole pause', async () => {
    issuer.respond = (_request, response) => response.writeHead(429).end();
    const keys = open();
    expect(await look(keys)).toBe('keys_unavailable');
    clock.advance(29_999);
    await look(keys);
    expect(issuer.requests).toHaveLength(1);
    clock.advance(1);
    await look(keys);
    expect(issuer.requests).toHaveLength(2);
  });

  it('nothing runs by itself: without tokens there are no timers and no requests', async () => {
    const keys = open();
    await look(keys);
    issuer.forgetRequests();
    await clock.advanceAsync(48 * 3_600_000);
    await flushMicrotasks();
    expect(clock.pendingTimers).toBe(0);
    expect(issuer.requests).toEqual([]);
  });
});
