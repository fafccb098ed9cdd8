// The administration interface of a platform as a test scripts it: answer by answer, on loopback, over plain HTTP. Knows no
// resource; the fake platform does.
import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import type { PlatformAddress } from '../../src/admin/platform-address.ts';
import type { SecretStore } from '../../src/admin/secret-store.ts';
import type { TokenSource } from '../../src/admin/token-source.ts';
import { AppError } from '../../src/base/errors.ts';
import { createLogger, type Logger } from '../../src/base/log.ts';
import type { FakeClock } from './fake-clock.ts';
import { speechService, type Answering, type SpeechService } from './speech-service.ts';
import { until } from './until.ts';

export { cut, hang, json, stall } from './speech-service.ts';

/** A running interface; what arrives and what is answered are those of any scripted service. */
export interface AdminServer extends SpeechService {
  readonly address: PlatformAddress;
}

/** Starts one that is gone when the test ends. */
export async function adminServer(...ways: readonly Answering[]): Promise<AdminServer> {
  const service = await speechService(...ways);
  return Object.assign(service, { address: addressAt(service.url) });
}

/** Addresses of an interface at an origin, as a profile that allows http on loopback gives them. */
export function addressAt(origin: string): PlatformAddress {
  const baseUrl = `${origin}/v1`;
  const paths = { authorizeUrl: `${baseUrl}/authorize`, tokenUrl: `${baseUrl}/access_token` };
  return { baseUrl, ...paths, trackingHeader: 'trackingid', allowLoopbackHttp: true };
}

/** An answer with headers. */
export function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answering {
  return (response: ServerResponse) => {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };
}

/** Waits until a pause of `ms` has begun, and lets it pass. */
export async function passPause(clock: FakeClock, ms: number): Promise<void> {
  await until(`a pause of ${String(ms)} ms begins (next timer: ${String(clock.nextTimerInMs)})`, () => clock.nextTimerInMs === ms);
  await clock.advanceAsync(ms);
}

/** Tokens `token-1`, `token-2`, …: each refresh gives the next. */
export function countedTokens(): TokenSource & { readonly refreshes: string[] } {
  const refreshes: string[] = [];
  const token = (): string => `CANARY-token-${String(refreshes.length + 1)}`;
  return {
    refreshes,
    current: () => Promise.resolve(token()),
    refreshed: (stale) => {
      refreshes.push(stale);
      return Promise.resolve(token());
    },
  };
}

/** A store in memory, which can be told to fail. */
export class MemorySecrets implements SecretStore {
  readonly values = new Map<string, string>();
  /** Set: every `set` rejects. */
  isFull = false;

  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.values.get(key));
  }
  set(key: string, value: string): Promise<void> {
    if (this.isFull) return Promise.reject(new AppError('store_failed', 'the store is full'));
    this.values.set(key, value);
    return Promise.resolve();
  }
  delete(key: string): Promise<void> {
    this.values.delete(key);
    return Promise.resolve();
  }
  keys(prefix: string): Promise<readonly string[]> {
    return Promise.resolve([...this.values.keys()].filter((key) => key.startsWith(prefix)));
  }
}

/** A real logger of every level, whose lines are kept. */
export function keptLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  return { log: createLogger({ level: 'trace', destination: { write: (line) => void lines.push(line) } }), lines };
}

/** What `work` rejects with: an AppError in whose every part, causes included, no canary is found. */
export async function failureOf(work: Promise<unknown>): Promise<AppError> {
  const thrown: unknown = await work.then(
    () => {
      throw new Error('it did not fail');
    },
    (cause: unknown) => cause,
  );
  if (!(thrown instanceof AppError)) throw new Error('it failed with something else', { cause: thrown });
  expectNoCanary(thrown);
  return thrown;
}

/** Every own property of an error, its causes and their properties as text: what an unwary logger could write out. */
export function textsIn(thrown: unknown): readonly string[] {
  const parts: string[] = [];
  const seen = new Set<unknown>();
  const walk = (value: unknown): void => {
    if (typeof value === 'string') parts.push(value);
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    for (const name of Reflect.ownKeys(value)) walk(Reflect.get(value, name));
  };
  walk(thrown);
  return parts;
}

/** Expects texts in an error, and no canary in any of them. */
export function expectNoCanary(thrown: unknown): void {
  const parts = textsIn(thrown);
  expect(parts.length).toBeGreaterThan(0);
  expect(parts.filter((part) => part.includes('CANARY'))).toEqual([]);
}
