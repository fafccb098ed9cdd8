// A remembered token is answered at once, and loses nothing of the check but its signature.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { PRINCIPAL, sharedIssuer, SOURCE } from '../../support/token-bench.ts';
import { createSigningKey } from '../../support/token-issuer.ts';
import { until } from '../../support/until.ts';

const issuer = sharedIssuer();
const nextKey = createSigningKey('key-2');

describe('a remembered token', () => {
  it('is answered without a promise and without a request', async () => {
    const bench = issuer.open();
    const token = bench.token();
    const first = bench.verifier.verify(token, 'grpc');
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toEqual(PRINCIPAL);
    issuer.server.forgetRequests();

    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
    expect(bench.verifier.verify(`Bearer ${token}`, 'grpc')).toEqual(PRINCIPAL);
    expect(bench.heard).toEqual(['accepted', 'remembered', 'remembered']);
    expect(issuer.server.requests).toEqual([]);
  });

  it('gives the very same principal while nothing changes', async () => {
    const bench = issuer.open();
    const token = bench.token();
    const first = await bench.verify(token);
    expect(bench.verifier.verify(token, 'grpc')).toBe(first);
  });

  it('stays remembered when its data source is put again as it was', async () => {
    const bench = issuer.open();
    const token = bench.token();
    await bench.verify(token);
    bench.dataSources.put({ ...SOURCE });
    for (let attempt = 0; attempt < 2; attempt++) expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
    expect(bench.heard).toEqual(['accepted', 'remembered', 'remembered']);
  });

  it('J-16 is refused once its exp and the skew have passed', async () => {
    const bench = issuer.open();
    const token = bench.token({ exp: bench.nowSeconds + 60 });
    await bench.verify(token);
    bench.clock.advance(89_999);
    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
    bench.clock.advance(1);
    expect(() => bench.verifier.verify(token, 'grpc')).toThrow(AppError);
    expect(await bench.verify(token)).toBe('expired');
    // Forgotten, too: should the clock be set back, its signature is checked anew.
    bench.clock.stepWall(-60_000);
    const again = bench.verifier.verify(token, 'grpc');
    expect(again).toBeInstanceOf(Promise);
    expect(await again).toEqual(PRINCIPAL);
  });

  it('J-2D is accepted in the grace time of its nonce and refused after it', async () => {
    const bench = issuer.open();
    const old = bench.token();
    await bench.verify(old);
    bench.nonces.rotate(SOURCE.id, 'next-nonce', { previousValidUntilMs: bench.clock.nowMs() + 1_200_000 });

    expect(bench.verifier.verify(old, 'grpc')).toEqual(PRINCIPAL);
    expect(await bench.verify(bench.token({ jti: 'next-nonce' }))).toEqual(PRINCIPAL);
    bench.clock.advance(1_199_999);
    expect(bench.verifier.verify(old, 'grpc')).toEqual(PRINCIPAL);
    bench.clock.advance(1);
    expect(await bench.verify(old)).toBe('nonce_mismatch');
    expect(await bench.verify(bench.token({ jti: 'next-nonce' }))).toEqual(PRINCIPAL);
  });

  it('J-18 is refused at once when its nonce is rotated away without grace', async () => {
    const bench = issuer.open();
    const token = bench.token();
    await bench.verify(token);
    bench.nonces.rotate(SOURCE.id, 'next-nonce');
    expect(await bench.verify(token)).toBe('nonce_mismatch');
  });

  it('is refused at once when its data source is removed, and accepted again when it is back', async () => {
    const bench = issuer.open();
    const token = bench.token();
    await bench.verify(token);
    bench.dataSources.remove(SOURCE.id);
    expect(await bench.verify(token)).toBe('url_mismatch');
    bench.dataSources.put(SOURCE);
    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
  });

  it.each([
    ['audience_mismatch', { audience: 'changed' }],
    ['subject_mismatch', { subject: 'changed' }],
    ['schema_mismatch', { schemaId: 'changed' }],
    ['org_mismatch', { organizationId: 'changed' }],
    ['url_mismatch', { url: 'https://changed.example.test' }],
  ])('J-17 is refused with %s when the registered value changes', async (reason, change) => {
    const bench = issuer.open();
    const token = bench.token();
    await bench.verify(token);
    bench.dataSources.put({ ...SOURCE, ...change });
    expect(await bench.verify(token)).toBe(reason);
  });

  it('is checked in full again when the issuer has withdrawn its key', async () => {
    issuer.server.publish([issuer.key.published, nextKey.published]);
    const bench = issuer.open();
    const token = bench.token();
    await bench.verify(token);
    issuer.server.publish([nextKey.published]);
    bench.clock.advance(3_600_000 - 60_000);
    // Still the last answer that is known.
    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
    expect(await bench.verify(bench.token({}, { kid: 'unknown' }))).toBe('key_not_found');
    expect(await bench.verify(token)).toBe('key_not_found');
    // A node of the issuer may have lagged behind: the key is found again after the pause.
    issuer.server.publish([issuer.key.published]);
    bench.clock.advance(30_000);
    expect(await bench.verify(token)).toEqual(PRINCIPAL);
  });

  it('is forgotten when another key is published under the id of its key', async () => {
    const bench = issuer.open();
    const token = bench.token();
    await bench.verify(token);
    issuer.server.publish([{ ...nextKey.published, kid: issuer.key.id }]);
    bench.clock.advance(3_600_000);
    expect(await bench.verify(bench.token({}, { kid: 'unknown' }))).toBe('key_not_found');
    expect(await bench.verify(token)).toBe('signature_invalid');
  });

  it('stays forgotten after its key was withdrawn, until its signature is checked again', async () => {
    issuer.server.publish([issuer.key.published, nextKey.published]);
    const bench = issuer.open();
    const token = bench.token({ exp: bench.nowSeconds + 10_000 });
    await bench.verify(token);
    issuer.server.publish([nextKey.published]);
    bench.clock.advance(3_600_000);
    expect(await bench.verify(token)).toBe('key_not_found');
    issuer.server.publish([issuer.key.published]);
    bench.clock.advance(3_600_000);
    const again = bench.verifier.verify(token, 'grpc');
    expect(again).toBeInstanceOf(Promise);
    expect(await again).toEqual(PRINCIPAL);
    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
  });

  it('lets the keys be asked for in their rhythm, without waiting for them', async () => {
    const bench = issuer.open();
    const token = bench.token({ exp: bench.nowSeconds + 10_000 });
    await bench.verify(token);
    bench.clock.advance(0.8 * 3_600_000 - 1);
    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
    expect(bench.clock.pendingTimers).toBe(0);

    issuer.server.publish([nextKey.published]);
    bench.clock.advance(1);
    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
    await until('the keys were asked for', () => bench.clock.pendingTimers === 0);
    expect(issuer.server.requests).toHaveLength(2);
    expect(await bench.verify(token)).toBe('key_not_found');
  });

  it('waits for the keys like any other once they are no longer fresh', async () => {
    const bench = issuer.open();
    const token = bench.token({ exp: bench.nowSeconds + 10_000 });
    await bench.verify(token);
    issuer.server.publish([nextKey.published]);
    bench.clock.advance(3_600_000);
    expect(await bench.verify(token)).toBe('key_not_found');
    expect(issuer.server.requests).toHaveLength(2);
  });

  it('is not refused in an outage of the issuer before its keys are too old', async () => {
    const bench = issuer.open({ keySource: { staleMs: 1_000_000 } });
    const token = bench.token({ exp: bench.nowSeconds + 10_000 });
    await bench.verify(token);
    issuer.server.respond = (_request, response) => response.writeHead(503).end();
    bench.clock.advance(4_600_000 - 1);
    expect(await bench.verify(token)).toEqual(PRINCIPAL);
    // The issuer has just failed to answer, so nobody waits for it now.
    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
    bench.clock.advance(1);
    expect(await bench.verify(token)).toBe('keys_unavailable');
  });

  it('makes room for newer ones: the number is bounded', async () => {
    const bench = issuer.open({ rememberedTokens: 2 });
    const tokens = [1, 2, 3].map((jump) => bench.token({ iat: bench.nowSeconds - jump }));
    for (const token of tokens) expect(await bench.verify(token)).toEqual(PRINCIPAL);
    expect(bench.verifier.verify(tokens[2], 'grpc')).not.toBeInstanceOf(Promise);
    expect(bench.verifier.verify(tokens[1], 'grpc')).not.toBeInstanceOf(Promise);
    const forgotten = bench.verifier.verify(tokens[0], 'grpc');
    expect(forgotten).toBeInstanceOf(Promise);
    expect(await forgotten).toEqual(PRINCIPAL);
  });

  it('is not pushed out by signed tokens of others', async () => {
    const bench = issuer.open({ rememberedTokens: 1 });
    const token = bench.token();
    await bench.verify(token);
    for (let other = 0; other < 5; other++)
      expect(await bench.verify(bench.token({ aud: `other-${String(other)}` }))).toBe('audience_mismatch');
    expect(bench.verifier.verify(token, 'grpc')).toEqual(PRINCIPAL);
  });

  it('does not exist where nothing is to be remembered', async () => {
    const bench = issuer.open({ rememberedTokens: 0 });
    const token = bench.token();
    await bench.verify(token);
    const again = bench.verifier.verify(token, 'grpc');
    expect(again).toBeInstanceOf(Promise);
    await again;
    expect(bench.heard).toEqual(['accepted', 'accepted']);
  });
});
