// What the callers of `npm run check -- ai` do, what the model answers, and whether the history says what was heard.
import type { Message } from '../../src/ai/index.ts';
import type { CallResult, ModelScript } from '../../src/cli/platform.ts';
import { keysOf } from '../../src/fake-platform/caller/key.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import { SPOKEN_MS } from '../../src/fake-platform/models/tone.ts';

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

/** A call of a few keys. @param interrupts - how many of ten are pressed while the assistant speaks or thinks. */
export function script(random: () => number, interrupts: number): readonly Step[] {
  const press = (keys: string): Step => ({ kind: 'press', keys: keysOf(keys) ?? [] });
  const steps = Array.from({ length: 3 + Math.floor(random() * 3) }, (): Step => {
    const step = press(pick(random, ['1', '2', '2', '3']));
    return random() * 10 < interrupts ? { ...step, interruptMs: Math.floor(random() * 3000) } : step;
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

/** What a history says that cannot be. @param mayDie - a server that dies takes along what its tools were about to return. */
export function faultsOf(messages: readonly Message[], mayDie: boolean): readonly string[] {
  const wrong: string[] = [];
  for (const message of messages) {
    if (message.by === 'tool' && message.outcome === undefined && !mayDie) wrong.push(`${message.tool} has no outcome`);
    if (message.by !== 'assistant') continue;
    const words = message.text.replace(/ —$/u, '');
    if (!partsOf(words)) wrong.push(`"${message.text}" was never said`);
  }
  return wrong;
}

/** Whether a text is whole sayings one after the other, the last one perhaps cut. */
function partsOf(words: string): boolean {
  if (words === '' || SAID.some((saying) => saying.startsWith(words))) return true;
  return SAID.some((saying) => words.startsWith(`${saying} `) && partsOf(words.slice(saying.length + 1)));
}

/** How far the history is from the cut that the caller made, in characters, for each interruption that can be told. */
export function cutErrors(messages: readonly Message[], { timeline, steps, replies }: CallResult): readonly number[] {
  const inputs = messages.flatMap(({ by }, index) => (by === 'caller' ? [index] : []));
  if (inputs.length !== steps.length) return [];
  return steps.flatMap(({ atMs, isInterruption }, index) => {
    const cut = timeline.find(({ what, atMs: at }) => what === 'cuts_prompts' && Math.abs(at - atMs) < 20);
    const unheardMs = Number(/^\d+/u.exec(cut?.detail ?? '')?.[0]);
    const before = steps[index - 1];
    const reply = replies.findLast((each) => each.atMs < atMs && each.atMs >= (before?.atMs ?? 0) && each.prompts > 0);
    if (!isInterruption || !Number.isFinite(unheardMs) || before === undefined || reply === undefined) return [];
    const between = messages.slice(inputs[index - 1], inputs[index]);
    const text = between.flatMap((message) => (message.by === 'assistant' ? [message.text.replace(/ —$/u, '')] : [])).join(' ');
    return [text.length - (reply.audioMs - unheardMs) / SPOKEN_MS];
  });
}

/** Whether a cut is more than a word from where it was. */
export function isWrongCut(chars: number): boolean {
  return Math.abs(chars) > WORD_CHARS;
}
