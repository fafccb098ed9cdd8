// Whatever a platform sends, in whatever order: what must hold on every socket.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { encodeMulaw, MULAW_SILENCE } from '../../../../src/speech/g711.ts';
import { readWav } from '../../../../src/speech/wav.ts';
import { PEER_CLOSE_MS, socketBench, type PlatformSocket } from '../../../support/call-socket.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';

const SENTENCE = encodeMulaw(readWav(readFileSync(new URL('../../../fixtures/speech/sentence.wav', import.meta.url))).samples);
const SILENCE = new Uint8Array(16_000).fill(MULAW_SILENCE);

/** Does everything a bot can do, by the keys it is given; takes its time for it. */
function whimsical(clock: FakeClock): ReturnType<typeof bot> {
  return bot<number>({
    id: 'whimsical',
    name: 'Whimsical',
    version: 1,
    session_start: () => go(0, say('Welcome to a bot that does what it likes.').listen()),
    dtmf_input: async function* (state, { digits }) {
      yield say('A moment.');
      await new Promise<void>((resolve) => {
        clock.after(digits.length * 80, resolve);
      });
      if (digits.startsWith('1')) return go(state, say('Goodbye.').end('done'));
      if (digits.startsWith('2')) return go(state, say('To a human.').transfer({ reason: 'asked' }));
      if (digits.startsWith('3')) throw new Error('whim');
      if (digits.startsWith('4')) return go(state, say('Nobody cuts this short. '.repeat(9), { bargeIn: false }).listen());
      return go(state + 1, say('Done. '.repeat(40)).listen({ accept: digits.startsWith('5') ? 'keys' : 'both' }));
    },
    otherwise: (state) => go(state + 1, say('What did you say?').listen()),
  });
}

type Step = (platform: PlatformSocket, advance: (ms: number) => Promise<void>) => Promise<void> | void;

const NUMBERS = ['ZERO', 'ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX', 'POUND'];
const legal: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((platform) => {
    platform.audio(SENTENCE);
  }),
  fc.constant<Step>((platform) => {
    platform.audio(SILENCE);
  }),
  fc.constantFrom('NO_INPUT', 'START_OF_DTMF', 'CUSTOM_EVENT', 'LATER').map<Step>((event) => (platform) => {
    platform.event(event, { name: 'n' });
  }),
  fc.array(fc.constantFrom(...NUMBERS), { maxLength: 3 }).map<Step>((keys) => (platform) => {
    platform.press(...keys.map((key) => `DTMF_DIGIT_${key}`));
  }),
  fc.constantFrom('PING', 'PONG').map<Step>((type) => (platform) => {
    platform.envelope({ type });
  }),
);
const waits: fc.Arbitrary<Step> = fc.constantFrom(0, 50, 200, 1000, 4000).map((ms) => (_platform, advance) => advance(ms));
const illegal: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom('SESSION_START', 'SESSION_END').map<Step>((event) => (platform) => {
    platform.event(event);
  }),
  fc.string().map<Step>((text) => (platform) => {
    platform.text(text);
  }),
  fc.constant<Step>((platform) => {
    platform.call.received(Buffer.alloc(5), true);
  }),
  fc.constant<Step>((platform) => {
    platform.envelope({ type: 'PING', seq: 1 });
  }),
  fc.boolean().map<Step>((isRead) => (platform) => {
    platform.socket.isRead = isRead;
    if (isRead) platform.socket.read();
  }),
  fc.constant<Step>((platform) => {
    platform.call.closed();
  }),
);
const steps = fc.array(fc.oneof({ weight: 12, arbitrary: legal }, { weight: 8, arbitrary: waits }, { weight: 1, arbitrary: illegal }), {
  minLength: 3,
  maxLength: 25,
});

/** Inputs that are answered, and what ends a call from here: no more replies than these may end with a FINAL. */
function dueFinals(platform: PlatformSocket, sent: readonly string[]): number {
  return sent.length + platform.socket.said.filter((word) => word === 'END').length + 1;
}

describe('a socket', () => {
  it('W-10 W-24 W-28 W-29: numbers its messages upwards, ends each reply once, says nothing after the end, and leaves nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 0, max: 9 }), async (sequence, chance) => {
        const clock = new FakeClock();
        const bench = await socketBench([whimsical(clock)], { clock, settings: { fillerAfterMs: 500, maxFarewellMs: 1000 } });
        const platform = bench.open();
        const inputs: string[] = [];
        const counted = platform.request.bind(platform);
        platform.request = (input, payload, head) => {
          const text = JSON.stringify(input);
          if (/dtmf_events|SESSION_START|NO_INPUT|CUSTOM_EVENT/u.test(text)) inputs.push(text);
          counted(input, payload, head);
        };
        if (chance > 0) await platform.start();
        for (const step of sequence) {
          await step(platform, (ms) => clock.advanceAsync(ms));
          await flushMicrotasks();
        }
        await clock.advanceAsync(30_000);
        const { socket } = platform;

        const numbers = socket.sent.flatMap((envelope) => (envelope.type === 'PONG' ? [] : [envelope.seq]));
        expect(numbers).toEqual(numbers.map((_, index) => index + 1));
        expect(socket.late).toEqual([]);

        const { said } = socket;
        const finals = said.filter((word) => word.startsWith('FINAL'));
        expect(finals.length).toBeLessThanOrEqual(dueFinals(platform, inputs));
        const last = said.findIndex((word) => word.startsWith('FINAL+') || word.startsWith('ERROR'));
        if (last !== -1) expect(said.slice(last + 1).filter((word) => word !== 'PONG' && !word.startsWith('ERROR'))).toEqual([]);
        // Keys may take the place of speech, so that its end is never said; no end is said without a start.
        let open = 0;
        for (const word of said) {
          open += Number(word === 'START') - Number(word === 'END');
          expect(open).toBeGreaterThanOrEqual(0);
        }

        platform.call.closed();
        await clock.advanceAsync(PEER_CLOSE_MS);
        expect([clock.pendingTimers - 1, bench.sessions.openTurns, bench.sessions.size, bench.listeners.size]).toEqual([0, 0, 0, 0]);
        expect(bench.log.lines.filter(({ level, code }) => level === 'error' && code !== 'bot_failed')).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
