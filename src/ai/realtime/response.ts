// One response of a speech-to-speech model: its parts in the order of arrival.
import type { ModelFailure } from '../../dialog/turn-report.ts';

/** A part of a response. Exactly one `end` or `failed` is the last. */
export type SpokenPart =
  /** G.711 µ-law, 8 kHz. */
  | { readonly kind: 'audio'; readonly item: string; readonly mulaw: Uint8Array }
  /** Transcript of the audio; may arrive before or after the audio. */
  | { readonly kind: 'text'; readonly item: string; readonly words: string }
  | { readonly kind: 'use'; readonly tool: string; /** JSON. */ readonly input: string; readonly callId: string }
  | { readonly kind: 'end'; readonly tokensIn: number; readonly tokensOut: number }
  | { readonly kind: 'failed'; readonly why: ModelFailure };

/** Longest response, bytes of audio: ten minutes. The rest is not played. */
const MAX_BYTES = 4_800_000;

/** One response, which the session writes and one turn reads. */
export class SpokenResponse {
  /** Id of the event that requested the response. An error event of the service names this id. */
  readonly eventId: string;
  /** The service's id of the response; undefined until the response has begun. */
  id: string | undefined;
  /** Set when no more parts come: the service has sent everything, or the connection is lost. */
  isOver = false;
  /** Set when the turn reads no more parts. */
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

  /** Waits for the next part. Call it again only after the last wait has ended. */
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
