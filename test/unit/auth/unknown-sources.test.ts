// A genuine token of a data source or nonce that this process does not know, while another one may.
import { expect, it } from 'vitest';
import { PRINCIPAL, sharedIssuer, SOURCE, type TokenBench } from '../../support/token-bench.ts';

const issuer = sharedIssuer();

function open(onLook: (bench: TokenBench) => void = () => undefined) {
  let looks = 0;
  const bench: TokenBench = issuer.open({
    refresh: () => {
      looks += 1;
      onLook(bench);
      return Promise.resolve();
    },
  });
  return { bench, looks: () => looks };
}

it('L-10 is let in when a look brings its nonce', async () => {
  const { bench, looks } = open(({ nonces }) => {
    nonces.expect(SOURCE.id, 'next-nonce');
  });
  expect(await bench.verify(bench.token({ jti: 'next-nonce' }))).toEqual(PRINCIPAL);
  expect([looks(), bench.heard]).toEqual([1, ['accepted']]);
});

it('L-10 is let in when a look brings its data source', async () => {
  const { bench } = open(({ dataSources }) => {
    dataSources.put(SOURCE);
  });
  bench.dataSources.remove(SOURCE.id);
  expect(await bench.verify(bench.token())).toEqual(PRINCIPAL);
});

it('L-10 is let in again when it is remembered and its data source has come back', async () => {
  const { bench } = open(({ dataSources }) => {
    dataSources.put(SOURCE);
  });
  const token = bench.token();
  await bench.verify(token);
  bench.dataSources.remove(SOURCE.id);
  expect(await bench.verify(token)).toEqual(PRINCIPAL);
  expect(bench.heard).toEqual(['accepted', 'remembered']);
});

it('is refused after one lookup without a result, and logged once', async () => {
  const { bench, looks } = open();
  expect(await bench.verify(bench.token({ jti: 'next-nonce' }))).toBe('nonce_mismatch');
  expect([looks(), bench.heard]).toEqual([1, ['nonce_mismatch']]);
});

it('is refused and logged when it is remembered, its data source is gone, and a lookup does not find it', async () => {
  const { bench, looks } = open();
  const token = bench.token();
  await bench.verify(token);
  bench.dataSources.remove(SOURCE.id);
  expect(await bench.verify(token)).toBe('url_mismatch');
  expect([looks(), bench.heard]).toEqual([1, ['accepted', 'url_mismatch']]);
});

it.each([
  ['a known one', {}, PRINCIPAL],
  ['one that has expired', { exp: 1 }, 'expired'],
  ['one of another issuer', { iss: 'https://example.test' }, 'issuer_mismatch'],
])('%s is decided without a look', async (_, changes, outcome) => {
  const { bench, looks } = open();
  expect(await bench.verify(bench.token(changes))).toEqual(outcome);
  expect(looks()).toBe(0);
});

it('a forged one causes no look: its signature is checked before', async () => {
  const { bench, looks } = open();
  const [header, , signature] = bench.token().split('.');
  const claims = Buffer.from(JSON.stringify(bench.claims({ jti: 'next-nonce' }))).toString('base64url');
  expect(await bench.verify([header, claims, signature].join('.'))).toBe('signature_invalid');
  expect(looks()).toBe(0);
});

it('is refused at once where nobody knows more', async () => {
  const bench = issuer.open({ refresh: () => undefined });
  expect(await bench.verify(bench.token({ jti: 'next-nonce' }))).toBe('nonce_mismatch');
});
