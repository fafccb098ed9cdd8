// Which nonces are good, at every step of a renewal.
import { beforeEach, describe, expect, it } from 'vitest';
import { digestNonce, NonceBook } from '../../../src/auth/nonces.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const ID = 'source-1';

describe('the nonce book', () => {
  let clock: FakeClock;
  let book: NonceBook;

  beforeEach(() => {
    clock = new FakeClock();
    book = new NonceBook({ clock });
  });

  /** Those of the given nonces that are accepted now. */
  const accepted = (...nonces: string[]): string[] => nonces.filter((nonce) => book.accepts(ID, digestNonce(nonce)));
  const inMs = (ms: number): { previousValidUntilMs: number } => ({ previousValidUntilMs: clock.nowMs() + ms });

  it('J-18 accepts the current nonce of a data source and no other', () => {
    book.rotate(ID, 'a');
    expect(accepted('a', 'b', '', 'A', 'a ')).toEqual(['a']);
    expect(book.accepts('source-2', digestNonce('a'))).toBe(false);
  });

  it('J-05 keeps the previous nonce until the given moment', () => {
    book.rotate(ID, 'a');
    book.rotate(ID, 'b', inMs(1000));
    clock.advance(999);
    expect(accepted('a', 'b')).toEqual(['a', 'b']);
    clock.advance(1);
    expect(accepted('a', 'b')).toEqual(['b']);
  });

  it('gives no grace without a moment, nor for one that has passed', () => {
    book.rotate(ID, 'a');
    book.rotate(ID, 'b');
    expect(accepted('a', 'b')).toEqual(['b']);
    book.rotate(ID, 'c', inMs(-1));
    expect(accepted('b', 'c')).toEqual(['c']);
  });

  it('keeps a bounded number of replaced nonces, the newest ones', () => {
    for (const nonce of ['a', 'b', 'c', 'd', 'e', 'f']) book.rotate(ID, nonce, inMs(10_000));
    expect(accepted('a', 'b', 'c', 'd', 'e', 'f')).toEqual(['b', 'c', 'd', 'e', 'f']);
  });

  it('rotating to the current nonce again changes nothing', () => {
    book.rotate(ID, 'a');
    book.rotate(ID, 'b', inMs(1000));
    book.rotate(ID, 'b', inMs(10));
    clock.advance(500);
    expect(accepted('a', 'b')).toEqual(['a', 'b']);
  });

  it('rotating to the current nonce does not give it a grace that outlives it', () => {
    book.rotate(ID, 'a');
    book.rotate(ID, 'a', inMs(10_000));
    book.rotate(ID, 'b');
    expect(accepted('a', 'b')).toEqual(['b']);
  });

  it('J-05 keeps a nonce that was replaced before, beside the current one or without one, until its time is over', () => {
    book.keep(ID, 'a', inMs(1000).previousValidUntilMs);
    book.rotate(ID, 'b');
    book.keep(ID, 'c', inMs(2000).previousValidUntilMs);
    // What is current stays so.
    book.keep(ID, 'b', inMs(1000).previousValidUntilMs);
    expect(accepted('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
    clock.advance(1000);
    expect(accepted('a', 'b', 'c')).toEqual(['b', 'c']);
    clock.advance(1000);
    expect(accepted('a', 'b', 'c')).toEqual(['b']);
  });

  it('rotating back to a replaced nonce makes it current for good', () => {
    book.rotate(ID, 'a');
    book.rotate(ID, 'b', inMs(1000));
    book.rotate(ID, 'a', inMs(1000));
    clock.advance(1000);
    expect(accepted('a', 'b')).toEqual(['a']);
  });

  it('accepts an announced nonce beside the current one, until it is the current one', () => {
    book.rotate(ID, 'a');
    book.expect(ID, 'b');
    expect(accepted('a', 'b')).toEqual(['a', 'b']);
    book.rotate(ID, 'b', inMs(1000));
    clock.advance(1000);
    expect(accepted('a', 'b')).toEqual(['b']);
  });

  it('an announced nonce with unknown outcome outlives time, and the next renewal gives it the grace of the current one', () => {
    book.rotate(ID, 'a');
    book.expect(ID, 'b');
    clock.advance(100 * 86_400_000);
    book.expect(ID, 'c');
    expect(accepted('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
    book.rotate(ID, 'c', inMs(1000));
    expect(accepted('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
    clock.advance(1000);
    expect(accepted('a', 'b', 'c')).toEqual(['c']);
  });

  it('keeps a bounded number of nonces that were replaced before, the newest ones, and none of them twice', () => {
    const { previousValidUntilMs } = inMs(10_000);
    for (const nonce of ['a', 'b', 'c', 'd', 'e', 'e', 'e']) book.keep(ID, nonce, previousValidUntilMs);
    expect(accepted('a', 'b', 'c', 'd', 'e')).toEqual(['b', 'c', 'd', 'e']);
  });

  it('keeps a bounded number of announced nonces, and the current one in any case', () => {
    book.rotate(ID, 'a');
    for (const nonce of ['b', 'c', 'd', 'e', 'f', 'f', 'a']) book.expect(ID, nonce);
    expect(accepted('a', 'b', 'c', 'd', 'e', 'f')).toEqual(['a', 'c', 'd', 'e', 'f']);
  });

  it('gives no place to a replaced nonce whose grace is over, not even at the very moment', () => {
    book = new NonceBook({ clock, maxGrace: 1 });
    book.rotate(ID, 'a');
    book.rotate(ID, 'b', inMs(10_000));
    book.rotate(ID, 'c', inMs(0));
    expect(accepted('a', 'b', 'c')).toEqual(['a', 'c']);
    book.rotate(ID, 'd', inMs(-1));
    expect(accepted('a', 'b', 'c', 'd')).toEqual(['a', 'd']);
  });

  it('accepts an announced nonce of a data source that has no other', () => {
    book.expect(ID, 'a');
    expect(accepted('a', '', 'b')).toEqual(['a']);
    book.rotate(ID, 'a', inMs(1000));
    expect(accepted('a')).toEqual(['a']);
  });

  it('forgets a data source with all its nonces', () => {
    book.rotate(ID, 'a');
    book.rotate(ID, 'b', inMs(1000));
    book.expect(ID, 'c');
    book.forget(ID);
    expect(accepted('a', 'b', 'c')).toEqual([]);
  });

  it('refuses an empty nonce, which an empty claim would match', () => {
    expect(() => {
      book.rotate(ID, '');
    }).toThrow(expect.objectContaining({ code: 'config_invalid', details: { dataSourceId: ID } }));
    expect(() => {
      book.expect(ID, '');
    }).toThrow(expect.objectContaining({ code: 'config_invalid', details: { dataSourceId: ID } }));
    expect(accepted('')).toEqual([]);
  });

  it('is bounded in the number of data sources', () => {
    book = new NonceBook({ clock, maxDataSources: 1 });
    book.rotate(ID, 'a');
    book.rotate(ID, 'b');
    expect(() => {
      book.rotate('source-2', 'a');
    }).toThrow(expect.objectContaining({ code: 'overloaded', details: { limit: 1 } }));
  });

  it('P-14 holds no nonce in the clear', () => {
    book.rotate(ID, 'canary-a');
    book.rotate(ID, 'canary-b', inMs(1000));
    expect(JSON.stringify(book)).not.toContain('canary');
    expect(Buffer.from(digestNonce('canary-a')).toString()).not.toContain('canary');
  });
});
