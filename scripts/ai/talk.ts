// What the callers of `npm run check -- ai` do, what the model answers, and whether the history says what was heard.
import type { Message } from '../../src/ai/index.ts';
import type { CallResult, ModelScript } from '../../src/cli/platform.ts';
import { keysOf } from '../../src/fake-platform/caller/key.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import type { FakeItem } from '../../src/fake-platform/models/fake-item.ts';
import { SPOKEN_MS } from '../../src/fake-platform/models/tone.ts';
import { recorded } from '../../test/support/line-signals.ts';
import type { Recording } from './recording.ts';

/** A word, and the moment until the cut reaches the one who counts. */
const WORD_CHARS = 14;

const LOOKED = 'There are three of them. One is on Monday. The others are later in that week.';
const BOOKED = 'It is booked for you. Is there anything else that I can do?';
const LONG = 'Our house has stood here for a hundred years. It has four floors. The garden is open to everybody.';

/** The first token, ms: always the same, so that the rest is what we add. */
export const FIRST_TOKEN_MS = 100;
/** The first sound of a text, ms, where no time is measured: texts that were said before are kept. */
const FIRST_SOUND_MS = 60;

const RULES = [
  { when: '/1\\]$/', use: 'look', input: {} },
  { when: '/2\\]$/', use: 'book', input: {} },
  { when: '/9\\]$/', say: 'Goodbye.', use: 'end_call', input: {} },
  { after: 'look', say: LOOKED },
  { after: 'book', say: BOOKED },
  { say: LONG },
];

/** @param faulty - how many of a thousand requests fail. */
export function modelScript(random: () => number, faulty: number, requests: number): ModelScript {
  const faults = (['chat', 'speech'] as const).flatMap((on) =>
    Array.from({ length: requests }, (_, index) => index + 1)
      .filter(() => random() * 1000 < faulty)
      .map((nth) => ({
        on,
        nth,
        kind: pick(random, on === 'chat' ? ['error', 'cut', 'empty', 'torn', 'hang'] : ['error', 'cut', 'empty', 'torn']),
      })),
  );
  const always = (ms: number): [number, number] => [ms, ms * 1.0001];
  const delays = { first_token: always(FIRST_TOKEN_MS), ...(faulty > 0 && { speech: always(FIRST_SOUND_MS) }) };
  return { rules: RULES, faults: faults.slice(0, 1000), speech_pace: 1, delays };
}

function pick<const T>(random: () => number, choices: readonly T[]): T {
  const [first] = choices;
  if (first === undefined) throw new RangeError('there is nothing to choose from');
  return choices[Math.floor(random() * choices.length)] ?? first;
}

/** How a call goes. */
export interface Manner {
  /** How many of ten inputs come while the assistant speaks or thinks. */
  readonly interrupts: number;
  /** How many of ten inputs are spoken, the others keys. */
  readonly spoken: number;
  /** Fewest inputs; up to two more. */
  readonly inputs: number;
  /** Nobody interrupts the greeting. */
  readonly hearsGreeting: boolean;
}

/** A call of a few inputs. */
export function script(random: () => number, { interrupts, spoken, inputs, hearsGreeting }: Manner): readonly Step[] {
  const press = (keys: string): Step => ({ kind: 'press', keys: keysOf(keys) ?? [] });
  const steps = Array.from({ length: inputs + Math.floor(random() * 3) }, (_, index): Step => {
    const isSpoken = spoken > 0 && random() * 10 < spoken;
    const step: Step = isSpoken ? { kind: 'say', label: 'yes', mulaw: recorded('yes') } : press(pick(random, ['1', '2', '2', '3']));
    const isInterrupting = random() * 10 < interrupts && !(hearsGreeting && index === 0);
    return isInterrupting ? { ...step, interruptMs: Math.floor(random() * 3000) } : step;
  });
  return [...steps, press('9')];
}

/** Everything that the assistant may have said between two inputs. */
const SAID = [
  ...[LOOKED, BOOKED, LONG].flatMap((text) => text.match(/[^.?]+[.?]/gu) ?? []).map((sentence) => sentence.trim()),
  ...['Goodbye.', 'Hello there.', 'Let me look.', 'One moment.', 'Are you still there?'],
  ...[
    'Sorry, I lost my thread.',
    'Could you say that again?',
    'Sorry, I lost my thread. Could you say that again?',
    'I will connect you to a colleague.',
  ],
];

/** What was heard of them when the speech service broke off, which it does in the middle. */
const BROKEN_OFF = SAID.flatMap((saying) => {
  const words = saying.split(' ');
  return words
    .map((_, index) => words.slice(0, index + 1).join(' '))
    .filter((part) => Math.abs(part.length - saying.length / 2) <= WORD_CHARS / 2);
});

/** How a model that speaks itself greets. */
const GREETING = /^Hello, s\d+\.$/u;

/** What a history says that cannot be. @param mayDie - a server that dies takes along what its tools were about to return. */
export function faultsOf(messages: readonly Message[], mayDie: boolean): readonly string[] {
  const wrong: string[] = [];
  for (const message of messages) {
    if (message.by === 'tool' && message.outcome === undefined && !mayDie) wrong.push(`${message.tool} has no outcome`);
    if (message.by !== 'assistant') continue;
    const words = message.text.replace(/ —$/u, '');
    if (!partsOf(words) && !GREETING.test(words)) wrong.push(`"${message.text}" was never said`);
  }
  return wrong;
}

/** Whether a text is sayings one after the other, whole or broken off by the speech service, the last one perhaps cut. */
function partsOf(words: string): boolean {
  if (words === '' || SAID.some((saying) => saying.startsWith(words))) return true;
  return [...SAID, ...BROKEN_OFF].some((saying) => words.startsWith(`${saying} `) && partsOf(words.slice(saying.length + 1)));
}

/** An interruption that cut what was being said. */
export interface Cut {
  /** Which input it was, from 0. */
  readonly input: number;
  /** When the reply began to sound, and when it was cut, ms since the call began. */
  readonly atMs: readonly [number, number];
  /** How long the caller had heard the reply until then, by the recording of the call, ms. */
  readonly heardMs: number;
}

/** All of a call. */
export function cutsOf(
  { timeline, steps, replies }: Pick<CallResult, 'timeline' | 'steps' | 'replies'>,
  recording: Recording,
): readonly Cut[] {
  const cuts = timeline.filter(({ what }) => what === 'cuts_prompts');
  const cutAtMs = steps.map(({ atMs, isInterruption }, index) => {
    const untilMs = steps[index + 1]?.atMs ?? Infinity;
    return isInterruption ? cuts.find((cut) => cut.atMs > atMs - 20 && cut.atMs < untilMs - 20)?.atMs : undefined;
  });
  return cutAtMs.flatMap((toMs, input) => {
    if (toMs === undefined) return [];
    // What played when the input before began may have gone on for a moment.
    const askedAtMs = steps[input - 1]?.atMs ?? -1;
    const fromMs = Math.min(toMs, replies.find(({ atMs, prompts }) => atMs > askedAtMs && prompts > 0)?.atMs ?? toMs);
    return [{ input, atMs: [recording.nextSoundMs(fromMs), toMs], heardMs: recording.soundMs(fromMs, toMs) }];
  });
}

/** What an assistant said before each input; undefined when the history does not have each of them. */
function saidBefore(entries: readonly { readonly by: string; readonly text?: string }[], inputs: number): readonly string[] | undefined {
  const callers = entries.flatMap(({ by }, index) => (by === 'caller' ? [index] : []));
  if (callers.length !== inputs) return undefined;
  return callers.map((at, index) =>
    entries
      .slice((callers[index - 1] ?? -1) + 1, at)
      .flatMap(({ by, text = '' }) => (by === 'assistant' ? [text.replace(/ —$/u, '').trim()] : []))
      .join(' '),
  );
}

/** How far a history is from what callers heard, in characters. */
export function cutErrors(messages: readonly Message[], cuts: readonly Cut[], inputs: number): readonly number[] {
  const said = saidBefore(messages, inputs);
  return said === undefined ? [] : cuts.map(({ input, heardMs }) => (said[input] ?? '').length - heardMs / SPOKEN_MS);
}

/** How many words from the recording a model that speaks itself, or the history, is cut: the greater of both for each cut. */
export function wordErrors(
  held: readonly FakeItem[],
  messages: readonly Message[],
  cuts: readonly Cut[],
  inputs: number,
): readonly number[] {
  const [atModel, inHistory] = [saidBefore(held, inputs), saidBefore(messages, inputs)];
  const asked = held.filter(({ by }) => by === 'caller');
  if (atModel === undefined || inHistory === undefined) return [];
  return cuts.map(({ input, heardMs }) => {
    const whole = answerTo(asked[input - 1]?.text ?? '');
    const heard = wordsIn(whole.slice(0, Math.ceil(heardMs / SPOKEN_MS)));
    return Math.max(...[atModel, inHistory].map((said) => Math.abs(wordsIn(said[input] ?? '') - heard)));
  });
}

/** The last words to an input. */
function answerTo(input: string): string {
  if (input.endsWith('1]')) return LOOKED;
  return input.endsWith('2]') ? BOOKED : LONG;
}

function wordsIn(text: string): number {
  return text.match(/\S+/gu)?.length ?? 0;
}

/** Whether a cut is more than a word from where it was. */
export function isWrongCut(chars: number): boolean {
  return Math.abs(chars) > WORD_CHARS;
}
