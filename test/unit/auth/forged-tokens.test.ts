// Every forged token is refused for its own reason, tells the caller nothing, and causes no request it should not cause.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { TokenBench, NONCE, PRINCIPAL } from '../../support/token-bench.ts';
import { createSigningKey, TokenIssuer } from '../../support/token-issuer.ts';
import { FORGERIES } from './forgeries.ts';
import type { Workshop } from './forgery.ts';

const key = createSigningKey('key-1');
const foreign = createSigningKey('foreign');
const others = {
  region: createSigningKey('key-of-away'),
  weak: createSigningKey('key-weak', { bits: 1024 }),
  encryption: createSigningKey('key-encryption'),
  twice: createSigningKey('key-twice'),
};

describe('forged tokens', () => {
  let issuer: TokenIssuer;
  let hostile: TokenIssuer;
  let workshop: Workshop;

  beforeAll(async () => {
    [issuer, hostile] = await Promise.all([TokenIssuer.start(), TokenIssuer.start()]);
    const twin = { ...foreign.published, kid: others.twice.id };
    issuer.publish([key.published, others.weak.published, { ...others.encryption.published, use: 'enc' }, others.twice.published, twin]);
    issuer.publish([others.region.published], 'away');
    hostile.publish([foreign.published]);
  });

  beforeEach(() => {
    issuer.forgetRequests();
    workshop = { bench: new TokenBench(issuer, key, { regions: ['home', 'away'] }), issuer, hostile, key, foreign, others };
  });

  afterAll(async () => {
    await Promise.all([issuer.close(), hostile.close()]);
  });

  it('are at least 60, each with its own name', () => {
    expect(FORGERIES.length).toBeGreaterThanOrEqual(60);
    expect(new Set(FORGERIES.map((forgery) => forgery.name)).size).toBe(FORGERIES.length);
  });

  it('are made from a token that is good before it is forged', async () => {
    expect(await workshop.bench.verify(workshop.bench.token())).toEqual(PRINCIPAL);
  });

  it.each(FORGERIES)('$reason: $name', async ({ forge, reason, requests }) => {
    const { bench } = workshop;
    const value = forge(workshop);

    expect(await bench.verify(value)).toBe(reason);
    // A second time, when the keys are known: nothing was remembered that should not be.
    expect(await bench.verify(value)).toBe(reason);

    expect(bench.heard).toEqual([reason, reason]);
    expect(issuer.requests).toHaveLength(requests);
    expect(hostile.requests).toEqual([]);
    expect(bench.clock.pendingTimers).toBe(0);
    const log = bench.log.lines.join('\n');
    expect(log).toContain(reason);
    expect(log).not.toContain(NONCE);
    for (const part of (value ?? '').split(/[.\s]/u).filter((text) => text.length > 20)) expect(log).not.toContain(part);
  });

  it.each(FORGERIES.slice(0, 3).concat(FORGERIES.slice(-3)))(
    'give the caller the same answer whatever the reason ($name)',
    async ({ forge }) => {
      const thrown = await Promise.resolve()
        .then(() => workshop.bench.verifier.verify(forge(workshop), 'grpc'))
        .catch((error: unknown) => error);
      if (!(thrown instanceof AppError)) throw new Error('the token was not refused');
      expect(thrown.code).toBe('unauthenticated');
      expect(thrown.message).toBe('the token was refused');
      expect(thrown.cause).toBeUndefined();
      expect(Object.keys(thrown.details)).toEqual(['reason']);
    },
  );
});
