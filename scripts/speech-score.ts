// Lets a listener hear the lines of the corpus and counts what it got wrong, row by row.
import { FRAME_MS, FRAME_SAMPLES, type AudioFormat } from '../src/speech/audio-format.ts';
import { DEFAULT_PATIENCE, type SpeechEvent } from '../src/speech/endpointer.ts';
import type { SignalEngines } from '../src/speech/engines.ts';
import { Listener } from '../src/speech/listener.ts';
import { digitPatience } from '../src/speech/patience.ts';
import type { Line } from './speech-corpus.ts';

/** What came of the lines of one row. Delays in ms; undefined where nothing was to be measured. */
export interface Row {
  readonly name: string;
  readonly lines: number;
  /** Lines on which the caller says something. */
  readonly utterances: number;
  /** Starts where the caller said nothing, or long before he did. */
  readonly falseStarts: number;
  /** Utterances of which nothing was heard. */
  readonly missed: number;
  /** Utterances that were over before their last sound was 250 ms old. */
  readonly cut: number;
  /** Suspected ends that the caller took back. */
  readonly resumed: number;
  /** From the first sound to the reported start: half and nine tenths of all were faster. */
  readonly startMs: Percentiles | undefined;
  /** From the last sound to the reported end. Infinity: never within two and a half seconds. */
  readonly endMs: Percentiles | undefined;
}

export interface Percentiles {
  readonly half: number;
  readonly most: number;
}

const MULAW: AudioFormat = { encoding: 'mulaw', sampleRateHz: 8000 };
/** Silence that read-out digits get, as in config/default.yaml. */
const DIGIT_SILENCE_MS = 1500;
/** A start this much before the first sound is still its start: noise may complete it. */
const EARLY_MS = 60;
/** An end before the last sound is this old comes too soon. */
const TOO_SOON_MS = 250;

/** One event on the clock of the line. */
export interface Heard {
  readonly event: SpeechEvent;
  readonly ms: number;
}

/** What a fresh listener reports of one line. */
export function hear(engines: SignalEngines, { mulaw, promptMs, isDigits }: Line): Heard[] {
  const heard: Heard[] = [];
  let ms = 0;
  let isCut = false;
  const listener = new Listener({
    engines,
    onEvent: (event) => {
      heard.push({ event, ms });
      // Speech over a prompt cuts it.
      isCut = true;
      if (event === 'speech_ended') listener.reset();
    },
  });
  if (isDigits) listener.expect(digitPatience(DIGIT_SILENCE_MS, DEFAULT_PATIENCE));
  for (let from = 0; from + FRAME_SAMPLES <= mulaw.length; from += FRAME_SAMPLES) {
    ms += FRAME_MS;
    listener.push(mulaw.subarray(from, from + FRAME_SAMPLES), MULAW, ms <= promptMs && !isCut);
  }
  listener.close();
  return heard;
}

/** The rows in the order in which the corpus has them. */
export function score(engines: SignalEngines, lines: readonly Line[]): Row[] {
  const byRow = new Map<string, Line[]>();
  for (const line of lines) byRow.set(line.row, [...(byRow.get(line.row) ?? []), line]);
  return [...byRow].map(([name, members]) => rowOf(name, engines, members));
}

function rowOf(name: string, engines: SignalEngines, lines: readonly Line[]): Row {
  const marks = lines.map((line) => mark(line, hear(engines, line)));
  const sum = (of: (one: Mark) => number): number => marks.reduce((all, one) => all + of(one), 0);
  return {
    name,
    lines: lines.length,
    utterances: lines.filter(({ spoken }) => spoken !== undefined).length,
    falseStarts: sum((one) => one.falseStarts),
    missed: sum((one) => (one.isMissed ? 1 : 0)),
    cut: sum((one) => (one.isCut ? 1 : 0)),
    resumed: sum((one) => one.resumed),
    startMs: percentiles(marks.flatMap(({ startMs }) => (startMs === undefined ? [] : [startMs]))),
    endMs: percentiles(marks.flatMap(({ endMs }) => (endMs === undefined ? [] : [endMs]))),
  };
}

interface Mark {
  readonly falseStarts: number;
  readonly isMissed: boolean;
  readonly isCut: boolean;
  readonly resumed: number;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
}

function mark({ spoken }: Line, heard: readonly Heard[]): Mark {
  const times = (event: SpeechEvent): number[] => heard.filter((one) => one.event === event).map(({ ms }) => ms);
  const [starts, ends, resumed] = [times('speech_started'), times('speech_ended'), times('speech_resumed').length];
  if (spoken === undefined) {
    return { falseStarts: starts.length, isMissed: false, isCut: false, resumed, startMs: undefined, endMs: undefined };
  }
  const { startMs, endMs } = spoken;
  const isOf = (ms: number): boolean => ms >= startMs - EARLY_MS && ms <= endMs + TOO_SOON_MS;
  // An utterance that noise began before the caller did is a false start, but nothing of the caller is lost.
  const isHeard = starts.some((ms, index) => ms <= endMs + TOO_SOON_MS && (ends[index] ?? Infinity) >= startMs);
  const firstStart = starts.find(isOf);
  return {
    falseStarts: starts.filter((ms) => !isOf(ms)).length,
    isMissed: !isHeard,
    isCut: ends.some((ms) => ms > startMs && ms < endMs + TOO_SOON_MS),
    resumed,
    startMs: firstStart === undefined ? undefined : firstStart - startMs,
    endMs: isHeard ? (ends.find((ms) => ms >= endMs + TOO_SOON_MS) ?? Infinity) - endMs : undefined,
  };
}

function percentiles(values: readonly number[]): Percentiles | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.ceil(part * sorted.length) - 1] ?? Infinity;
  return { half: at(0.5), most: at(0.9) };
}
