// An answer that a model begins while it is not certain that the caller is done. Its parts wait until somebody reads them.
import type { PrepareEvent, SpeechInput } from '../bot/events.ts';
import type { ModelPart } from './model.ts';
import type { AssistantState } from './options.ts';

/** What `prepare` of an assistant gives, and its handler of `speech_input` takes back. */
export interface PreparedAnswer {
  readonly parts: AsyncIterable<ModelPart>;
}

/** Reads ahead; the parts stay until they are read once. `source` ends by itself and never throws. */
export function readAhead(source: AsyncIterable<ModelPart>): PreparedAnswer {
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
  return { parts: partsOf() };

  async function* partsOf(): AsyncGenerator<ModelPart, void> {
    for (;;) {
      for (let part = read.shift(); part !== undefined; part = read.shift()) yield part;
      if (isOver) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

/** The input as it would come, if these are all of its words. */
export function inputOf({ text, heard }: PrepareEvent): SpeechInput {
  return { type: 'speech_input', text, understood: 'words', heard, utterance: { mulaw: new Uint8Array(0), durationMs: 0 } };
}

/** Whether an assistant can answer before it is certain what was said: nobody is asked for keys, and no tool runs. */
export function mayPrepare({ keying, messages }: AssistantState): boolean {
  return keying === undefined && messages.every((message) => message.by !== 'tool' || message.outcome !== undefined);
}
