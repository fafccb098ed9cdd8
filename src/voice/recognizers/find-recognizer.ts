// Makes the configured recognizer.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { serviceObserver, type VoiceObserver } from '../voice-observer.ts';
import { CommandRecognizer } from './command.ts';
import { HttpRecognizer, type HttpRecognizerOptions } from './http.ts';
import type { OwnedRecognizer } from './owned-recognizer.ts';
import { StreamingRecognizer } from './streaming.ts';
import type { StreamService } from './transcription-stream.ts';

/** The configured recognizer; `timeoutMs` is the longest time for one utterance. */
export type RecognizerChoice = WholeChoice & {
  /** Set to hear utterances while they are spoken; the engine then recognizes only those that the stream has lost. */
  readonly stream?: StreamService;
};

/** The engine for whole utterances. */
type WholeChoice =
  | { readonly engine: 'none' }
  /** Program and arguments. */
  | { readonly engine: 'command'; readonly command: readonly [string, ...string[]]; readonly timeoutMs: number }
  | ({ readonly engine: 'http' } & Omit<HttpRecognizerOptions, 'clock' | 'observer'>);

interface RecognizerParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: VoiceObserver;
}

/**
 * The configured recognizer, or undefined. The calling code closes it.
 *
 * @throws AppError `config_invalid` for an unsafe address.
 */
export function findRecognizer({ stream, ...choice }: RecognizerChoice, parts: RecognizerParts): OwnedRecognizer | undefined {
  const whole = findWhole(choice, parts);
  if (stream === undefined) return whole;
  const { clock, log, observer } = parts;
  return new StreamingRecognizer({ ...stream, clock, whole, observer: serviceObserver('recognition_stream', observer, log) });
}

function findWhole(choice: WholeChoice, { clock, log, observer }: RecognizerParts): OwnedRecognizer | undefined {
  switch (choice.engine) {
    case 'none':
      return undefined;
    case 'command':
      return new CommandRecognizer({ command: choice.command, clock, limitMs: choice.timeoutMs });
    case 'http': {
      const { engine: _, ...options } = choice;
      return new HttpRecognizer({ ...options, clock, observer: serviceObserver('recognizer', observer, log) });
    }
  }
}
