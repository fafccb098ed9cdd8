// Caller audio whose speech is exact: the first sample of a frame says whether a voice is in it, the second names the RPC
// it was sent on. The detector reads nothing else.
import { MULAW_SILENCE } from '../../src/speech/g711.ts';
import { FRAME_SAMPLES } from '../../src/speech/audio-format.ts';
import type { SignalEngines } from '../../src/speech/engines.ts';
import type { SpeechPatience } from '../../src/speech/patience.ts';
import type { Sound } from './program.ts';

/** Full scale in µ-law: far from the silence it is told from. */
const VOICE = 0x00;

/** Few frames, so that a run is cheap; sounds.ts and the reference count in these. */
export const MODEL_PATIENCE: SpeechPatience = {
  startMs: 60,
  interruptMs: 80,
  endSilenceMs: 160,
  resumeGraceMs: 40,
  maxUtteranceMs: 120_000,
  preRollMs: 300,
};
/** Silent frames after which an utterance is over. */
export const END_FRAMES = 10;
/**
 * Frames with a voice, then frames without. Speech always starts an utterance, a word does unless a prompt plays, a cough
 * never does; speech and words prolong an utterance; silence ends one; every sound leaves an endpointer that has forgotten
 * what was before it.
 */
export const FRAMES: Readonly<Record<Sound, { readonly voiced: number; readonly silent: number }>> = {
  speech: { voiced: 5, silent: 0 },
  word: { voiced: 3, silent: 6 },
  cough: { voiced: 1, silent: 6 },
  pause: { voiced: 0, silent: 6 },
  silence: { voiced: 0, silent: 15 },
};

const messages = new Map<string, Uint8Array>();

/** The bytes of a sound made on an RPC. */
export function soundOf(sound: Sound, rpcId: number): Uint8Array {
  const name = `${sound} ${String(rpcId)}`;
  let bytes = messages.get(name);
  if (bytes === undefined) {
    const { voiced, silent } = FRAMES[sound];
    bytes = new Uint8Array((voiced + silent) * FRAME_SAMPLES).fill(MULAW_SILENCE);
    for (let frame = 0; frame < voiced; frame += 1) bytes.set([VOICE, rpcId], frame * FRAME_SAMPLES);
    messages.set(name, bytes);
  }
  return bytes;
}

/** How many voiced frames of an RPC an utterance holds. */
export function voicedFrames(mulaw: Uint8Array, rpcId: number): number {
  let count = 0;
  for (let at = 0; at + 1 < mulaw.length; at += FRAME_SAMPLES) if (mulaw[at] === VOICE && mulaw[at + 1] === rpcId) count += 1;
  return count;
}

/** Makes engines without signal processing that count what was made and not closed. */
export function scriptedEngines(): { readonly engines: SignalEngines; readonly unclosed: () => number } {
  const open = new Set<object>();
  const engines: SignalEngines = {
    createDetector: () => {
      const detector = {
        isSpeech: (frame: Int16Array) => (frame[0] ?? 0) !== 0,
        reset: () => undefined,
        close: () => {
          open.delete(detector);
        },
      };
      open.add(detector);
      return detector;
    },
    createResampler: () => {
      throw new Error('the model speaks at the rate of the line');
    },
  };
  return { engines, unclosed: () => open.size };
}
