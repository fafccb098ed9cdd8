// A client of the Redis package that connects when a test tells it to, and answers as it is told to. No socket, no time.
import type { RedisClient } from '../../src/store/redis/client-package.ts';

/** An answer that says no. */
export class Refusal extends Error {}

/** As the package tells them apart. */
export function isRefusal(thrown: unknown): thrown is Error {
  return thrown instanceof Refusal;
}

type Event = 'connect' | 'ready' | 'end' | 'error';

/** A client that connects when it is told to, and answers as it is told to. */
export class FakeRedisClient implements RedisClient {
  /** Undefined: no answer at all. */
  answer: ((command: string) => unknown) | undefined = (command) => (command === 'ROLE' ? ['master', 0, []] : 'OK');
  readonly sent: string[] = [];
  destroyed = 0;
  readonly #listeners = new Map<Event, (error: unknown) => void>();

  on(event: Event, listener: (error: unknown) => void): void {
    this.#listeners.set(event, listener);
  }

  emit(event: Event, error?: unknown): void {
    this.#listeners.get(event)?.(error);
  }

  /** Lets it in. */
  accept(): void {
    this.emit('connect');
    this.emit('ready');
  }

  connect(): Promise<unknown> {
    return new Promise(() => undefined);
  }

  destroy(): void {
    this.destroyed += 1;
  }

  sendCommand([command = '']: readonly string[]): Promise<unknown> {
    this.sent.push(command);
    if (this.answer === undefined) return new Promise(() => undefined);
    const answer = this.answer(command);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }
}
