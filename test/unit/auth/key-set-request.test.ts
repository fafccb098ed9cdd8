// One request for a key set: what is asked, and what its headers say about keeping the answer.
import { describe, expect, it } from 'vitest';
import { requestKeySet, type Fetch, type KeySetAnswer } from '../../../src/auth/key-set-request.ts';

const URL = 'https://issuer.example.test/keys';

/** Asks once; the issuer answers with this. */
function ask(response: Response, maxBytes = 100): Promise<KeySetAnswer> {
  return requestKeySet(URL, { fetch: () => Promise.resolve(response), maxBytes, signal: new AbortController().signal });
}

const maxAgeOf = async (headers: Record<string, string>): Promise<number | undefined> =>
  (await ask(new Response('{}', { headers }))).maxAgeMs;

describe('a request for a key set', () => {
  it('J-13 asks for JSON, follows no redirect and can be ended', async () => {
    const asked: Parameters<Fetch>[] = [];
    const { signal } = new AbortController();
    const fetch: Fetch = (...given) => {
      asked.push(given);
      return Promise.resolve(new Response('{"keys":[]}'));
    };
    expect(await requestKeySet(URL, { fetch, maxBytes: 100, signal })).toEqual({ body: { keys: [] }, maxAgeMs: undefined });
    expect(asked).toEqual([[URL, { method: 'GET', redirect: 'error', headers: { accept: 'application/json' }, signal }]]);
  });

  it('takes a body of the largest size and none beyond it', async () => {
    expect((await ask(new Response('[1]'), 3)).body).toEqual([1]);
    await expect(ask(new Response('[1]'), 2)).rejects.toMatchObject({ code: 'keys_unavailable', details: { limitBytes: 2 } });
  });

  it.each([201, 204, 299, 400])('takes status %d for no answer, and lets its body go', async (status) => {
    const cancelled: unknown[] = [];
    const body = status === 204 ? null : new ReadableStream({ cancel: (reason) => void cancelled.push(reason) });
    await expect(ask(new Response(body, { status }))).rejects.toMatchObject({ code: 'keys_unavailable', details: { status } });
    expect(cancelled).toHaveLength(status === 204 ? 0 : 1);
  });

  it('takes an answer without a body for no JSON', async () => {
    await expect(ask(new Response(null))).rejects.toMatchObject({ code: 'keys_unavailable' });
  });

  it.each([
    ['an unreachable issuer', () => Promise.reject(new TypeError('fetch failed'))],
    [
      'a body that breaks off',
      () =>
        Promise.resolve(
          new Response(
            new ReadableStream({
              pull: () => {
                throw new TypeError('terminated');
              },
            }),
          ),
        ),
    ],
    ['no JSON', () => Promise.resolve(new Response('{'))],
  ])('has the cause of %s', async (_name, fetch) => {
    const asking = requestKeySet(URL, { fetch, maxBytes: 100, signal: new AbortController().signal });
    await expect(asking).rejects.toMatchObject({ code: 'keys_unavailable', cause: expect.any(Error) as Error });
  });
});

describe('how long an answer may be kept', () => {
  it.each([
    ['max-age=600', 600_000],
    ['max-age=0', 0],
    ['public,max-age=600,immutable', 600_000],
    ['public, max-age="600"', 600_000],
    ['max-age=600 , public', 600_000],
    ['MAX-AGE=600', 600_000],
    ['max-age=9999999999', 9_999_999_999_000],
    ['no-store', 0],
    ['no-cache', 0],
    ['max-age=600,no-cache', 0],
    ['max-age=600, no-store, private', 0],
    ['No-Store', 0],
    ['', undefined],
    ['public', undefined],
    ['s-maxage=600', undefined],
    ['x-max-age=600', undefined],
    ['max-age=600x', undefined],
    ['max-age=', undefined],
    ['max-age=-1', undefined],
    ['max-age=12345678901', undefined],
    ['x-no-store, max-age=600', 600_000],
    ['no-storex, max-age=600', 600_000],
    ['no-thing, max-age=600', 600_000],
  ])('with cache-control "%s": %s', async (control, expected) => {
    expect(await maxAgeOf({ 'cache-control': control })).toBe(expected);
  });

  it.each([
    ['100', 500_000],
    ['0', 600_000],
    ['600', 0],
    ['601', 0],
    ['9999999999', 0],
    ['old', 600_000],
    ['100x', 600_000],
    ['x100', 600_000],
    ['-100', 600_000],
    ['12345678901', 600_000],
    ['', 600_000],
  ])('less the age "%s": %d', async (age, expected) => {
    expect(await maxAgeOf({ 'cache-control': 'max-age=600', age })).toBe(expected);
  });

  it('is not said without cache-control', async () => {
    expect(await maxAgeOf({ age: '7' })).toBeUndefined();
  });
});
