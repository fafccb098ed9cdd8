// Checkpoints that a handler makes with `yield keep(state)`: from which state a call goes on, whatever becomes of the handler.
import { describe, expect, it } from 'vitest';
import { bot, go, keep, say, type Bot, type KeepOptions } from '../../../src/bot/index.ts';
import { testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { begun, homes, LeftSnapshots } from '../../support/homes.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { turnDeadlineMs } = TEST_SETTINGS;
const { apology } = TEST_SETTINGS.lines;
/** Longer than a handler has that nobody waits for. */
const PAST_GRACE_MS = 400;

interface Booked {
  readonly booked: number;
}

/** What happens after the checkpoint of a handler. */
type After = () => Promise<void>;

/** Books on key 1, with a checkpoint before `after`; says how often it has booked on any other key. */
function booking(after: After, options: KeepOptions & { readonly inWelcome?: boolean } = {}): Bot {
  return bot<Booked>({
    id: 'booking',
    name: 'Booking',
    version: 1,
    async *session_start() {
      yield keep({ booked: 0 });
      if (options.inWelcome === true) await after();
      return go({ booked: 0 }, say('Welcome.').listen());
    },
    async *dtmf_input(state, { digits }) {
      if (digits !== '1') return go(state, say(`Booked ${String(state.booked)}.`).listen());
      const next = { booked: state.booked + 1 };
      yield keep(next, options);
      await after();
      return go({ booked: next.booked + 100 }, say('Done.').listen());
    },
    otherwise: (state) => go(state, say(`Booked ${String(state.booked)}, it seems.`).listen()),
  });
}

const never: After = () => new Promise(() => undefined);
const broken: After = () => Promise.reject(new Error('broken'));

async function calling(shop: Bot) {
  const engine = await testEngine([shop]);
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await engine.clock.advanceAsync(5000);
  return { ...engine, call };
}

describe('a checkpoint', () => {
  it('gives way to the state of the answer', async () => {
    const { call } = await calling(booking(() => Promise.resolve()));
    await call.press('1');
    expect((await call.press('2')).texts).toEqual(['Booked 101.']);
  });

  it('counts when the handler then throws', async () => {
    const { call } = await calling(booking(broken));
    expect((await call.press('1')).texts).toEqual([apology]);
    expect((await call.press('2')).texts).toEqual(['Booked 1.']);
  });

  it('counts when the handler then takes too long', async () => {
    const { call, clock } = await calling(booking(never));
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(turnDeadlineMs);
    expect(sink.texts).toEqual([apology]);
    expect((await call.press('2')).texts).toEqual(['Booked 1.']);
  });

  it('counts when the caller interrupts the handler, which does not end', async () => {
    const { call, clock } = await calling(booking(never));
    await call.open({ kind: 'dtmf', digits: '1' });
    const { sink } = await call.open({ kind: 'dtmf', digits: '2' });
    await clock.advanceAsync(PAST_GRACE_MS);
    expect(sink.texts).toEqual(['Booked 1.']);
  });

  it('does not count when nobody waits for the handler any more, which is ended', async () => {
    const ended: string[] = [];
    let goOn: () => void = () => undefined;
    const slow = bot<Booked>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: () => go({ booked: 0 }, say('Welcome.').listen()),
      async *dtmf_input(state, { digits }) {
        if (digits !== '1') return go(state, say(`Booked ${String(state.booked)}.`).listen());
        try {
          await new Promise<void>((resolve) => (goOn = resolve));
          yield keep({ booked: 1 });
          ended.push('went on');
        } finally {
          ended.push('finally');
        }
        return go(state, say('Done.').listen());
      },
      otherwise: (state) => go(state, say('What?').listen()),
    });
    const { call, clock } = await calling(slow);
    await call.open({ kind: 'dtmf', digits: '1' });
    const { sink } = await call.open({ kind: 'dtmf', digits: '2' });
    await clock.advanceAsync(PAST_GRACE_MS);
    goOn();
    await flushMicrotasks();
    expect([sink.texts, ended]).toEqual([['Booked 0.'], ['finally']]);
    expect((await call.press('2')).texts).toEqual(['Booked 0.']);
  });

  it('in the welcome begins the call: a welcome that then fails is not asked for again', async () => {
    const { call, clock } = await calling(booking(broken, { inWelcome: true }));
    await clock.advanceAsync(5000);
    expect((await call.press('2')).texts).toEqual(['Booked 0.']);
  });

  it('is as large as a state may be, else the handler has failed and the state is the old one', async () => {
    const large = bot<{ readonly text: string }>({
      id: 'large',
      name: 'Large',
      version: 1,
      session_start: () => go({ text: '' }, say('Welcome.').listen()),
      *dtmf_input(state, { digits }) {
        if (digits === '1') yield keep({ text: 'x'.repeat(TEST_SETTINGS.maxStateBytes) });
        return go(state, say(`${String(state.text.length)} characters.`).listen());
      },
      otherwise: (state) => go(state, say('What?').listen()),
    });
    const { call } = await calling(large);
    expect((await call.press('1')).texts).toEqual([apology]);
    expect((await call.press('2')).texts).toEqual(['0 characters.']);
  });
});

describe('a checkpoint of a call whose home dies', () => {
  it('is what the next home goes on from', async () => {
    const all = await homes({}, [1, 1], booking(never));
    await begun(all);
    await new MemoryCall(all.a.sessions).open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect((await all.next().press('2')).texts).toEqual(['Booked 1.']);
  });

  it('that is durable waits until the store has it', async () => {
    const left = new LeftSnapshots();
    let stored: () => void = () => undefined;
    left.stored = new Promise((resolve) => (stored = resolve));
    const { sessions, clock } = await testEngine([booking(() => Promise.resolve(), { durable: true })], { snapshots: left });
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(5000);
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect(sink.texts).toEqual([]);
    expect(left.asked.slice(-2)).toEqual(['save call-1', 'saved call-1']);
    expect(left.newest()).toMatchObject({ state: { booked: 1 } });
    stored();
    await flushMicrotasks();
    expect(sink.texts).toEqual(['Done.']);
  });
});
