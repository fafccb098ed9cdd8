// An answer that a model begins while the caller may still go on. Its parts are kept until they are read.
import type { PrepareEvent, SpeechInput } from '../bot/events.ts';
import type { ModelPart } from './model.ts';
import type { AssistantState } from './options.ts';

/** The result of an assistant's `prepare`, for its handler of `speech_input`. */
export interface PreparedAnswer {
  readonly parts: AsyncIterable<ModelPart>;
  /** When the model was asked, monotonic ms. */
  readonly askedAtMs: number;
}

/** Reads the source at once and keeps its parts, which can be read one time. `source` must end by itself and never throw. */
export function readAhead(source: AsyncIterable<ModelPart>): PreparedAnswer['parts'] {
  const read: ModelPart[] = [];
  let [isOver, wake] = [false, (): void => undefined];
  const reading = async (): Promise<void> => {
    for await (const part of source) {
      read.push(part);
      wake();
    }
    isOver = true;
    wake();
  };
  void reading();
  return partsOf();

  async function* partsOf(): AsyncGenerator<ModelPart, void> {
    for (;;) {
      for (let part = read.shift(); part !== undefined; part = read.shift()) yield part;
      if (isOver) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

/** The input that follows if the caller says no more words. */
export function inputOf({ text, heard }: PrepareEvent): SpeechInput {
  return { type: 'speech_input', text, understood: 'words', heard, utterance: { mulaw: new Uint8Array(0), durationMs: 0 } };
}

/** Whether an assistant may answer before the input has ended: no keys are awaited, and no tool runs. */
export function mayPrepare({ keying, messages }: AssistantState): boolean {
  return keying === undefined && messages.every((message) => message.by !== 'tool' || message.outcome !== undefined);
}
