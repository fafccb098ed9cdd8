// What the engine is made of.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { CreateListener } from './turn/ear.ts';
import type { PromptVoice, Recognizer, SessionObserver, Snapshots } from './ports.ts';
import type { EngineSettings } from './settings.ts';

/** The rooms beside the engine and its settings. */
export interface EngineParts {
  readonly settings: EngineSettings;
  readonly snapshots: Snapshots;
  readonly voice: PromptVoice;
  readonly recognizer: Recognizer | undefined;
  readonly observer: SessionObserver;
  readonly clock: Clock;
  readonly log: Logger;
  readonly createListener: CreateListener;
  /** Aborts when the process begins to wait for the end of its calls: a reply is spoken as fast as it can be sent. */
  readonly closing: AbortSignal;
  /** Aborts when the process has no time left: a terminal event no longer waits until the farewell was heard. */
  readonly hurry: AbortSignal;
}
