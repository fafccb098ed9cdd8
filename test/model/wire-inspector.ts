// Holds outputs against the rules of single messages, as they would travel: sizes, headers, flags. Remembers what it has
// seen, because the same messages come again in every run.
import { EVENT_OUTPUT, RESPONSE_TYPE, type Contract, type MediaResponse } from '../../src/contract/grpc.ts';
import { MAX_CHUNK_BYTES, MIN_CHUNK_BYTES } from '../../src/contract/limits.ts';
import type { Output } from '../../src/dialog/output.ts';
import { ToWire } from '../../src/transport/grpc/to-wire.ts';

/** A rule that a message breaks. */
export interface Problem {
  readonly rule: string;
  readonly what: string;
}

const TERMINAL: readonly (number | undefined)[] = [EVENT_OUTPUT.SESSION_END, EVENT_OUTPUT.TRANSFER_TO_AGENT];

/** One for all runs. */
export class WireInspector {
  readonly #toWire: ToWire;
  readonly #read: (bytes: Buffer) => MediaResponse;
  readonly #seen = new WeakMap<Buffer, readonly Problem[]>();

  constructor(contract: Contract) {
    this.#toWire = new ToWire(contract);
    this.#read = contract.media.definition.ProcessCallerInput.responseDeserialize;
  }

  problemsOf(output: Output): readonly Problem[] {
    return this.#toWire.responses(output).flatMap((bytes) => {
      let problems = this.#seen.get(bytes);
      if (problems === undefined) {
        problems = problemsOf(output, this.#read(bytes));
        this.#seen.set(bytes, problems);
      }
      return problems;
    });
  }
}

function problemsOf(output: Output, response: MediaResponse): readonly Problem[] {
  const problems: Problem[] = [];
  const demand = (isFine: boolean, rule: string, what: string): void => {
    if (!isFine) problems.push({ rule, what });
  };
  const isChunk = response.response_type === RESPONSE_TYPE.CHUNK;
  const prompts = response.prompts ?? [];
  const sizes = prompts.map(({ audio_content }) => audio_content?.length ?? 0);
  for (const { text, audio_content } of prompts) demand(!text || !audio_content?.length, 'G-46', 'text stands beside audio');
  switch (output.kind) {
    case 'input_started':
      demand(!isChunk && prompts.length === 0, 'G-36 G-39', 'START_OF_INPUT is FINAL and alone');
      break;
    case 'input_ended':
      demand(isChunk === (output.mode === 'chunk'), 'G-39', 'END_OF_INPUT is CHUNK in chunk mode only');
      break;
    case 'prompt':
      demand(isChunk && prompts.length === 1, 'G-42', 'a prompt ahead of the final is a CHUNK');
      for (const size of sizes) demand(size >= MIN_CHUNK_BYTES && size <= MAX_CHUNK_BYTES, 'G-42 G-49', `a chunk of ${String(size)} bytes`);
      break;
    case 'final': {
      const isTerminal = response.output_events?.some(({ event_type }) => TERMINAL.includes(event_type)) ?? false;
      demand(!isChunk, 'G-14', 'the last message is FINAL');
      demand(isTerminal === (output.next.kind === 'end' || output.next.kind === 'transfer'), 'G-76 G-77', 'the terminal event is missing');
      demand(
        (response.input_handling_config !== undefined) === (output.next.kind === 'listen' || output.next.kind === 'superseded'),
        'G-78 G-80',
        'input settings go with a listen, and with what takes its place',
      );
      if (output.next.kind === 'superseded')
        demand(prompts.length === 0, 'G-7C', 'a prompt comes although the farewell is said on another RPC');
      if (output.mode === 'chunk')
        demand(
          sizes.every((size) => size === 0),
          'G-43',
          'the FINAL of a streamed reply carries audio',
        );
      if (isTerminal)
        demand(
          prompts.every((prompt) => prompt.is_barge_in_enabled !== true),
          'G-55',
          'the farewell can be interrupted',
        );
      for (const { audio_content } of prompts)
        if (audio_content?.length) demand(Buffer.from(audio_content.subarray(0, 4)).toString('latin1') === 'RIFF', 'G-41', 'no WAV header');
    }
  }
  return problems;
}
