// What a recording keeps of sensitive or secret content (G-83): that there was some, and how long it was.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../base/json.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { AudioInput, Input } from '../dialog/input.ts';
import type { FinalNext, Output, PromptAudio, SpokenPrompt } from '../dialog/output.ts';
import type { RecordedEvent, RecordedInput, RecordedOutput, RecordedPrompt, SoundRange, Withheld } from './recording.ts';

export const WITHHELD: Withheld = Object.freeze({ withheld: true });

/** Whether a part of a recording is not kept. */
export function isWithheld(part: unknown): part is Withheld {
  return typeof part === 'object' && part !== null && Reflect.get(part, 'withheld') === true;
}

/** An input with the allowed parameters only. */
export function allowedInput(input: Exclude<Input, AudioInput>, allowed: ReadonlySet<string>): RecordedInput {
  return 'parameters' in input ? { ...input, parameters: allowedParameters(input.parameters, allowed) } : input;
}

/** The facts of a call without its secrets: the vendor configuration, and parameters that the operator has not allowed. */
export function allowedFacts(call: CallFacts, allowed: ReadonlySet<string>): CallFacts {
  return { ...call, vendorConfig: '', parameters: allowedParameters(call.parameters, allowed) };
}

function allowedParameters(parameters: JsonObject, allowed: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => allowed.has(name)));
}

/**
 * An event of the caller without its sensitive content; undefined: nothing of it may stay. Other events are returned unchanged, also
 * recognized words, because the engine has already reported whether these are sensitive.
 */
export function withheldEvent(event: RecordedEvent): RecordedEvent | undefined {
  switch (event.kind) {
    case 'interim':
      return undefined;
    case 'input':
      return { ...event, input: withheldInput(event.input) };
    default:
      return event;
  }
}

export function withheldInput(input: RecordedInput): RecordedInput {
  if ('digits' in input) return { kind: 'dtmf', length: input.digits.length, ...WITHHELD };
  return 'parameters' in input ? { ...input, parameters: {} } : input;
}

/** Returns the place of a sound in the recording; undefined: it is not kept. */
type SoundOf = (audio: PromptAudio) => SoundRange | undefined;

/** @param isSecret - whether the output may repeat something sensitive. */
export function keptOutput(output: Output, isSecret: boolean, soundOf: SoundOf): RecordedOutput {
  switch (output.kind) {
    case 'input_started':
    case 'input_ended':
      return { kind: output.kind };
    case 'prompt':
      return { kind: 'prompt', prompt: keptPrompt(output.prompt, isSecret, soundOf) };
    case 'final': {
      const { next, isApology } = output;
      const prompts = output.prompts.map((prompt) => keptPrompt(prompt, isSecret, soundOf));
      return { kind: 'final', prompts, next: isSecret ? withheldNext(next) : next, ...(isApology && { isApology }) };
    }
  }
}

function keptPrompt(prompt: SpokenPrompt, isSecret: boolean, soundOf: SoundOf): RecordedPrompt {
  const { audio, text, bargeIn, isFiller, goesOn } = prompt;
  const sound = isSecret ? WITHHELD : audio && soundOf(audio);
  const source = isSecret ? undefined : sourceOf(prompt);
  return {
    ...(text !== undefined && { text: isSecret ? WITHHELD : text }),
    ...(audio !== undefined && sound !== undefined && { sound }),
    ...{ durationMs: audio?.durationMs ?? 0, bargeIn, ...(isFiller && { isFiller }), ...(goesOn && { goesOn }) },
    ...(source !== undefined && { source }),
  };
}

function sourceOf({ audio, text, file, goesOn, skippedMs }: SpokenPrompt): string | undefined {
  const isWhole = goesOn !== true && skippedMs === undefined;
  return file ?? (text === undefined && audio !== undefined && isWhole ? soundDigest(audio.mulaw) : undefined);
}

/** Identifies a sound without its content. */
export function soundDigest(mulaw: Uint8Array): string {
  return `sound ${createHash('sha256').update(mulaw).digest('hex').slice(0, 16)}`;
}

/** A next step after a sensitive input, without anything that a bot or the platform may have copied from the input. */
function withheldNext(next: FinalNext): FinalNext {
  switch (next.kind) {
    case 'listen':
      return next.event === undefined ? next : { ...next, event: { name: next.event.name } };
    case 'transfer':
    case 'end':
      return { kind: next.kind, metadata: {} };
    default:
      return next;
  }
}
