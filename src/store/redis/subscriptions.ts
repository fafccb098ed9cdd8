// Channels of a Redis server that somebody listens to, over a link of their own: each new wire is subscribed to all of them.
// What is said while there is none is not heard. Knows nothing of what the messages mean.
import type { LinkOptions } from './link.ts';
import { RedisLink } from './link.ts';
import type { RedisWire } from './wire.ts';

type Listener = (message: string) => void;

/** Whoever makes one closes it. */
export class RedisSubscriptions {
  readonly #link: RedisLink;
  readonly #channels = new Map<string, Set<Listener>>();

  /** @param options.onUp - called before the channels are subscribed to. */
  constructor(options: LinkOptions) {
    this.#link = new RedisLink({
      ...options,
      onUp: (wire) => {
        options.onUp(wire);
        for (const channel of this.#channels.keys()) this.#subscribe(wire, channel);
      },
    });
  }

  /** Calls `listener`, which must not throw, for each message until the returned function is called. */
  listen(channel: string, listener: Listener): () => void {
    const listeners = this.#channels.get(channel);
    if (listeners !== undefined) listeners.add(listener);
    else {
      this.#channels.set(channel, new Set([listener]));
      if (this.#link.wire !== undefined) this.#subscribe(this.#link.wire, channel);
    }
    return () => {
      this.#forget(channel, listener);
    };
  }

  close(): Promise<void> {
    this.#channels.clear();
    return this.#link.close();
  }

  #subscribe(wire: RedisWire, channel: string): void {
    const tell = (message: string): void => {
      for (const listener of this.#channels.get(channel) ?? []) listener(message);
    };
    // A wire that cannot subscribe is lost, and the next one is subscribed anew.
    wire.subscribe(channel, tell).catch(() => undefined);
  }

  #forget(channel: string, listener: Listener): void {
    const listeners = this.#channels.get(channel);
    if (listeners?.delete(listener) !== true || listeners.size > 0) return;
    this.#channels.delete(channel);
    // What is still said on it has no listener.
    this.#link.wire?.unsubscribe(channel).catch(() => undefined);
  }
}
