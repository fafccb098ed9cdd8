// Tells other processes that share a Redis server that a caller has interrupted, and hears it from them. Nothing is kept:
// whoever does not listen at that moment does not hear it.
import { parseJson } from '../../base/json.ts';
import type { CallKey } from '../../dialog/call.ts';
import type { Interrupted, Interruptions } from '../../session/ports.ts';
import type { RedisConnection } from './connection.ts';

/** Longest message that is looked at, characters: two ids and a name of ours are far below it. */
const MAX_MESSAGE_CHARS = 8192;

/** Who tells, and where. */
export interface RedisInterruptionsOptions {
  /** Stays its owner's. */
  readonly connection: Pick<RedisConnection, 'publish' | 'listen'>;
  /** Names this process: what it tells it does not hear. */
  readonly owner: string;
  /** What all channels begin with. */
  readonly keyPrefix: string;
}

/** Has nothing to close: those who listen stop listening. */
export class RedisInterruptions implements Interruptions {
  readonly #options: RedisInterruptionsOptions;
  readonly #channel: string;

  constructor(options: RedisInterruptionsOptions) {
    this.#options = options;
    this.#channel = `${options.keyPrefix}:interrupted`;
  }

  tell({ organizationId, conversationId }: CallKey, { place, isHangUp }: Interrupted): void {
    const { connection, owner } = this.#options;
    connection.publish(this.#channel, JSON.stringify([owner, organizationId, conversationId, place, isHangUp]));
  }

  listen(onInterrupted: (key: CallKey, interrupted: Interrupted) => void): () => void {
    const { connection, owner } = this.#options;
    return connection.listen(this.#channel, (message) => {
      const told = message.length > MAX_MESSAGE_CHARS ? undefined : toldIn(message);
      if (told !== undefined && told.owner !== owner) onInterrupted(told.key, told.interrupted);
    });
  }
}

/** Who tells of which call; undefined for what we did not write. */
function toldIn(message: string): { readonly owner: string; readonly key: CallKey; readonly interrupted: Interrupted } | undefined {
  const told = parseJson(message);
  if (!Array.isArray(told) || told.length !== 5) return undefined;
  const [owner, organizationId, conversationId, place, isHangUp] = told as readonly unknown[];
  if (typeof owner !== 'string' || typeof organizationId !== 'string' || typeof conversationId !== 'string') return undefined;
  if (typeof place !== 'number' || typeof isHangUp !== 'boolean') return undefined;
  return { owner, key: { organizationId, conversationId }, interrupted: { place, isHangUp } };
}
