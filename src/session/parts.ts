// The dependencies of the engine.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { RecordedAnswer } from '../bot/services.ts';
import type { CreateListener } from './turn/caller-audio.ts';
import type { PromptVoice, Recognizer, Recorder, SessionObserver, Snapshots } from './ports.ts';
import type { EngineSettings } from './settings.ts';

export interface EngineParts {
  readonly settings: EngineSettings;
  readonly snapshots: Snapshots;
  readonly voice: PromptVoice;
  readonly recognizer: Recognizer | undefined;
  readonly observer: SessionObserver;
  /** Default: no call is recorded. */
  readonly recorder?: Recorder | undefined;
  /** Set in a replay with recorded answers of models and tools: see {@link ServiceQuestion.recorded}. Default: the services are asked. */
  readonly answers?: ((turnId: string, service: 'model' | 'tool', key: string) => RecordedAnswer) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly createListener: CreateListener;
  /** Aborts when the process starts to wait for its calls: replies are then sent as fast as possible. */
  readonly closing: AbortSignal;
  /** Aborts when no time is left: terminal events no longer wait for the end of the farewell. */
  readonly hurry: AbortSignal;
}
