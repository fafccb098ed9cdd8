// When a caller counts as done on the lines of the corpus: by silence alone, and by the words before it.
import { silenceAfter } from '../../src/session/answer/word-patience.ts';
import { spokenDigits } from '../../src/session/answer/spoken-digits.ts';
import type { WordSilences } from '../../src/session/settings.ts';
import { FRAME_MS, FRAME_SAMPLES, type AudioFormat } from '../../src/speech/audio-format.ts';
import { DEFAULT_PATIENCE, type SpeechPatience } from '../../src/speech/endpointer.ts';
import type { SignalEngines } from '../../src/speech/engines.ts';
import { Listener } from '../../src/speech/listener.ts';
import { digitPatience, pausingAfter } from '../../src/speech/patience.ts';
import type { Line, Said } from '../speech-corpus.ts';

const MULAW: AudioFormat = { encoding: 'mulaw', sampleRateHz: 8000 };
/** Silence that read-out digits get, as in config/default.yaml. */
const DIGIT_SILENCE_MS = 1500;
/** An end before the last sound is this old comes too soon. */
const TOO_SOON_MS = 250;

/** How the end is decided. */
export interface Way {
  readonly name: string;
  readonly patience: SpeechPatience;
  /** Undefined: by silence alone. */
  readonly words?: WordSilences & {
    /** From the pause to its words, ms. */
    readonly recognitionMs: number;
    /** Whether the recognizer writes a full stop behind whatever it hears. */
    readonly isCareless: boolean;
  };
}

/** What came of it. */
export interface Ends {
  readonly name: string;
  readonly utterances: number;
  /** Over before their last sound. */
  readonly cut: number;
  /** From the last sound to the end, ms, of those that were not cut. */
  readonly endMs: readonly number[];
}

/** Lets a listener hear every line on which somebody speaks and whose words are known. */
export function endsOf(engines: SignalEngines, lines: readonly Line[], way: Way): Ends {
  const known = lines.filter(({ said }) => said.length > 0);
  const marks = known.map((line) => ({ ends: endsOn(engines, line, way), spoken: line.spoken ?? { startMs: 0, endMs: 0 } }));
  const isSooner = ({ ends, spoken }: (typeof marks)[number]): boolean =>
    ends.some((ms) => ms > spoken.startMs && ms < spoken.endMs + TOO_SOON_MS);
  const endMs = marks.flatMap((mark) => {
    const end = mark.ends.find((ms) => ms >= mark.spoken.endMs + TOO_SOON_MS);
    return end === undefined || isSooner(mark) ? [] : [end - mark.spoken.endMs];
  });
  return { name: way.name, utterances: known.length, cut: marks.filter(isSooner).length, endMs };
}

/** When utterances end on a line, ms. */
function endsOn(engines: SignalEngines, line: Line, { patience, words }: Way): readonly number[] {
  const ends: number[] = [];
  let [ms, wordsAtMs] = [0, Infinity];
  const listener = new Listener({
    engines,
    patience,
    onEvent: (event) => {
      wordsAtMs = event === 'speech_paused' && words !== undefined ? ms + words.recognitionMs : Infinity;
      if (event !== 'speech_ended') return;
      ends.push(ms);
      listener.reset();
    },
  });
  const expected = line.isDigits ? digitPatience(DIGIT_SILENCE_MS, patience) : {};
  listener.expect(words === undefined ? expected : { ...expected, ...pausingAfter(words.pauseMs, { ...patience, ...expected }) });
  for (let from = 0; from + FRAME_SAMPLES <= line.mulaw.length; from += FRAME_SAMPLES) {
    ms += FRAME_MS;
    listener.push(line.mulaw.subarray(from, from + FRAME_SAMPLES), MULAW);
    if (words === undefined || ms < wordsAtMs) continue;
    const bounds = silenceAfter(textBy(line.said, wordsAtMs - words.recognitionMs, words.isCareless), listenOf(line), 'en', words);
    wordsAtMs = Infinity;
    if (bounds !== undefined) listener.endWithin(...bounds);
  }
  listener.close();
  return ends;
}

function listenOf({ isDigits, said }: Line): Parameters<typeof silenceAfter>[1] {
  const digits = spokenDigits(said.map(({ text }) => text).join(' '), 'en');
  return { kind: 'listen', ...(isDigits && digits !== undefined && { digits: digits.length }) };
}

/** What a recognizer would have written by then: whole words. */
function textBy(said: readonly Said[], ms: number, isCareless: boolean): string {
  const parts = said.flatMap(({ text, startMs, endMs }) => {
    const part = Math.min(1, Math.max(0, (ms - startMs) / (endMs - startMs)));
    if (part === 1) return [text];
    const words = text
      .slice(0, Math.floor(text.length * part))
      .split(' ')
      .slice(0, -1)
      .join(' ');
    return words === '' ? [] : [words];
  });
  const text = parts.join(' ');
  return text === '' || !isCareless || /[.?!]$/u.test(text) ? text : `${text}.`;
}

/** The ways that are compared: what the server does without a stream, other silences alone, and words. */
export function ways(recognitionMs: number): readonly Way[] {
  const alone = (silenceMs: number): Way => ({
    name: `silence alone, ${String(silenceMs)} ms`,
    patience: { ...DEFAULT_PATIENCE, endSilenceMs: silenceMs - DEFAULT_PATIENCE.resumeGraceMs },
  });
  const weighed =
    (isCareless: boolean) =>
    (finishedMs: number): Way => ({
      name: `words, ${String(finishedMs)} ms${isCareless ? ', full stops everywhere' : ''}`,
      patience: DEFAULT_PATIENCE,
      words: { pauseMs: 140, finishedMs, unfinishedMs: 1500, recognitionMs, isCareless },
    });
  return [...[800, 700, 600, 500, 400].map(alone), ...[700, 600, 500, 400].map(weighed(false)), ...[700, 600, 500, 400].map(weighed(true))];
}
