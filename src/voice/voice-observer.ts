// The observer of the voice: prompts without audio, and requests to speech services. Gets no text and no caller.
import type { CircuitState } from '../base/circuit-breaker.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { RequestOutcome } from '../base/http-exchange.ts';
import type { HttpServiceObserver } from '../base/http-service.ts';
import type { Logger } from '../base/log.ts';

/** Kinds of speech services. */
export type SpeechService = 'recognizer' | 'recognition_stream' | 'synthesizer';

/** Observes the voice. What it throws is logged and ignored. */
export interface VoiceObserver {
  /** A prompt of a call has no audio because of a failure, or breaks off. */
  promptFailed?(kind: 'text' | 'file', code: ErrorCode): void;
  /** A request has ended, `durationMs` after it was made, waiting included. */
  requestEnded?(service: SpeechService, outcome: RequestOutcome, durationMs: number): void;
  /** A request is sent for the second time. */
  requestRetried?(service: SpeechService): void;
  /** The circuit of a service opens, half-opens or closes. */
  circuitChanged?(service: SpeechService, state: CircuitState): void;
}

/** The observer of one service: forwards all events and logs when the circuit opens or closes. */
export function serviceObserver(service: SpeechService, observer: VoiceObserver | undefined, log: Logger): HttpServiceObserver {
  return {
    requestEnded: (outcome, durationMs) => observer?.requestEnded?.(service, outcome, durationMs),
    requestRetried: () => observer?.requestRetried?.(service),
    circuitChanged: (state) => {
      if (state === 'open') log.warn({ service }, 'the speech service failed too often; requests pause for a while');
      if (state === 'closed') log.info({ service }, 'the speech service works again');
      observer?.circuitChanged?.(service, state);
    },
  };
}
