// Who watches the voice: prompts without sound, and what is asked of speech services. Gets no text and no caller.
import type { CircuitState } from '../base/circuit-breaker.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { RequestOutcome } from '../base/http-exchange.ts';
import type { HttpServiceObserver } from '../base/http-service.ts';
import type { Logger } from '../base/log.ts';

/** What a speech service is asked for. */
export type SpeechService = 'recognizer' | 'synthesizer';

/** Watches the voice. What it throws is forgotten. */
export interface VoiceObserver {
  /** A prompt of a call stays without sound because of a failure, or breaks off. */
  promptFailed?(kind: 'text' | 'file', code: ErrorCode): void;
  /** A request is over, `durationMs` after it was wanted. */
  requestEnded?(service: SpeechService, outcome: RequestOutcome, durationMs: number): void;
  /** A request is sent for the second time. */
  requestRetried?(service: SpeechService): void;
  /** A service is left alone, tried, or asked again. */
  circuitChanged?(service: SpeechService, state: CircuitState): void;
}

/** The observer of one service: passes everything on and tells the operator when a service is left alone. */
export function serviceObserver(service: SpeechService, observer: VoiceObserver | undefined, log: Logger): HttpServiceObserver {
  return {
    requestEnded: (outcome, durationMs) => observer?.requestEnded?.(service, outcome, durationMs),
    requestRetried: () => observer?.requestRetried?.(service),
    circuitChanged: (state) => {
      if (state === 'open') log.warn({ service }, 'the speech service failed too often; it is left alone for a while');
      if (state === 'closed') log.info({ service }, 'the speech service works again');
      observer?.circuitChanged?.(service, state);
    },
  };
}
