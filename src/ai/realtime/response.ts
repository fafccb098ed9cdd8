// One response of a speech-to-speech model: its parts in order, as they come.
import type { ModelFailure } from '../model.ts';

/** A part of a response. Exactly one `end` or `failed` is the last. */
export type SpokenPart =
  /** G.711 µ-law, 8 kHz. */
  | { readonly kind: 'audio'; readonly item: string; readonly mulaw: Uint8Array }
  /** Words of the audio, before it or after it. */
  | { readonly kind: 'text'; readonly item: string; readonly words: string }
  | { readonly kind: 'use'; readonly tool: string; /** JSON. */ readonly input: string; readonly callId: string }
  | { readonly kind: 'end'; readonly tokensIn: number; readonly tokensOut: number }
  | { readonly kind: 'failed'; readonly why: ModelFailure };

/** Longest response, bytes of sound: ten minutes. What comes beyond is not played. */
const MAX_BYTES = 4_800_000;

/** Written by the session, read by one turn. */
export class SpokenResponse {
  /** Of the request for it: a refusal names it. */
  readonly eventId: string;
  /** The service's name of it; undefined until it has begun there. */
  id: string | undefined;
  /** The service has said its last word, or is gone. */
  isOver = false;
  /** Nobody reads it any more. */
  isLeft = false;
  readonly #parts: SpokenPart[] = [];
  #bytes = 0;
  #arrived: () => void = () => undefined;

  constructor(eventId: string) {
    this.eventId = eventId;
  }

  push(part: SpokenPart): void {
    if (this.isOver || this.isLeft) return;
    if (part.kind === 'audio') {
      this.#bytes += part.mulaw.length;
      if (this.#bytes > MAX_BYTES) return;
    }
    this.isOver = part.kind === 'end' || part.kind === 'failed';
    this.#parts.push(part);
    this.#arrived();
  }

  /** The next part. One wait at a time. */
  async next(): Promise<SpokenPart> {
    for (;;) {
      const part = this.#parts.shift();
      if (part !== undefined) return part;
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }
}
