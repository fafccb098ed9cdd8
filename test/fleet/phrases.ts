// What the callers of a fleet say: recordings, because a voice that is made takes its time on a machine on which everything runs.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { encodeMulaw } from '../../src/speech/g711.ts';
import { readWav } from '../../src/speech/wav.ts';
import { TEST_SPEECH } from '../support/server-flags.ts';

/** The longest last. */
const PHRASES = ['yes.wav', 'sentence.wav'] as const;

/** What callers say, base64 of µ-law: the longest last. */
export async function recordedPhrases(): Promise<readonly string[]> {
  const files = PHRASES.map((name) => readFile(path.join(TEST_SPEECH, name)));
  return (await Promise.all(files)).map((wav) => Buffer.from(encodeMulaw(readWav(wav).samples)).toString('base64'));
}
