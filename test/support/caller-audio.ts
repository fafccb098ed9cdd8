// What a test's caller says, as inputs of the engine.
import { readFileSync } from 'node:fs';
import type { Input } from '../../src/dialog/input.ts';
import { encodeMulaw, MULAW_SILENCE } from '../../src/speech/g711.ts';
import { readWav } from '../../src/speech/wav.ts';

const sentence = encodeMulaw(readWav(readFileSync(new URL('../fixtures/speech/sentence.wav', import.meta.url))).samples);
const spoken = (audio: Uint8Array): Input => ({ kind: 'audio', audio });

/** One second of a silent line, so that the ear knows the line. */
export const LINE_SILENCE: Input = spoken(new Uint8Array(8000).fill(MULAW_SILENCE));
/** A sentence of about two seconds. */
export const SENTENCE: Input = spoken(sentence);
/** A sentence and the silence behind it that ends it, with the silence before it. */
export const WHOLE_SENTENCE: readonly Input[] = [LINE_SILENCE, SENTENCE, LINE_SILENCE, LINE_SILENCE];
