// What surrounds the questions of a bot to models and tools, so that their answers can be recorded and replayed. Knows no model and no tool.
import type { JsonValue } from '../base/json.ts';

/** Names each question before it is asked. */
export interface BotServices {
  /** @param name - of the model or the tool. */
  ask(service: 'model' | 'tool', name: string): ServiceQuestion;
}

/** One question. */
export interface ServiceQuestion {
  /** The answer that is given in place of asking; undefined: ask. */
  readonly recorded?: RecordedAnswer | undefined;
  /** Notes the answer, once. */
  readonly answered: (answer: JsonValue) => void;
}

export interface RecordedAnswer {
  readonly tookMs: number;
  /** Undefined: this question was not asked then. */
  readonly answer?: unknown;
}
