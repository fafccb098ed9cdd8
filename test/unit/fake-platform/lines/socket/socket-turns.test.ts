// Whose an answer on a socket is while the caller speaks, and what is the fault of the server then: no socket, and no time that passes.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Answer } from '../../../../../src/fake-platform/caller/answer.ts';
import type { PlatformInput } from '../../../../../src/fake-platform/lines/line.ts';
import { SILENT_FRAME } from '../../../../../src/fake-platform/caller/microphone.ts';
import type { SocketTurn } from '../../../../../src/fake-platform/lines/socket/socket-turn.ts';
import { SocketTurns } from '../../../../../src/fake-platform/lines/socket/socket-turns.ts';
import { answerOf, event, piece } from '../../../../support/fake-line.ts';

const START = answerOf(event('start_of_input'));
const END = answerOf({ type: 'chunk', ...event('end_of_input') });
const FINAL = answerOf({});
const LAST = answerOf(event('session_end'));

function chunk(canBeCut: boolean): Answer {
  return answerOf({ type: 'chunk', prompts: [piece(100, canBeCut)] });
}

/** The turns of one call; keeps under their names what is reported to them, and the rules that are found broken. */
function bench() {
  const told: string[] = [];
  const turns = new SocketTurns(
    () => 0,
    ({ rule, code }) => told.push(`${rule} ${code}`),
  );
  const open = (name: string, input?: PlatformInput): SocketTurn => {
    const turn = turns.open({
      answered: ({ type, event: happened }) => told.push(`${name}: ${happened?.kind ?? type}`),
      ended: () => told.push(`${name}: over`),
    });
    if (input !== undefined) turns.sent(turn, input);
    return turn;
  };
  const take = (...answers: readonly Answer[]): void => {
    for (const answer of answers) turns.take(answer, { promptTexts: [] });
  };
  return { told, open, take };
}

const SESSION_START: PlatformInput = { kind: 'session_start', name: '', parameters: {} };

it.each([
  ['closes', [FINAL], ['welcome: final', 'welcome: over', 'ear: start_of_input']],
  ['does not close', [], ['ear: start_of_input', 'welcome: over']],
])(
  'W-27, W-29 gives a farewell that may not be interrupted to the speech that cut the reply, and finds nothing, where that reply %s',
  (_, closing, heard) => {
    const { told, open, take } = bench();
    open('welcome', SESSION_START);
    open('ear');
    take(chunk(true), ...closing, START, chunk(false), chunk(false), LAST, END);
    expect(told).toEqual(['welcome: chunk', ...heard, 'ear: chunk', 'ear: chunk', 'ear: session_end', 'ear: over']);
  },
);

it('W-27 finds what goes on of a reply that was cut, and could be', () => {
  const { told, open, take } = bench();
  open('welcome', SESSION_START);
  open('ear');
  take(chunk(true), START, chunk(true), FINAL, END);
  expect(told).toEqual([
    'welcome: chunk',
    'ear: start_of_input',
    'W-27 old_reply_goes_on',
    'welcome: chunk',
    'welcome: final',
    'welcome: over',
    'ear: end_of_input',
  ]);
});

it.each<[string, PlatformInput]>([
  ['an event of the flow', { kind: 'custom_event', name: 'bonus', parameters: {} }],
  ['a report of silence', { kind: 'no_input' }],
])('W-27 finds nothing in the reply to %s that comes between START_OF_INPUT and END_OF_INPUT', (_, input) => {
  const heard = ['aside: chunk', 'aside: final', 'aside: over'];
  const spoken = ['ear: end_of_input', 'ear: chunk', 'ear: final', 'ear: over'];
  // Sent while the caller speaks, and on its way while the server began to hear the caller.
  const beside = bench();
  beside.open('ear');
  beside.take(START);
  beside.open('aside', input);
  beside.take(chunk(true), FINAL, END, chunk(true), FINAL);
  expect(beside.told).toEqual(['ear: start_of_input', ...heard, ...spoken]);
  const crossed = bench();
  crossed.open('ear');
  crossed.open('aside', input);
  crossed.take(START, chunk(true), FINAL, END, chunk(true), FINAL);
  expect(crossed.told).toEqual(['ear: start_of_input', ...heard, ...spoken]);
});

/** All that a platform sends on a turn. */
const INPUTS: readonly PlatformInput[] = [
  SESSION_START,
  { kind: 'audio_format' },
  { kind: 'audio', audio: SILENT_FRAME },
  { kind: 'audio', audio: new Uint8Array(SILENT_FRAME.length).fill(3) },
  { kind: 'dtmf_start' },
  { kind: 'dtmf', keys: ['1'] },
  { kind: 'no_input' },
  { kind: 'custom_event', name: 'bonus', parameters: {} },
  { kind: 'session_end' },
];
/** All that a server may say, in any order. */
const ANSWERS: readonly Answer[] = [FINAL, START, END, LAST, answerOf(event('end_of_input')), chunk(true), chunk(false)];

/** One step of a random call; `turn` counts back from the newest one. */
const STEP = fc.oneof(
  fc.record({ kind: fc.constant('open' as const) }),
  fc.record({ kind: fc.constant('send' as const), turn: fc.nat(3), input: fc.constantFrom(...INPUTS) }),
  fc.record({ kind: fc.constant('half_close' as const), turn: fc.nat(3) }),
  fc.record({ kind: fc.constant('cancel' as const), turn: fc.nat(3) }),
  fc.record({ kind: fc.constant('take' as const), answer: fc.constantFrom(...ANSWERS) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(0, 150, 1500) }),
);

it('reports to each turn its end once, and nothing after it, whatever a server answers and whenever', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), async (steps) => {
      let nowMs = 0;
      const turns = new SocketTurns(
        () => nowMs,
        () => undefined,
      );
      const opened: { readonly turn: SocketTurn; readonly told: string[] }[] = [];
      const open = (): void => {
        const told: string[] = [];
        opened.push({ turn: turns.open({ answered: () => told.push('answer'), ended: () => told.push('end') }), told });
      };
      open();
      for (const step of steps) {
        const turn = 'turn' in step ? opened.at(-1 - step.turn)?.turn : undefined;
        if (step.kind === 'open') open();
        else if (step.kind === 'take') turns.take(step.answer, { promptTexts: [] });
        else if (step.kind === 'pass') {
          nowMs += step.ms;
          await Promise.resolve();
        } else if (turn === undefined || turn.isOver) continue;
        else if (step.kind === 'half_close') turns.halfClose(turn);
        else if (step.kind === 'cancel') turns.cancel(turn);
        else if (!turn.isHalfClosed) turns.sent(turn, step.input);
      }
      turns.close({ kind: 'completed', promptTexts: [] });
      open();
      await Promise.resolve();
      for (const { told } of opened) expect([told.indexOf('end'), told.lastIndexOf('end')]).toEqual([told.length - 1, told.length - 1]);
    }),
    { numRuns: 1000 },
  );
});
