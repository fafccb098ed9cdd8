// Lets a listener hear a whole line and writes down what it reported and when.
import type { AudioFormat } from '../../src/speech/audio-format.ts';
import type { SpeechEvent } from '../../src/speech/endpointer.ts';
import type { SignalEngines } from '../../src/speech/engines.ts';
import { decodeMulaw } from '../../src/speech/g711.ts';
import { Listener, type ListenerOptions, type UtteranceAudio } from '../../src/speech/listener.ts';
import { joined, recorded, silence } from './line-signals.ts';

/** What the platform sends (G-30). */
export const MULAW: AudioFormat = { encoding: 'mulaw', sampleRateHz: 8000 };
/** Bytes in 20 ms of it. */
export const FRAME_BYTES = 160;

/** One event of a listener. */
export interface Heard {
  readonly event: SpeechEvent;
  /** When it was reported, on the clock of the audio. */
  readonly ms: number;
}

/** What a listener reported for a whole line. */
export interface Run {
  /** Starts and ends. */
  readonly events: Heard[];
  /** Suspected ends, and those that were none. */
  readonly doubts: Heard[];
  readonly utterances: UtteranceAudio[];
}

/** Options of the listener, the format of the bytes, and whether the input is over after them. */
export type HearOptions = Partial<ListenerOptions> & { readonly format?: AudioFormat; readonly thenFinish?: boolean };

/** A listener that takes each utterance and listens on, fed with 20 ms messages. */
export function heard(engines: SignalEngines, bytes: Uint8Array, options: HearOptions = {}): Run {
  const { format = MULAW, thenFinish = false, ...rest } = options;
  const run: Run = { events: [], doubts: [], utterances: [] };
  const bytesPerMs = (format.sampleRateHz / 1000) * (format.encoding === 'linear16' ? 2 : 1);
  let ms = 0;
  const listener = new Listener({
    engines,
    ...rest,
    onEvent: (event) => {
      (event === 'speech_started' || event === 'speech_ended' ? run.events : run.doubts).push({ event, ms });
      if (event !== 'speech_ended') return;
      run.utterances.push(listener.takeUtterance());
      listener.reset();
    },
  });
  for (let from = 0; from < bytes.length; from += bytesPerMs * 20) {
    ms += 20;
    listener.push(bytes.subarray(from, from + bytesPerMs * 20), format);
  }
  if (thenFinish) listener.finish();
  listener.close();
  return run;
}

/** Where the caller's sounds begin and end, ms: the first and last 20 ms above -46 dBFS. */
export function speechBounds(mulaw: Uint8Array): { startMs: number; endMs: number } {
  const loud = Array.from({ length: Math.floor(mulaw.length / FRAME_BYTES) }, (_, n) => {
    const samples = decodeMulaw(mulaw.subarray(n * FRAME_BYTES, (n + 1) * FRAME_BYTES));
    return Math.hypot(...samples) / Math.sqrt(FRAME_BYTES) > 164;
  });
  return { startMs: loud.indexOf(true) * 20, endMs: (loud.lastIndexOf(true) + 1) * 20 };
}

/** Starts and ends, without their times. */
export const names = (run: Run): SpeechEvent[] => run.events.map(({ event }) => event);
/** A second of silence, a sentence, silence. */
export const call = (): Uint8Array => joined(silence(1000), recorded('sentence'), silence(1500));
