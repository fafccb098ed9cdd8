// One request for a key set: bounded in size, no redirects. The caller decides how long a request may take and how often one is made, and
// passes the signal that aborts it.
import { AppError } from '../base/errors.ts';

/** The used part of `fetch`, so that tests can count requests. */
export type Fetch = (
  url: string,
  init: { method: 'GET'; redirect: 'error'; headers: Record<string, string>; signal: AbortSignal },
) => Promise<Response>;

/** The response of an issuer. */
export interface KeySetAnswer {
  /** The parsed JSON, not checked yet. */
  readonly body: unknown;
  /** How long the response may be cached according to its headers, in ms; undefined when the headers do not say. */
  readonly maxAgeMs: number | undefined;
}

/**
 * Requests a key set (J-13).
 *
 * @param options.maxBytes - largest body after decompression; a longer one is refused.
 * @throws AppError `keys_unavailable`; `details.status` is the HTTP status if there was a response.
 */
export async function requestKeySet(url: string, options: { fetch: Fetch; maxBytes: number; signal: AbortSignal }): Promise<KeySetAnswer> {
  const response = await send(url, options);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new AppError('keys_unavailable', 'the issuer did not answer with a key set', { details: { status: response.status } });
  }
  const bytes = await readAtMost(response, options.maxBytes);
  return { body: parse(bytes), maxAgeMs: maxAgeMs(response.headers) };
}

async function send(url: string, options: { fetch: Fetch; signal: AbortSignal }): Promise<Response> {
  try {
    return await options.fetch(url, { method: 'GET', redirect: 'error', headers: { accept: 'application/json' }, signal: options.signal });
  } catch (cause) {
    throw new AppError('keys_unavailable', 'the issuer cannot be reached, or it redirects', { cause });
  }
}

async function readAtMost(response: Response, maxBytes: number): Promise<Buffer> {
  const body: AsyncIterable<Uint8Array> | [] = response.body ?? [];
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.byteLength;
      // Leaving the loop cancels the rest of the body.
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new AppError('keys_unavailable', 'the answer of the issuer broke off', { cause });
  }
  if (size > maxBytes) {
    throw new AppError('keys_unavailable', 'the answer of the issuer is too large', { details: { limitBytes: maxBytes } });
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new AppError('keys_unavailable', 'the answer of the issuer is no JSON', { cause });
  }
}

/** `max-age` less the time that the response has already spent in caches; 0 when it must not be cached at all. */
function maxAgeMs(headers: Headers): number | undefined {
  const control = headers.get('cache-control') ?? '';
  if (/(?:^|[,\s])no-(?:store|cache)(?:$|[,\s])/iu.test(control)) return 0;
  const seconds = /(?:^|[,\s])max-age="?(\d{1,10})"?(?:$|[,\s])/iu.exec(control)?.[1];
  if (seconds === undefined) return undefined;
  const age = /^\d{1,10}$/u.exec(headers.get('age') ?? '0')?.[0] ?? '0';
  return Math.max(0, Number(seconds) - Number(age)) * 1000;
}
