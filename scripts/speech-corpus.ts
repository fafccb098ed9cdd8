// The corpus: lines of a call with known speech in them, made from voices, noises and a seed. Knows nothing of what
// listens to them.
import {
  asMulaw,
  atLevel,
  atSpeechLevel,
  between,
  breath,
  chain,
  click,
  cough,
  cutOut,
  echoOf,
  humming,
  keyTone,
  lengthMs,
  louder,
  murmur,
  over,
  pinkNoise,
  quiet,
  randomFrom,
  whiteNoise,
  type Random,
  type Sound,
} from './speech-sounds.ts';
import type { Voice } from './speech-voices.ts';

/** What is said from one moment to another, ms. */
export interface Said {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** One stretch of caller audio and what is in it. */
export interface Line {
  /** Row of the table it counts for. */
  readonly row: string;
  readonly mulaw: Uint8Array;
  /** From the first sound of the caller's utterance to its last, ms; undefined when the caller says nothing. */
  readonly spoken: { readonly startMs: number; readonly endMs: number } | undefined;
  /** The words of the utterance, between its long pauses; empty where nobody weighs them. */
  readonly said: readonly Said[];
  /** A prompt plays until this time, ms; 0 for none. */
  readonly promptMs: number;
  readonly isDigits: boolean;
}

/** Which parts are made; all of them by default. */
export interface CorpusSize {
  /** How many of the texts and of the other sounds. */
  readonly texts: number;
  readonly sounds: number;
  /** Signal-to-noise ratios, dB. */
  readonly ratiosDb: readonly number[];
}

export const WHOLE_CORPUS: CorpusSize = { texts: Infinity, sounds: 48, ratiosDb: [20, 10, 5] };

const WORDS = ['Yes.', 'No.', 'Nine.', 'Six.', 'Two.', 'Eight.', 'Stop.', 'Help.'] as const;
const NAMES = ['Anna Miller.', 'John Peterson.'] as const;
const SENTENCES = [
  'I would like to change my delivery address, please.',
  'My parcel has not arrived yet. Can you tell me where it is?',
  'It is about an invoice from last month, and I think it is wrong.',
] as const;
const PHONE_GROUPS = ['Zero six one.', 'Four four seven.', 'Two nine.', 'Eight five.'] as const;
const CARD_GROUPS = ['Four five three two.', 'Nine zero one eight.', 'Seven seven six one.', 'Two three eight four.'] as const;
const BACKCHANNELS = ['Uh huh.', 'Yeah.', 'Right.', 'Okay.'] as const;
const PROMPT = 'Welcome to the parcel service. You can ask me where your parcel is, or change the day of your delivery.';

/** Loudness of callers, dBFS: what a telephone brings of somebody who speaks normally. */
const CALLER_DBFS = -26;
/** The shortest sentence that interrupts a prompt in the moment in which a stream opens, ms. */
const OPENING_LEAST_MS = 2000;
/** Loudness of callers who speak already when a stream opens, dBFS. */
const OPENING_DBFS = [-20, -26, -32] as const;
/** How much of the line comes before them, ms; below 0: so much of what they say lies before the stream. */
const OPENING_LEADS_MS = [-300, -100, 0, 20, 60, 100, 200, 300] as const;
const PROMPT_DBFS = -20;
/** There is no line without any noise. */
const LINE_NOISE_DBFS = -62;
const TAIL_MS = 2600;
/** How long after the first sound of an interruption the prompt falls silent. */
const CUT_AFTER_MS = 700;

/** All lines, in the order of the table. */
export async function makeCorpus(voices: readonly Voice[], size: CorpusSize = WHOLE_CORPUS): Promise<Line[]> {
  const speech = await readAll(voices, size);
  const random = randomFrom(1);
  const babble = makeBabble(speech, randomFrom(2));
  return [
    ...answers(speech, babble, size, random),
    ...unusual(speech, size, random),
    ...numbers(speech, babble, random),
    ...sounds(size, random),
    ...overPrompts(speech, size, random),
  ];
}

/** What one voice said, each at the loudness of a caller. */
interface Speech {
  readonly words: readonly Sound[];
  readonly sentences: readonly Sound[];
  readonly phone: readonly Sound[];
  readonly card: readonly Sound[];
  readonly backchannels: readonly Sound[];
  readonly prompt: Sound;
}

function readAll(voices: readonly Voice[], size: CorpusSize): Promise<Speech[]> {
  const words = WORDS.slice(0, size.texts);
  const sentences = textsOf(size).slice(words.length);
  const texts = [...words, ...sentences, ...PHONE_GROUPS, ...CARD_GROUPS, ...BACKCHANNELS, PROMPT];
  return Promise.all(
    voices.map(async (voice) => {
      const left = (await voice.read(texts)).map((sound) => atSpeechLevel(sound, CALLER_DBFS));
      return {
        words: left.splice(0, words.length),
        sentences: left.splice(0, sentences.length),
        phone: left.splice(0, PHONE_GROUPS.length),
        card: left.splice(0, CARD_GROUPS.length),
        backchannels: left.splice(0, BACKCHANNELS.length),
        prompt: louder(left[0] ?? quiet(1), PROMPT_DBFS - CALLER_DBFS),
      };
    }),
  );
}

/** What every voice says in one breath each. */
function textsOf({ texts }: CorpusSize): readonly string[] {
  return [...WORDS.slice(0, texts), ...[...NAMES, ...SENTENCES].slice(-texts)];
}

/** Eight people who talk all the time, at the loudness of one caller. */
function makeBabble(speech: readonly Speech[], random: Random): Sound {
  const monologues = speech.map(({ sentences, prompt, phone }) => chain(...sentences, atSpeechLevel(prompt, CALLER_DBFS), ...phone));
  let sum = quiet(60_000);
  for (let talker = 0; talker < 8; talker += 1) {
    const monologue = monologues[talker % monologues.length] ?? quiet(1);
    sum = over(sum, cutOut(monologue, between(random, 0, 20_000), 60_000));
  }
  return atLevel(sum, CALLER_DBFS);
}

/** The background of a line, so and so much quieter than the caller. */
type Background = (ms: number, random: Random) => Sound;

function backgrounds(babble: Sound, { ratiosDb }: CorpusSize): [name: string, Background][] {
  const kinds: [string, Background][] = [
    ['white noise', whiteNoise],
    ['pink noise', pinkNoise],
    ['hum', humming],
    ['babble', (ms, random) => cutOut(babble, between(random, 0, 59_000), ms)],
  ];
  return kinds.flatMap(([name, make]) =>
    ratiosDb.map((ratioDb): [string, Background] => [
      `${name} ${String(ratioDb)} dB`,
      // Babble has one level as a whole; of a piece only, its pauses would make it louder.
      (ms, random) => (make === kinds[3]?.[1] ? louder(make(ms, random), -ratioDb) : atLevel(make(ms, random), CALLER_DBFS - ratioDb)),
    ]),
  );
}

function lineNoise(ms: number, random: Random): Sound {
  return atLevel(whiteNoise(ms, random), LINE_NOISE_DBFS);
}

interface SpokenLine {
  readonly row: string;
  readonly said: Sound;
  /** Its words, on its own clock. */
  readonly words: readonly Said[];
  readonly background: Background;
  readonly random: Random;
  readonly isDigits?: boolean;
  readonly leadMs?: number;
}

/** A caller who says one thing on a line with such a background. */
function spokenLine({ row, said, words, background, random, isDigits = false, leadMs }: SpokenLine): Line {
  const startMs = leadMs ?? between(random, 1000, 2500);
  const endMs = startMs + lengthMs(said);
  const ground = background(endMs + TAIL_MS, random);
  const onLine = words.map((one) => ({ ...one, startMs: startMs + one.startMs, endMs: startMs + one.endMs }));
  return { row, mulaw: asMulaw(over(ground, said, startMs)), spoken: { startMs, endMs }, said: onLine, promptMs: 0, isDigits };
}

/** All that one voice said in one breath each, with its words. */
function withWords({ words, sentences }: Speech, size: CorpusSize): { readonly said: Sound; readonly words: readonly Said[] }[] {
  return [...words, ...sentences].map((said, index) => ({
    said,
    words: [{ text: textsOf(size)[index] ?? '', startMs: 0, endMs: lengthMs(said) }],
  }));
}

function answers(speech: readonly Speech[], babble: Sound, size: CorpusSize, random: Random): Line[] {
  const all = speech.flatMap((one) => withWords(one, size));
  return [['quiet line', lineNoise] as [string, Background], ...backgrounds(babble, size)].flatMap(([name, background]) =>
    all.map((said) => spokenLine({ row: name, ...said, background, random })),
  );
}

/** Callers who are hard to hear on a good line. */
function unusual(speech: readonly Speech[], size: CorpusSize, random: Random): Line[] {
  const all = speech.flatMap((one) => withWords(one, size));
  return [
    ...all.map(({ said, words }) =>
      spokenLine({ row: 'low voice (-36 dBFS)', said: louder(said, -10), words, background: lineNoise, random }),
    ),
    ...all.map((said) => spokenLine({ row: 'speaks as the line opens', ...said, background: lineNoise, random, leadMs: 40 })),
  ];
}

/** Phone and card numbers, read in groups with pauses of 300 to 700 ms. */
function numbers(speech: readonly Speech[], babble: Sound, random: Random): Line[] {
  const pausing = (groups: readonly Sound[], texts: readonly string[]): { readonly said: Sound; readonly words: readonly Said[] } => {
    const words: Said[] = [];
    const said = groups.reduce<Sound | undefined>((sum, group, index) => {
      const before = sum === undefined ? quiet(0) : chain(sum, quiet(between(random, 300, 700)));
      const startMs = lengthMs(before);
      words.push({ text: texts[index] ?? '', startMs, endMs: startMs + lengthMs(group) });
      return sum === undefined ? group : chain(before, group);
    }, undefined);
    return { said: said ?? quiet(1), words };
  };
  const all = speech.flatMap(({ phone, card }) => [pausing(phone, PHONE_GROUPS), pausing(card, CARD_GROUPS)]);
  const noisy: [string, Background][] = [
    ['quiet line', lineNoise],
    ['white noise 10 dB', (ms, next) => atLevel(whiteNoise(ms, next), CALLER_DBFS - 10)],
    ['babble 20 dB', (ms, next) => louder(cutOut(babble, between(next, 0, 59_000), ms), -20)],
  ];
  return [false, true].flatMap((isDigits) =>
    noisy.flatMap(([name, background]) =>
      all.map((said) =>
        spokenLine({ row: `numbers, ${name}${isDigits ? ', digits expected' : ''}`, ...said, background, random, isDigits }),
      ),
    ),
  );
}

/** Sounds of the caller that are no speech, one on each line. */
function sounds({ sounds: count }: CorpusSize, random: Random): Line[] {
  const makers: [string, (number: number) => Sound][] = [
    ['coughs', () => cough(random)],
    ['breath', () => breath(random)],
    ['clicks', () => click(random)],
    ['keys', (number) => louder(keys(number, random), -between(random, 6, 20))],
  ];
  return makers.flatMap(([row, make]) =>
    Array.from({ length: count }, (_, number) => ({
      ...{ row, spoken: undefined, said: [], promptMs: 0, isDigits: false },
      mulaw: asMulaw(over(lineNoise(4000, random), make(number), between(random, 1000, 2000))),
    })),
  );
}

/** One to four keys, each pressed for 60 to 400 ms. */
function keys(number: number, random: Random): Sound {
  const tones = Array.from({ length: 1 + (number % 4) }, (_, index) =>
    chain(keyTone((number + index * 5) % 16, between(random, 60, 400)), quiet(between(random, 60, 200))),
  );
  return chain(...tones);
}

function overPrompts(speech: readonly Speech[], { sounds: count }: CorpusSize, random: Random): Line[] {
  const echoes = [-25, -30].flatMap((db) =>
    speech.map(({ prompt }) => promptLine({ row: `prompt echo ${String(db)} dB`, prompt, echoDb: db, random })),
  );
  const promptOf = (number: number): Sound => speech[number % speech.length]?.prompt ?? quiet(1);
  const muttered = [...Array.from({ length: count }, () => murmurAt(random)), ...speech.flatMap(({ backchannels }) => backchannels)];
  const heard = (row: string, sound: Sound, number: number): Line => promptLine({ row, prompt: promptOf(number + 1), sound, random });
  return [
    ...echoes,
    ...Array.from({ length: count }, (_, number) => heard('coughs over a prompt', cough(random), number)),
    ...muttered.map((sound, number) => heard('"mhm" and the like over a prompt', sound, number)),
    ...speech.flatMap(({ words, sentences }, number) => [
      ...sentences.map((said) => interrupting('sentences over a prompt', said, promptOf(number + 1), random)),
      ...words.map((said) => interrupting('single words over a prompt', said, promptOf(number + 1), random)),
      ...words.map((said) => atTheEnd('single words on the end of a prompt', said, promptOf(number + 1), random)),
    ]),
    ...speech.map(({ prompt }) => promptLine({ row: 'a stream opens in the echo of a prompt', prompt, echoDb: -25, fromMs: 1500, random })),
    ...openings(speech, random),
  ];
}

function murmurAt(random: Random): Sound {
  return atSpeechLevel(murmur(random), CALLER_DBFS - between(random, 0, 6));
}

/** Callers who interrupt a prompt, on streams that open while they speak or just before. */
function openings(speech: readonly Speech[], random: Random): Line[] {
  return OPENING_DBFS.flatMap((dbfs) =>
    speech.flatMap(({ sentences }, number) =>
      OPENING_LEADS_MS.map((leadMs, index) => {
        const long = sentences.filter((sound) => lengthMs(sound) >= OPENING_LEAST_MS);
        const whole = louder(long[index % long.length] ?? quiet(1), dbfs - CALLER_DBFS);
        const said = leadMs < 0 ? cutOut(whole, -leadMs, lengthMs(whole) + leadMs) : whole;
        const row = `speaks at ${String(dbfs)} dBFS as a stream opens under a prompt`;
        return interrupting(row, said, speech[(number + 1) % speech.length]?.prompt ?? quiet(1), random, Math.max(0, leadMs));
      }),
    ),
  );
}

interface PromptLine {
  readonly row: string;
  readonly prompt: Sound;
  readonly echoDb?: number;
  /** How much of the prompt was heard before the stream opened, ms. Default 0. */
  readonly fromMs?: number;
  readonly sound?: Sound;
  readonly random: Random;
}

/** A prompt that is heard to its end, and maybe a sound over its middle that is not meant to cut it. */
function promptLine({ row, prompt: whole, echoDb = -30, fromMs = 0, sound, random }: PromptLine): Line {
  const prompt = cutOut(whole, fromMs, lengthMs(whole) - fromMs);
  const ground = over(lineNoise(lengthMs(prompt) + 1500, random), echoOf(prompt, echoDb));
  const mulaw = asMulaw(sound === undefined ? ground : over(ground, sound, between(random, 1000, 2500)));
  // Its echo ends a little later than the prompt.
  return { row, mulaw, spoken: undefined, said: [], promptMs: lengthMs(prompt) + 100, isDigits: false };
}

/** A caller who wants to be heard in the middle of a prompt, which would go on for long. */
function interrupting(row: string, said: Sound, prompt: Sound, random: Random, leadMs?: number): Line {
  const startMs = leadMs ?? between(random, 1000, 2500);
  return answered(row, said, { startMs, prompt, promptMs: startMs + lengthMs(said) + TAIL_MS }, random);
}

/** A caller who answers a little before the prompt is over. */
function atTheEnd(row: string, said: Sound, prompt: Sound, random: Random): Line {
  const promptMs = between(random, 2000, 3000);
  return answered(row, said, { startMs: promptMs - lengthMs(said) - between(random, 0, 150), prompt, promptMs }, random);
}

interface Over {
  readonly startMs: number;
  readonly prompt: Sound;
  readonly promptMs: number;
}

function answered(row: string, said: Sound, { startMs, prompt, promptMs }: Over, random: Random): Line {
  const endMs = startMs + lengthMs(said);
  // The echo stops with the prompt: at its end, or when the caller has cut it.
  const echo = echoOf(cutOut(prompt, 0, Math.min(promptMs, startMs + CUT_AFTER_MS)), -30);
  const ground = over(lineNoise(endMs + TAIL_MS, random), echo);
  return { row, mulaw: asMulaw(over(ground, said, startMs)), spoken: { startMs, endMs }, said: [], promptMs, isDigits: false };
}
