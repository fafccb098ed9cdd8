// The engine against its reference: random calls in random orders. `npm run check -- model` plays a hundred thousand.
import { describe, expect, it } from 'vitest';
import type { AppError } from '../../src/base/errors.ts';
import type { Output } from '../../src/dialog/output.ts';
import type { TurnSink } from '../../src/session/ports.ts';
import { hunt } from './hunt.ts';
import { play } from './lab.ts';
import type { Program } from './program.ts';

const RUNS = 250;
/** The same calls in every test run; the command draws a seed of its own. */
const SEED = 1;
/** Longer than the hunt takes on a busy machine. */
const LIMIT_MS = 300_000;

/** A wire that mistreats what the engine says: what a broken engine would look like from outside. */
class BrokenWire implements TurnSink {
  readonly #sink: TurnSink;
  readonly #mistreat: (output: Output, write: (output: Output) => boolean) => boolean;

  constructor(sink: TurnSink, mistreat: (output: Output, write: (output: Output) => boolean) => boolean) {
    this.#sink = sink;
    this.#mistreat = mistreat;
  }

  write(output: Output): boolean {
    return this.#mistreat(output, (each) => this.#sink.write(each));
  }

  onceDrained(listener: () => void): void {
    this.#sink.onceDrained(listener);
  }

  complete(): void {
    this.#sink.complete();
  }

  fail(error: AppError): void {
    this.#sink.fail(error);
  }
}

type Mistreat = ConstructorParameters<typeof BrokenWire>[1];

const MISTAKES: [mistake: string, rule: RegExp, mistreat: Mistreat][] = [
  ['a second FINAL', /G-14/, (output, write) => (output.kind === 'final' && write(output), write(output))],
  ['a FINAL that is lost', /G-13/, (output, write) => output.kind === 'final' || write(output)],
  ['a START_OF_INPUT that is lost', /G-36/, (output, write) => output.kind === 'input_started' || write(output)],
  ['a prompt that is said twice', /G-22/, (output, write) => (output.kind === 'prompt' && write(output), write(output))],
  ['another mode', /G-40/, (output, write) => write(output.kind === 'input_ended' ? { ...output, mode: 'wav' } : output)],
  [
    'a farewell that can be interrupted',
    /G-55/,
    (output, write) => write(output.kind === 'final' && output.next.kind !== 'listen' ? { ...output, bargeIn: true } : output),
  ],
  [
    'an end that is not told',
    /G-75/,
    (output, write) => write(output.kind === 'final' && output.next.kind === 'end' ? { ...output, next: { kind: 'gone' } } : output),
  ],
];

describe('a session', () => {
  it(
    'keeps the rules of the turn grammar in 250 random calls',
    async () => {
      const { found, interleavings } = await hunt(RUNS, SEED);
      expect(found === undefined ? '' : [found.wrong, ...found.exchange].join('\n')).toBe('');
      expect(interleavings).toBe(RUNS);
    },
    LIMIT_MS,
  );

  it('tells the bot that a filler was heard which began before the bot was asked, behind a reply that never came (G-52)', async () => {
    const { exchange, wrong } = await play(EARLY_FILLER, { isTraced: true });
    expect(wrong).toBeUndefined();
    expect(exchange.indexOf('RPC4 < CHUNK "One moment."')).toBeGreaterThan(exchange.indexOf('the bot for RPC3: listen'));
    expect(exchange.indexOf('the bot is asked: speech_input of RPC4')).toBeGreaterThan(exchange.indexOf('RPC4 < CHUNK "One moment."'));
    expect(exchange).toContain('the bot is asked: dtmf_input of RPC5');
  });
});

describe('a conversation that begins anew (G-28)', () => {
  it.each<[string, Pick<Program, 'beginning' | 'acts'> & Partial<Program>]>([
    [
      'tells the bot that nothing was heard of a welcome whose stream was cancelled',
      {
        beginning: 'none',
        acts: [
          { kind: 'open', first: 'dtmf', halfClose: false, together: false },
          { kind: 'open', first: 'session_start', halfClose: false, together: false },
          { kind: 'open', first: 'no_input', halfClose: false, together: false },
          { kind: 'answer', pick: 0, together: false },
          { kind: 'cancel', rpc: 1, together: false },
        ],
      },
    ],
    [
      'welcomes also on a stream whose speech gave way to another one',
      {
        beginning: 'elsewhere',
        acts: [
          { kind: 'open', first: 'speech', halfClose: false, together: false },
          { kind: 'open', first: 'dtmf', halfClose: false, together: false },
          { kind: 'open', first: 'speech', halfClose: false, together: false },
          { kind: 'send', rpc: 2, input: 'session_start', together: false },
        ],
      },
    ],
    [
      'hears nothing on a stream that came for the one before, behind its end',
      {
        beginning: 'elsewhere',
        acts: [
          { kind: 'open', first: 'session_end', halfClose: false, together: false },
          { kind: 'open', first: 'session_start', halfClose: false, together: false },
          { kind: 'open', first: 'speech', halfClose: false, together: false },
        ],
      },
    ],
    [
      'G-75 answers a hang-up for the one before that another start has ended meanwhile',
      {
        beginning: 'none',
        behaviours: [
          { pace: 'never', yields: 0, keeps: false, prompts: 1, bargeIn: true, promptMs: 1000, deed: 'listen' },
          { pace: 'at_once', yields: 0, keeps: false, prompts: 1, bargeIn: true, promptMs: 1000, deed: 'listen' },
        ],
        acts: [
          { kind: 'open', first: 'session_start', halfClose: true, together: false },
          { kind: 'open', first: 'session_start', halfClose: false, together: false },
          { kind: 'open', first: 'session_end', halfClose: false, together: false },
          { kind: 'open', first: 'session_start', halfClose: false, together: false },
          { kind: 'open', first: 'session_start', halfClose: false, together: false },
          { kind: 'open', first: 'dtmf', halfClose: false, together: false },
        ],
      },
    ],
  ])('%s', async (_what, program) => {
    const { wrong, exchange } = await play({ ...CALL, hasNotes: false, welcomeBargeIn: false, ...program }, { isTraced: true });
    expect(wrong).toBeUndefined();
    expect(exchange.filter((line) => line.startsWith('the bot is asked: session_start'))).not.toEqual([]);
  });
});

describe('the reference', () => {
  it.each(MISTAKES)(
    'finds %s',
    async (_mistake, rule, mistreat) => {
      const { found } = await hunt(RUNS, SEED, { between: (sink) => new BrokenWire(sink, mistreat) });
      expect(found?.wrong).toMatch(rule);
    },
    LIMIT_MS,
  );

  it('writes down what happened as an exchange', async () => {
    const { exchange, wrong } = await play(CALL, { isTraced: true });
    expect(wrong).toBeUndefined();
    expect(exchange.filter((line) => line.startsWith('RPC'))).toEqual([
      'RPC1 > SESSION_START',
      'RPC1 > half-close',
      'RPC1 < CHUNK "RPC1 part 1, 1000 ms"',
      'RPC1 < FINAL listen',
      'RPC1 < complete',
      'RPC2 > speech frames',
      'RPC2 < START_OF_INPUT',
      'RPC2 > silence frames',
      'RPC2 < END_OF_INPUT',
      'RPC2 < CHUNK "RPC2 part 1, 1000 ms"',
      'RPC2 < FINAL listen',
      'RPC2 < complete',
      'RPC3 > SESSION_END',
      'RPC3 > half-close',
      'RPC3 < FINAL gone',
      'RPC3 < complete',
    ]);
  });
});

/** One welcome, one utterance over it, a hang-up. */
const CALL: Program = {
  mode: 'chunk',
  slow: { voice: false, recognizer: false },
  voice: 'ready',
  recognizer: 'none',
  hasFiller: false,
  hasNotes: true,
  welcomeBargeIn: true,
  maxDurationMs: 3_600_000,
  behaviours: [{ pace: 'at_once', yields: 0, keeps: false, prompts: 1, bargeIn: true, promptMs: 1000, deed: 'listen' }],
  beginning: 'here',
  acts: [
    { kind: 'open', first: 'speech', halfClose: false, together: false },
    { kind: 'send', rpc: 0, input: 'silence', together: false },
  ],
  leaving: 'hang_up',
};

/** A reply that never came because the caller talked over it; a recognizer so slow that a filler is heard, and a key over it. */
const EARLY_FILLER: Program = {
  ...CALL,
  slow: { voice: false, recognizer: true },
  recognizer: 'words',
  hasFiller: true,
  hasNotes: false,
  welcomeBargeIn: false,
  behaviours: [
    { pace: 'at_once', yields: 0, keeps: false, prompts: 1, bargeIn: true, promptMs: 5, deed: 'listen' },
    { pace: 'never', yields: 0, keeps: false, prompts: 1, bargeIn: true, promptMs: 1000, deed: 'listen' },
  ],
  acts: [
    { kind: 'open', first: 'dtmf', halfClose: false, together: false },
    { kind: 'wait', ms: 20, together: false },
    { kind: 'open', first: 'dtmf', halfClose: false, together: false },
    { kind: 'open', first: 'speech', halfClose: true, together: false },
    { kind: 'wait', ms: 3000, together: false },
    { kind: 'open', first: 'dtmf', halfClose: false, together: false },
  ],
};
