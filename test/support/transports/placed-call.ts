// One call as a test of transports plays it, whatever carries it: what the caller and the platform's flow do, and what the
// platform gets, in words that belong to no wire. What a wire does its own way stays out: how sound is cut into messages
// and headers, and the silence after which nothing came, which not every wire names (W-14).
import type { JsonObject } from '../../../src/base/json.ts';

/** Some sound of a reply; what follows it with the same flag is part of it. */
export interface HeardSound {
  /** G.711 µ-law, 8 kHz, no header. */
  readonly mulaw: Buffer;
  readonly mayBeCut: boolean;
}

/** What comes after a reply. */
export type DeliveredNext =
  | {
      readonly kind: 'listen';
      readonly accept: 'speech' | 'keys' | 'both';
      readonly digits: number;
      readonly interDigitMs: number;
      readonly terminator: string;
      readonly sensitive: boolean;
      readonly event?: { readonly name: string; readonly metadata: JsonObject };
    }
  | { readonly kind: 'transfer' | 'end'; readonly name: string; readonly metadata: JsonObject; readonly summary?: string };

/** One thing that the platform gets. */
export type Delivered =
  | { readonly kind: 'speech'; readonly is: 'started' | 'ended' }
  | { readonly kind: 'sound'; readonly mulaw: Uint8Array; readonly mayBeCut: boolean }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'next'; readonly next: DeliveredNext };

/** One reply, as far as it has come. */
export interface DeliveredReply {
  readonly sounds: readonly HeardSound[];
  /** Texts that travelled without a sound. */
  readonly texts: readonly string[];
  /** Undefined: it is not over. */
  readonly next: DeliveredNext | undefined;
}

/** A call. Whoever places it hangs up, or lets the bot end it, and closes it. */
export interface PlacedCall {
  readonly conversationId: string;
  start(name: string, parameters: JsonObject): void;
  /** The first key, then all of them (G-60, G-62). */
  press(digits: string): void;
  /** All keys at once, as from a menu of one key (G-64). */
  pressAtOnce(digits: string): void;
  /** Goes on where the caller stopped. Resolves when the end of what was said has been reported. */
  speak(mulaw: Uint8Array): Promise<void>;
  /** The platform reports that nothing came. */
  nothing(): void;
  flowEvent(name: string, parameters: JsonObject): void;
  hangUp(): void;
  /** Every reply in the order of what it answers, those that are not over included. */
  readonly replies: readonly DeliveredReply[];
  /** What the platform got of the caller's speech. */
  readonly speech: readonly ('started' | 'ended')[];
  /** What a breach of the wire's own grammar looks like, in words; empty when there was none. */
  readonly breaches: readonly string[];
  /** Ends what is still open. Resolves when the server has closed it, too. */
  close(): Promise<void>;
}

/** Something that carries calls to bots. */
export interface TransportUnderTest {
  /** @param agentId - default: the bot of calls that name none. */
  place(agentId?: string): Promise<PlacedCall>;
  /** Moves the time of the server on; it stands still otherwise. */
  advance(ms: number): Promise<void>;
  /** Everything that was logged. */
  log(): string;
  /** Waits until no call is left. */
  quiet(): Promise<void>;
  /** Demands that nothing is left of it. */
  close(): Promise<void>;
}

/** Joins what belongs to one reply. */
export function replyOf(delivered: readonly Delivered[]): DeliveredReply {
  const sounds: { mulaw: Buffer; mayBeCut: boolean }[] = [];
  for (const item of delivered) {
    if (item.kind !== 'sound') continue;
    const last = sounds.at(-1);
    if (last?.mayBeCut === item.mayBeCut) last.mulaw = Buffer.concat([last.mulaw, item.mulaw]);
    else sounds.push({ mulaw: Buffer.from(item.mulaw), mayBeCut: item.mayBeCut });
  }
  const texts = delivered.flatMap((item) => (item.kind === 'text' ? [item.text] : []));
  const ends = delivered.flatMap((item) => (item.kind === 'next' ? [item.next] : []));
  if (ends.length > 1) throw new Error('a reply ended twice');
  return { sounds, texts, next: ends[0] };
}

/** The reports of the caller's speech. */
export function speechOf(delivered: readonly Delivered[]): readonly ('started' | 'ended')[] {
  return delivered.flatMap((item) => (item.kind === 'speech' ? [item.is] : []));
}
