// What listening costs: CPU time per frame of 20 ms, for the detector alone and for the whole listener.
import { FRAME_SAMPLES } from '../src/speech/audio-format.ts';
import type { SignalEngines } from '../src/speech/engines.ts';
import { decodeMulaw } from '../src/speech/g711.ts';
import { median } from './bench/figures.ts';
import type { Line } from './speech-corpus.ts';
import { hear } from './speech-score.ts';

/** CPU per frame, µs: the median of some rounds. */
export interface Cost {
  readonly row: string;
  readonly detectorUs: number;
  readonly listenerUs: number;
}

const ROUNDS = 7;
const LINES = 40;
const ROWS = ['quiet line', 'white noise 10 dB', 'babble 10 dB', 'sentences over a prompt'] as const;

/** The cost on lines of a few rows. */
export function costs(engines: SignalEngines, lines: readonly Line[]): Cost[] {
  return ROWS.map((row) => {
    const some = lines.filter((line) => line.row === row).slice(0, LINES);
    const frames = some.reduce((sum, { mulaw }) => sum + Math.floor(mulaw.length / FRAME_SAMPLES), 0);
    const decoded = some.map(({ mulaw }) => decodeMulaw(mulaw));
    const perFrame = (work: () => void): number => Number((median(Array.from({ length: ROUNDS }, () => cpuUs(work))) / frames).toFixed(2));
    return {
      row,
      detectorUs: perFrame(() => {
        for (const samples of decoded) detect(engines, samples);
      }),
      listenerUs: perFrame(() => {
        for (const line of some) hear(engines, line);
      }),
    };
  });
}

function detect(engines: SignalEngines, samples: Int16Array): void {
  const detector = engines.createDetector();
  for (let from = 0; from + FRAME_SAMPLES <= samples.length; from += FRAME_SAMPLES) {
    detector.isSpeech(samples.subarray(from, from + FRAME_SAMPLES), false);
  }
  detector.close();
}

function cpuUs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
