// Voice and recognizer of one run: scripted sounds, each behind a gate when the program wants it slow.
import type { PromptAudio } from '../../src/dialog/output.ts';
import type { PromptVoice, Recognizer, Sound } from '../../src/session/ports.ts';
import { MULAW_BYTES_PER_MS } from '../../src/speech/audio-format.ts';
import type { Gates } from './gates.ts';
import type { Program } from './program.ts';
import type { Reference } from './reference.ts';

/** The ports of one run. */
export interface Ports {
  readonly voice: PromptVoice;
  readonly recognizer: Recognizer | undefined;
}

/** What the ports need. */
export interface PortParts {
  readonly program: Program;
  readonly gates: Gates;
  readonly reference: Reference;
  /** Every signal the engine hands out. */
  readonly keepSignal: (signal: AbortSignal) => void;
}

/** Makes them. */
export function scriptedPorts(parts: PortParts): Ports {
  return { voice: scriptedVoice(parts), recognizer: scriptedRecognizer(parts) };
}

function scriptedVoice({ program, gates, reference, keepSignal }: PortParts): PromptVoice {
  const soundFor = (text: string): Sound => {
    if (program.voice === 'mute') return undefined;
    const ms = Number(/(\d+) ms$/.exec(text)?.[1] ?? 500);
    return program.voice === 'streamed' ? inPieces(ms, program.slow.voice ? gates : undefined) : sound(ms);
  };
  return {
    canSpeak: true,
    late: (prompt) => {
      if (prompt.kind === 'text') reference.outputs.wasGivenUp(prompt.text);
    },
    render: (prompt, signal) => {
      keepSignal(signal);
      const text = prompt.kind === 'text' ? prompt.text : '';
      if (!program.slow.voice) return soundFor(text);
      if (!prompt.bargeIn) reference.outputs.awaitsSound(text);
      return gates.pass('the voice', () => {
        reference.outputs.hasSound(text);
        return soundFor(text);
      });
    },
  };
}

function scriptedRecognizer({ program, gates, keepSignal }: PortParts): Recognizer | undefined {
  if (program.recognizer === 'none') return undefined;
  const text = program.recognizer === 'words' ? 'some words' : undefined;
  return {
    recognize: (_utterance, signal) => {
      keepSignal(signal);
      return program.slow.recognizer ? gates.pass('the recognizer', () => text, true) : Promise.resolve(text);
    },
  };
}

async function* inPieces(ms: number, gates: Gates | undefined): AsyncGenerator<PromptAudio> {
  yield sound(ms);
  if (gates !== undefined) await gates.pass('the next piece of sound', () => undefined);
  yield sound(ms);
}

const sounds = new Map<number, PromptAudio>();

function sound(durationMs: number): PromptAudio {
  let known = sounds.get(durationMs);
  if (known === undefined) {
    known = { mulaw: new Uint8Array(durationMs * MULAW_BYTES_PER_MS).fill(0x55), durationMs };
    sounds.set(durationMs, known);
  }
  return known;
}
