// What the token check accepts, how it behaves under load, and that no failure inside it admits anybody.
import { beforeEach, describe, expect, it } from 'vitest';
import { TrustedDataSources } from '../../../src/auth/data-sources.ts';
import { TokenVerifier } from '../../../src/auth/jws-verifier.ts';
import { KeySource } from '../../../src/auth/key-source.ts';
import { NonceBook } from '../../../src/auth/nonces.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { CapturedLog, CLAIM_NAMES, NONCE, PRINCIPAL, sharedIssuer, SOURCE, type TokenBench } from '../../support/token-bench.ts';
import { encodePart, KEY_SET_SUFFIX } from '../../support/token-issuer.ts';

const issuer = sharedIssuer();

describe('a good token', () => {
  it.each(['home', 'away', 'far'])(
    'J-20 is accepted from the listed issuer of %s, raw and with the scheme in any case (G-03)',
    async (region) => {
      const regions = ['home', 'away', 'far'];
      for (const name of regions) issuer.server.publish([issuer.key.published], name);
      const bench = issuer.open({ regions });
      const token = bench.token({ iss: issuer.server.issuer(region) });
      for (const value of [token, `Bearer ${token}`, `bearer ${token}`, `BEARER ${token}`, `Bearer   ${token}`]) {
        expect(await bench.verify(value)).toEqual(PRINCIPAL);
      }
      expect(issuer.server.requests).toEqual([`/${region}/idb${KEY_SET_SUFFIX}`]);
    },
  );

  it.each([
    ['J-27 exp 29 s ago', (b: TokenBench) => ({ exp: b.nowSeconds - 29 })],
    ['J-16 nbf 29 s ahead', (b: TokenBench) => ({ nbf: b.nowSeconds + 29 })],
    ['J-01 a lifetime of 1440 minutes', (b: TokenBench) => ({ exp: b.nowSeconds + 86_400 })],
    ['a fraction of a second in exp', (b: TokenBench) => ({ exp: b.nowSeconds + 0.5 })],
    ['claims nobody knows', () => ({ extra: { deep: [1, 2, 3] }, token_type: 'source' })],
  ])('is accepted with %s', async (_name, changes) => {
    const bench = issuer.open();
    expect(await bench.verify(bench.token(changes(bench)))).toEqual(PRINCIPAL);
  });

  it('is accepted without typ and with header members nobody knows', async () => {
    const bench = issuer.open();
    expect(await bench.verify(bench.token({}, { typ: undefined, extra: 1 }))).toEqual(PRINCIPAL);
  });

  it('J-28 is accepted with a list of audiences where that is configured, and only with the registered one in it', async () => {
    const bench = issuer.open({ audienceLists: true });
    expect(await bench.verify(bench.token({ aud: ['another', SOURCE.audience] }))).toEqual(PRINCIPAL);
    expect(await bench.verify(bench.token({ aud: ['another'] }))).toBe('audience_mismatch');
    expect(await bench.verify(bench.token({ aud: [] }))).toBe('audience_mismatch');
    expect(await bench.verify(bench.token({ aud: [SOURCE.audience, 1] }))).toBe('audience_mismatch');
  });

  it('J-16 gets at most 30 s of skew, whatever is configured, and less where less is', async () => {
    const generous = issuer.open({ clockSkewMs: 3_600_000 });
    expect(await generous.verify(generous.token({ exp: generous.nowSeconds - 31 }))).toBe('expired');
    const strict = issuer.open({ clockSkewMs: 0 });
    expect(await strict.verify(strict.token({ exp: strict.nowSeconds - 1 }))).toBe('expired');
    expect(await strict.verify(strict.token({ nbf: strict.nowSeconds + 1 }))).toBe('not_yet_valid');
    const broken = issuer.open({ clockSkewMs: Number.NaN });
    expect(await broken.verify(broken.token())).toBe('expired');
  });

  it('has a size that is bounded to the byte', async () => {
    const bench = issuer.open();
    const token = bench.token();
    expect(await issuer.open({ maxTokenBytes: token.length }).verify(`Bearer ${token}`)).toEqual(PRINCIPAL);
    expect(await issuer.open({ maxTokenBytes: token.length - 1 }).verify(token)).toBe('token_too_large');
  });
});

describe('a refusal that needs no key', () => {
  it.each([
    ['token_malformed', (): string => 'a.b'],
    ['algorithm_refused', (b: TokenBench): string => b.token({}, { alg: 'none' })],
    ['issuer_mismatch', (b: TokenBench): string => b.token({ iss: 'https://issuer.example.test' })],
    ['key_not_found', (b: TokenBench): string => b.token({}, { kid: undefined })],
  ])('J-23 is thrown at once: %s', (reason, forge) => {
    const bench = issuer.open();
    const value = forge(bench);
    expect(() => bench.verifier.verify(value, 'grpc')).toThrow(expect.objectContaining({ details: { reason } }));
    expect(issuer.server.requests).toEqual([]);
  });
});

describe('transports', () => {
  const webSource = { ...SOURCE, id: 'source-ws', url: 'wss://voice.example.test', schemaId: 'schema-ws', transport: 'websocket' as const };
  const webClaims = { [CLAIM_NAMES.url]: webSource.url, [CLAIM_NAMES.schema]: webSource.schemaId };
  let bench: TokenBench;

  beforeEach(() => {
    bench = issuer.open({ dataSources: new TrustedDataSources([SOURCE, webSource]) });
    bench.nonces.rotate(webSource.id, NONCE);
  });

  it('J-2E refuses the token of one transport on the other, remembered or not', async () => {
    const grpc = bench.token();
    const web = bench.token(webClaims);
    for (let round = 0; round < 2; round++) {
      expect(await bench.verify(`Bearer ${grpc}`, 'websocket')).toBe('schema_mismatch');
      expect(await bench.verify(web, 'grpc')).toBe('schema_mismatch');
      expect(await bench.verify(grpc, 'grpc')).toEqual(PRINCIPAL);
      expect(await bench.verify(`Bearer ${web}`, 'websocket')).toEqual({ ...PRINCIPAL, dataSourceId: 'source-ws', transport: 'websocket' });
    }
  });

  it('W-06 demands the scheme on WebSocket', async () => {
    expect(await bench.verify(bench.token(webClaims), 'websocket')).toBe('scheme_refused');
  });
});

describe('many at once', () => {
  class CountingKeys extends KeySource {
    looked = 0;
    override find(...args: Parameters<KeySource['find']>): ReturnType<KeySource['find']> {
      this.looked += 1;
      return super.find(...args);
    }
  }

  it('verifications of one token share one check of its signature', async () => {
    const bench = issuer.open();
    const clock = new FakeClock();
    const log = new CapturedLog();
    const keys = new CountingKeys({ issuers: [issuer.server.issuer()], keySetSuffix: KEY_SET_SUFFIX, allowLoopbackHttp: true, clock, log });
    const { dataSources, nonces } = bench;
    const verifier = new TokenVerifier({ keys, dataSources, nonces, claimNames: CLAIM_NAMES, clock, log });
    const token = bench.token();
    const principals = await Promise.all(Array.from({ length: 200 }, async () => verifier.verify(token, 'grpc')));
    expect(principals).toEqual(Array.from({ length: 200 }, () => PRINCIPAL));
    expect(keys.looked).toBe(1);
    expect(issuer.server.requests).toHaveLength(1);
  });

  it('J-25 1000 unknown kids cause one refresh, then one for each pause', async () => {
    const bench = issuer.open({ maxPending: 2000 });
    expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
    bench.clock.advance(30_000);
    issuer.server.forgetRequests();
    const flood = (): Promise<unknown[]> =>
      Promise.all(
        Array.from({ length: 1000 }, (_, index) => {
          // Nobody will look at the signature.
          const header = encodePart({ alg: 'RS256', kid: `unknown-${String(index)}` });
          return bench.verify(`${header}.${encodePart(bench.claims())}.AAAA`);
        }),
      );

    expect(new Set(await flood())).toEqual(new Set(['key_not_found']));
    expect(issuer.server.requests).toHaveLength(1);
    await flood();
    expect(issuer.server.requests).toHaveLength(1);
    bench.clock.advance(30_000);
    await flood();
    expect(issuer.server.requests).toHaveLength(2);
    expect(await bench.verify(bench.token({ iat: 5 }))).toEqual(PRINCIPAL);
  });

  it('tokens that wait for keys are bounded in number', async () => {
    issuer.server.respond = () => undefined;
    const bench = issuer.open({ maxPending: 10 });
    const waiting = Array.from({ length: 10 }, (_, index) => bench.verify(bench.token({ iat: index })));
    expect(await bench.verify(bench.token({ iat: 11 }))).toBe('verifier_busy');
    bench.clock.advance(3000);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['keys_unavailable']));
    // The places are free again.
    expect(await bench.verify(bench.token({ iat: 11 }))).toBe('keys_unavailable');
    expect(bench.clock.pendingTimers).toBe(0);
  });
});

describe('whatever goes wrong', () => {
  class BrokenBook extends NonceBook {
    override accepts(): boolean {
      throw new TypeError(`a defect that quotes ${NONCE}`);
    }
  }

  class BrokenKeys extends KeySource {
    override find(): ReturnType<KeySource['find']> {
      return Promise.reject(new TypeError(`a defect that quotes ${NONCE}`));
    }
  }

  const parts = (): { clock: FakeClock; log: CapturedLog; dataSources: TrustedDataSources; nonces: NonceBook; keys: KeySource } => {
    const clock = new FakeClock();
    const log = new CapturedLog();
    const nonces = new NonceBook({ clock });
    nonces.rotate(SOURCE.id, NONCE);
    const keys = new KeySource({ issuers: [issuer.server.issuer()], keySetSuffix: KEY_SET_SUFFIX, allowLoopbackHttp: true, clock, log });
    return { clock, log, dataSources: new TrustedDataSources([SOURCE]), nonces, keys };
  };

  it('J-2C a check that throws refuses (G-92), says where, and quotes nothing', async () => {
    const bench = issuer.open({ nonces: new BrokenBook({ clock: new FakeClock() }) });
    expect(await bench.verify(bench.token())).toBe('verifier_failed');
    const line = bench.log.lines.find((text) => text.includes('verifier_failed')) ?? '';
    expect(line).toContain('TypeError at BrokenBook.accepts');
    expect(line).toContain('"level":"error"');
    expect(bench.log.lines.join('\n')).not.toContain(NONCE);
  });

  it('J-2C a key source that throws refuses', async () => {
    const given = parts();
    const keys = new BrokenKeys({ issuers: [issuer.server.issuer()], keySetSuffix: KEY_SET_SUFFIX, allowLoopbackHttp: true, ...given });
    const verifier = new TokenVerifier({ ...given, keys, claimNames: CLAIM_NAMES });
    await expect(verifier.verify(issuer.open().token(), 'grpc')).rejects.toMatchObject({
      code: 'unauthenticated',
      details: { reason: 'verifier_failed' },
    });
    expect(given.log.lines.join('\n')).not.toContain(NONCE);
  });

  it('J-2C a clock that throws refuses, a remembered token too', async () => {
    const given = parts();
    let broken = false;
    const clock = {
      nowMs: () => {
        if (broken) throw new Error('no time');
        return given.clock.nowMs();
      },
      monotonicMs: () => given.clock.monotonicMs(),
      after: given.clock.after.bind(given.clock),
    };
    const verifier = new TokenVerifier({ ...given, clock, claimNames: CLAIM_NAMES });
    const token = issuer.open().token();
    await verifier.verify(token, 'grpc');
    broken = true;
    expect(() => verifier.verify(token, 'grpc')).toThrow(expect.objectContaining({ details: { reason: 'verifier_failed' } }));
  });

  it('an observer and a log that throw change no decision', async () => {
    const given = parts();
    const fail = (): never => {
      throw new Error('broken watcher');
    };
    const log = { debug: fail, info: () => undefined, warn: fail, error: fail, child: fail };
    const observer = { tokenRefused: fail, tokenAccepted: fail };
    const verifier = new TokenVerifier({ ...given, log, observer, claimNames: CLAIM_NAMES });
    const token = issuer.open().token();
    expect(await verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
    expect(verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
    expect(() => verifier.verify('Basic x', 'grpc')).toThrow(expect.objectContaining({ details: { reason: 'scheme_refused' } }));
  });

  it('a flood of refusals becomes one line a second for each reason, with the number left out', async () => {
    const bench = issuer.open();
    for (let attempt = 0; attempt < 100; attempt++) await bench.verify('Basic x');
    await bench.verify(undefined);
    expect(bench.log.lines).toHaveLength(2);
    bench.clock.advance(1000);
    await bench.verify('Basic x');
    expect(bench.log.lines).toHaveLength(3);
    expect(bench.log.lines[2]).toContain('"leftOut":99');
    expect(bench.heard).toHaveLength(102);
  });

  it('P-14 no token, nonce or claim value reaches the log, on success or refusal', async () => {
    const bench = issuer.open();
    const canaries = ['canary-aud', 'canary-sub', 'canary-iss', 'canary-org', 'canary-kid', NONCE];
    const tokens = [
      bench.token(),
      bench.token({ aud: 'canary-aud' }),
      bench.token({ sub: 'canary-sub' }),
      bench.token({ iss: 'https://canary-iss.example.test' }),
      bench.token({ [CLAIM_NAMES.organization]: 'canary-org' }),
      bench.token({}, { kid: 'canary-kid' }),
      bench.token({ exp: 1 }),
      bench.token({}, { alg: 'canary-alg' }),
    ];
    for (const token of [...tokens, ...tokens]) {
      await bench.verify(token);
      bench.clock.advance(2000);
    }
    issuer.server.respond = (_request, response) => response.destroy();
    bench.clock.advance(3_000_000);
    await bench.verify(bench.token({}, { kid: 'canary-kid' }));
    const log = bench.log.lines.join('\n');
    expect(bench.log.lines.length).toBeGreaterThan(8);
    for (const canary of [...canaries, 'canary', ...tokens.flatMap((token) => token.split('.'))]) expect(log).not.toContain(canary);
  });
});
