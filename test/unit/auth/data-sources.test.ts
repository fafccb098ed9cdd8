// Which data source a token belongs to, and which mismatch is named when there is none.
import { beforeEach, describe, expect, it } from 'vitest';
import type { TokenBinding } from '../../../src/auth/claims.ts';
import { TrustedDataSources, type TrustedDataSource } from '../../../src/auth/data-sources.ts';
import { digestNonce, NonceBook } from '../../../src/auth/nonces.ts';
import { speaksFor } from '../../../src/auth/principal.ts';
import { refusalReason } from '../../../src/auth/refusal.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { PRINCIPAL, SOURCE } from '../../support/token-bench.ts';

const A: TrustedDataSource = { ...SOURCE, id: 'a', organizationId: 'org-a' };
const B: TrustedDataSource = { ...SOURCE, id: 'b', organizationId: 'org-b', audience: 'AudienceB', subject: 'subjectB' };
const WEB: TrustedDataSource = { ...A, id: 'web', schemaId: 'schema-ws', transport: 'websocket' };

describe('data sources', () => {
  let nonces: NonceBook;

  beforeEach(() => {
    nonces = new NonceBook({ clock: new FakeClock() });
    for (const id of ['a', 'b', 'web', 'twin']) nonces.rotate(id, `nonce-${id}`);
  });

  const binding = (source: TrustedDataSource, changes: Partial<TokenBinding> = {}): TokenBinding => ({
    url: source.url,
    schemaId: source.schemaId,
    audiences: [source.audience],
    subject: source.subject,
    organizationId: source.organizationId,
    nonceDigest: digestNonce(`nonce-${source.id}`),
    ...changes,
  });

  /** The id of the source, or the reason. */
  const match = (sources: TrustedDataSources, claims: TokenBinding, transport: 'grpc' | 'websocket' = 'grpc'): string => {
    try {
      return sources.match(claims, transport, nonces).id;
    } catch (error) {
      return refusalReason(error) ?? String(error);
    }
  };

  it('that share a url are told apart by what else a token carries', () => {
    const sources = new TrustedDataSources([A, B, WEB]);
    expect(match(sources, binding(A))).toBe('a');
    expect(match(sources, binding(B))).toBe('b');
    expect(match(sources, binding(WEB), 'websocket')).toBe('web');
  });

  it.each([
    [
      'url_mismatch',
      binding(A, { url: 'x', schemaId: 'x', audiences: ['x'], subject: 'x', organizationId: 'x', nonceDigest: digestNonce('x') }),
    ],
    ['schema_mismatch', binding(A, { schemaId: 'x', audiences: ['x'], subject: 'x', organizationId: 'x', nonceDigest: digestNonce('x') })],
    ['audience_mismatch', binding(A, { audiences: ['x'], subject: 'x', organizationId: 'x', nonceDigest: digestNonce('x') })],
    ['subject_mismatch', binding(A, { subject: 'x', organizationId: 'x', nonceDigest: digestNonce('x') })],
    ['org_mismatch', binding(A, { organizationId: 'x', nonceDigest: digestNonce('x') })],
    ['nonce_mismatch', binding(A, { nonceDigest: digestNonce('x') })],
  ])('name the first mismatch in their order: %s', (reason, claims) => {
    expect(match(new TrustedDataSources([A, B, WEB]), claims)).toBe(reason);
  });

  it.each([
    ['subject_mismatch', { subject: B.subject }],
    ['audience_mismatch', { audiences: [B.audience.toLowerCase()] }],
    ['org_mismatch', { organizationId: B.organizationId }],
    ['nonce_mismatch', { nonceDigest: digestNonce('nonce-b') }],
  ])('J-1B do not lend their values to each other: %s', (reason, changes) => {
    expect(match(new TrustedDataSources([A, B]), binding(A, changes))).toBe(reason);
  });

  it('J-2E with a schema of the other transport do not match', () => {
    const sources = new TrustedDataSources([A, WEB]);
    expect(match(sources, binding(A), 'websocket')).toBe('schema_mismatch');
    expect(match(sources, binding(WEB), 'grpc')).toBe('schema_mismatch');
  });

  it('that differ in their nonce alone are told apart by it', () => {
    const sources = new TrustedDataSources([A, { ...A, id: 'twin' }]);
    expect(match(sources, binding(A))).toBe('a');
    expect(match(sources, binding({ ...A, id: 'twin' }))).toBe('twin');
  });

  it('are none at first: every token has a wrong url', () => {
    expect(match(new TrustedDataSources(), binding(A))).toBe('url_mismatch');
  });

  it('without a nonce accept no token', () => {
    nonces.forget('a');
    expect(match(new TrustedDataSources([A]), binding(A))).toBe('nonce_mismatch');
  });

  it('can be replaced and removed; those beside them stay', () => {
    const sources = new TrustedDataSources([A, B]);
    const held = sources.match(binding(A), 'grpc', nonces);
    expect(sources.holds(held)).toBe(true);
    sources.put({ ...A, url: 'https://moved.example.test' });
    expect(sources.holds(held)).toBe(false);
    expect(match(sources, binding(A))).toBe('audience_mismatch');
    expect(match(sources, binding(A, { url: 'https://moved.example.test' }))).toBe('a');
    sources.remove('a');
    sources.remove('a');
    expect(match(sources, binding(A, { url: 'https://moved.example.test' }))).toBe('url_mismatch');
    expect(match(sources, binding(B))).toBe('b');
  });

  it('are copied: changing the object afterwards changes nothing', () => {
    const mine = { ...A };
    const sources = new TrustedDataSources([mine]);
    mine.audience = 'changed';
    expect(match(sources, binding(A))).toBe('a');
  });

  it.each(['id', 'organizationId', 'url', 'schemaId', 'audience', 'subject'])('with an empty %s are refused', (member) => {
    expect(() => new TrustedDataSources([{ ...A, [member]: '' }])).toThrow(
      expect.objectContaining({ code: 'config_invalid', details: { dataSourceId: member === 'id' ? '' : A.id } }),
    );
  });

  it('are none to begin with', () => {
    const sources = new TrustedDataSources(undefined, { max: 1 });
    sources.put(A);
    expect(sources.holds(A)).toBe(false);
  });

  it('are bounded in number', () => {
    const sources = new TrustedDataSources([A, B], { max: 2 });
    expect(() => {
      sources.put(WEB);
    }).toThrow(expect.objectContaining({ code: 'overloaded', details: { limit: 2 } }));
    sources.put({ ...A, audience: 'changed' });
    sources.remove('b');
    sources.put(WEB);
  });
});

describe('a principal', () => {
  it('G-08 speaks for its own organization and for no other spelling of it', () => {
    expect(speaksFor(PRINCIPAL, SOURCE.organizationId)).toBe(true);
    for (const id of ['', SOURCE.organizationId.toUpperCase(), ` ${SOURCE.organizationId}`, 'another'])
      expect(speaksFor(PRINCIPAL, id)).toBe(false);
  });
});
