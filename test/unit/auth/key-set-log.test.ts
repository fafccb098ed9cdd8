// What an operator reads about the key sets of issuers: what was fetched, and why a fetch failed.
import { describe, expect, it } from 'vitest';
import type { Fetch } from '../../../src/auth/key-set-request.ts';
import { CapturedLog, sharedIssuer } from '../../support/token-bench.ts';
import { KEY_SET_SUFFIX } from '../../support/token-issuer.ts';
import { KeySource, type KeySourceOptions } from '../../../src/auth/key-source.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const issuer = sharedIssuer();

const FAILED = { level: 'warn', message: 'key set could not be fetched', failures: 1, stale: false };

/** Looks for a key once, and returns what the log said about it. */
async function said(options: Partial<KeySourceOptions> = {}, meanwhile: (clock: FakeClock, keys: KeySource) => void = () => undefined) {
  const clock = new FakeClock();
  const log = new CapturedLog();
  const issuers = [issuer.server.issuer()];
  const keys = new KeySource({ issuers, keySetSuffix: KEY_SET_SUFFIX, allowLoopbackHttp: true, clock, log, ...options });
  const looking = keys.find(issuer.server.issuer(), issuer.key.id).catch(() => undefined);
  meanwhile(clock, keys);
  await looking;
  return log.lines.map((line) => JSON.parse(line) as unknown);
}

/** A fetch that fails with this chain of causes. */
function failing(...chain: readonly object[]): Fetch {
  const cause = chain.reduceRight<Error | undefined>(
    (inner, members) => Object.assign(new Error('a text nobody has promised to log', { cause: inner }), members),
    undefined,
  );
  return () => Promise.reject(cause ?? new Error('no chain'));
}

describe('the log', () => {
  it('logs of a key set how many keys are usable, how many are not, and how long it is fresh', async () => {
    issuer.server.publish([issuer.key.published, { ...issuer.key.published, use: 'enc' }]);
    issuer.server.headers = { 'cache-control': 'max-age=600' };
    expect(await said()).toEqual([
      { level: 'info', message: 'key set fetched', issuer: issuer.server.issuer(), keys: 1, ignored: 1, freshMs: 600_000 },
    ]);
  });

  it.each([
    ['another status', 503, '', { failure: 'the issuer did not answer with a key set', status: 503 }],
    ['no JSON', 200, '{"keys":', { failure: 'the answer of the issuer is no JSON' }],
    ['no key set', 200, '{"keys":7}', { failure: 'the answer of the issuer is no key set' }],
    ['no usable key', 200, '{"keys":[{},{}]}', { failure: 'the issuer publishes no usable key', ignored: 2 }],
    [
      'too many keys',
      200,
      JSON.stringify({ keys: Array.from({ length: 101 }, () => 0) }),
      { failure: 'the key set of the issuer has too many keys', keys: 101, limit: 100 },
    ],
    ['too many bytes', 200, ' '.repeat(65_537), { failure: 'the answer of the issuer is too large', limitBytes: 65_536 }],
  ])('says that an answer was %s', async (_name, status, body, failure) => {
    issuer.server.respond = (_request, response) => response.writeHead(status).end(body);
    expect(await said()).toEqual([{ ...FAILED, issuer: issuer.server.issuer(), ...failure }]);
  });

  it('says that an answer broke off', async () => {
    issuer.server.respond = (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{');
      setImmediate(() => response.destroy());
    };
    expect(await said()).toEqual([expect.objectContaining({ ...FAILED, failure: 'the answer of the issuer broke off' })]);
  });

  it('says that an issuer took too long, and how long that is', async () => {
    const signals: AbortSignal[] = [];
    const silent: Fetch = (_url, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const lines = await said({ fetch: silent, timeoutMs: 700 }, (clock) => {
      clock.advance(700);
    });
    expect(lines).toEqual([{ ...FAILED, issuer: issuer.server.issuer(), failure: 'the issuer took too long', limitMs: 700 }]);
    expect(signals.map((signal) => signal.reason as unknown)).toEqual(['deadline']);
  });

  it('says that the key source was closed', async () => {
    const signals: AbortSignal[] = [];
    const silent: Fetch = (_url, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const lines = await said({ fetch: silent }, (_clock, keys) => {
      keys.close();
    });
    expect(signals.map((signal) => signal.reason as unknown)).toEqual(['shutdown']);
    expect(lines).toEqual([{ ...FAILED, issuer: issuer.server.issuer(), failure: 'the key source was closed' }]);
  });

  it.each([
    ['at once', [{ code: 'ENOTFOUND' }]],
    ['within another one', [{}, { code: 'ENOTFOUND' }]],
    ['beside a code that is no word', [{ code: 7 }, { code: 'ENOTFOUND' }, { code: 'EOTHER' }]],
    ['three levels deep', [{}, {}, {}, { code: 'ENOTFOUND' }]],
  ])('has the word of the system for a failure that names it %s', async (_name, chain) => {
    const failure = 'the issuer cannot be reached, or it redirects';
    expect(await said({ fetch: failing(...chain) })).toEqual([{ ...FAILED, issuer: issuer.server.issuer(), failure, cause: 'ENOTFOUND' }]);
  });

  it('does without that word when it lies too deep or nowhere', async () => {
    const failure = 'the issuer cannot be reached, or it redirects';
    for (const fetch of [failing({}, {}, {}, {}, { code: 'ENOTFOUND' }), failing({})]) {
      expect(await said({ fetch })).toEqual([{ ...FAILED, issuer: issuer.server.issuer(), failure }]);
    }
  });

  it('counts failures in a row, and says whether older keys still serve', async () => {
    const bench = issuer.open({ rememberedTokens: 0 });
    await bench.verify(bench.token());
    issuer.server.publish([]);
    for (const failures of [1, 2]) {
      bench.clock.advance(3_600_000);
      await bench.verify(bench.token({ exp: bench.nowSeconds + 100, jti: 'unknown' }, { kid: 'unknown' }));
      expect(JSON.parse(bench.log.lines.filter((line) => line.includes('could not be fetched')).at(-1) ?? '')).toMatchObject({
        failures,
        stale: true,
      });
    }
    issuer.server.publish([issuer.key.published]);
    bench.clock.advance(30_000);
    expect(await bench.verify(bench.token({}, { kid: 'unknown' }))).toBe('key_not_found');
  });
});
