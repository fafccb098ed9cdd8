// What an operator reads about refused tokens.
import { generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { TokenVerifier } from '../../../src/auth/jws-verifier.ts';
import { KeySource } from '../../../src/auth/key-source.ts';
import { NonceBook } from '../../../src/auth/nonces.ts';
import { REFUSAL_HINTS } from '../../../src/auth/refusal.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { CLAIM_NAMES, sharedIssuer, type TokenBench } from '../../support/token-bench.ts';
import { KEY_SET_SUFFIX } from '../../support/token-issuer.ts';

const issuer = sharedIssuer();

/** The lines about refusals. */
function linesOf(bench: TokenBench): unknown[] {
  return bench.log.lines.filter((line) => line.includes('token refused')).map((line) => JSON.parse(line) as unknown);
}

describe('the line of a refused token', () => {
  it('is a warning with the reason and its hint, and names no defect', async () => {
    const bench = issuer.open();
    await bench.verify('Basic x');
    await bench.verify(bench.token({ aud: 'another' }));
    expect(linesOf(bench)).toEqual(
      (['scheme_refused', 'audience_mismatch'] as const).map((reason) => ({
        level: 'warn',
        message: 'token refused',
        reason,
        hint: REFUSAL_HINTS[reason],
        leftOut: 0,
      })),
    );
  });

  const frameless = new TypeError('x');
  frameless.stack = 'TypeError: x';
  const bare = new RangeError('x');
  Reflect.deleteProperty(bare, 'stack');
  const framed = new TypeError('x');
  framed.stack = 'TypeError: x\n    at check (file.ts:1:2)\n    at caller (file.ts:3:4)';

  it.each([
    ['an error without frames', frameless, 'TypeError'],
    ['an error without a stack', bare, 'RangeError'],
    ['the first frame of an error', framed, 'TypeError at check (file.ts:1:2)'],
    ['a text', 'secret', 'string'],
    ['an object', { secret: 1 }, 'object'],
  ])('is an error that names the place of a defect: %s', async (_name, thrown, defect) => {
    class Broken extends NonceBook {
      override accepts(): boolean {
        AbortSignal.abort(thrown).throwIfAborted();
        return true;
      }
    }
    const bench = issuer.open({ nonces: new Broken({ clock: new FakeClock() }) });
    expect(await bench.verify(bench.token())).toBe('verifier_failed');
    expect(linesOf(bench)).toEqual([
      {
        level: 'error',
        message: 'token refused',
        reason: 'verifier_failed',
        hint: REFUSAL_HINTS.verifier_failed,
        leftOut: 0,
        defect,
      },
    ]);
  });
});

describe('a key that cannot check signatures', () => {
  it('is a defect of ours and no forgery', async () => {
    const bench = issuer.open();
    const { privateKey } = await generateKeyPair('RS256');
    const { clock, log, dataSources, nonces } = bench;
    class Mistaken extends KeySource {
      override find(): ReturnType<KeySource['find']> {
        return Promise.resolve({ key: privateKey, fingerprint: 'any' });
      }
    }
    const keys = new Mistaken({ issuers: [issuer.server.issuer()], keySetSuffix: KEY_SET_SUFFIX, allowLoopbackHttp: true, clock, log });
    const verifier = new TokenVerifier({ keys, dataSources, nonces, clock, log, claimNames: CLAIM_NAMES });
    await expect(verifier.verify(bench.token(), 'grpc')).rejects.toMatchObject({ details: { reason: 'verifier_failed' } });
  });
});
