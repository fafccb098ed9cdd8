// Wide input: whatever is done to a good token, and whatever is sent instead of one, a check refuses it.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLAIM_NAMES, NONCE, PRINCIPAL, sharedIssuer, SOURCE, type TokenBench } from '../../support/token-bench.ts';
import { encodePart, signParts } from '../../support/token-issuer.ts';

/** The characters of tokens, and those that come near. */
const LIKELY = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ '.split('');

const issuer = sharedIssuer();

describe('any input', () => {
  let bench: TokenBench;
  let token: string;

  beforeEach(async () => {
    bench = issuer.open();
    token = bench.token();
    expect(await bench.verify(token)).toEqual(PRINCIPAL);
    // Keys that may not be asked for again: a mutation of the kid must not slow the test down.
    issuer.server.respond = (_request, response) => response.destroy();
  });

  afterEach(() => {
    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
  });

  const refusedInOrder = async (value: string): Promise<void> => {
    const outcome = await bench.verify(value);
    expect(typeof outcome).toBe('string');
    // Refused by a check, not by an accident.
    expect(outcome).not.toBe('verifier_failed');
  };

  it('a good token with characters replaced, inserted, removed or swapped is never accepted', async () => {
    const anyChar = fc.oneof(fc.constantFrom(...LIKELY), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }));
    const mutation = fc.record({
      kind: fc.constantFrom('replace', 'insert', 'remove', 'swap', 'cut', 'repeat'),
      at: fc.nat(),
      to: fc.nat(),
      char: anyChar,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
        const mutated = mutations.reduce((text, { kind, at, to, char }) => {
          const i = at % Math.max(1, text.length);
          const j = to % Math.max(1, text.length);
          switch (kind) {
            case 'replace':
              return text.slice(0, i) + char + text.slice(i + 1);
            case 'insert':
              return text.slice(0, i) + char + text.slice(i);
            case 'remove':
              return text.slice(0, i) + text.slice(i + 1);
            case 'swap':
              return (
                text.slice(0, Math.min(i, j)) +
                text.charAt(Math.max(i, j)) +
                text.slice(Math.min(i, j) + 1, Math.max(i, j)) +
                text.charAt(Math.min(i, j)) +
                text.slice(Math.max(i, j) + 1)
              );
            case 'cut':
              return text.slice(0, i);
            default:
              return text.slice(0, i) + text.slice(Math.min(i, j));
          }
        }, token);
        fc.pre(mutated !== token);
        await refusedInOrder(mutated);
      }),
      { numRuns: 500 },
    );
  });

  it('a good token with bits flipped in its decoded parts is never accepted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 }), fc.nat(), fc.integer({ min: 1, max: 255 }), async (part, at, mask) => {
        const parts = token.split('.').map((text) => Buffer.from(text, 'base64url'));
        const bytes = parts[part] ?? Buffer.alloc(1);
        const index = at % bytes.length;
        bytes.writeUInt8(bytes.readUInt8(index) ^ mask, index);
        await refusedInOrder(parts.map((bytesOfPart) => encodePart(bytesOfPart)).join('.'));
      }),
      { numRuns: 300 },
    );
  });

  it('any JSON as header and claims under a good signature is refused by a check', async () => {
    const header = fc.oneof(
      fc.jsonValue(),
      fc.record({ alg: fc.constantFrom('RS256', 'none'), kid: fc.oneof(fc.constant(issuer.key.id), fc.jsonValue()) }),
    );
    const member = fc.oneof(fc.jsonValue(), fc.constantFrom(SOURCE.audience, SOURCE.url, NONCE, 4_000_000_000));
    const names = ['aud', 'sub', 'exp', 'nbf', 'jti', 'token_type', ...Object.values(CLAIM_NAMES)];
    const claims = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom(...names), member).map((members) => ({ iss: issuer.server.issuer(), ...members })),
    );
    await fc.assert(
      fc.asyncProperty(header, claims, async (someHeader, someClaims) => {
        await refusedInOrder(signParts(issuer.key, encodePart(JSON.stringify(someHeader)), encodePart(JSON.stringify(someClaims))));
      }),
      { numRuns: 500 },
    );
  });

  it('any text is refused by a check', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), refusedInOrder), { numRuns: 300 });
  });
});
