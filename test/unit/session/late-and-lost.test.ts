// Servers that share calls, and a store that hears of things late, not at all, or from a server that was overtaken: what callers
// and bots must not notice of it.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import type { Bot } from '../../../src/bot/bot.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall, MemorySink } from '../../support/memory-transport.ts';
import { TEST_LEASE_MS } from '../../support/shared-store.ts';
import { after, begun, gateOf, two, type Two } from '../../support/two-engines.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };
const away = new AppError('store_unavailable', 'away');

interface State {
  readonly n: number;
}

/** A bot that is told of turns and ends, and says what it was told; `8` makes it say goodbye, and `1` waits for the gate. */
function telling(opened: Promise<void> = Promise.resolve()) {
  const told: string[] = [];
  const ids: string[] = [];
  const made: Bot = bot<State>({
    id: 'telling',
    name: 'Telling',
    version: 1,
    session_start: ({ parameters }) => {
      told.push(`session_start ${JSON.stringify(parameters)}`);
      return go({ n: 0 }, say('Welcome.').listen());
    },
    async dtmf_input(state, { digits }, { turnId }) {
      ids.push(turnId);
      if (digits === '8') return go(state, say('Goodbye.').end('done'));
      if (digits === '1') await opened;
      return go({ n: state.n + 1 }, say(`Input ${String(state.n + 1)}.`).listen());
    },
    otherwise: (state) => go(state, say('What?').listen()),
    turn_started: () => void told.push('turn_started'),
    turn_ended: () => void told.push('turn_ended'),
    session_end: (_state, { by }) => void told.push(`session_end ${by}`),
  });
  return { made, told, ids };
}

/** How long the turn takes to be over, ms, in steps of 50. */
async function timed({ clock }: Two, sink: MemorySink): Promise<number> {
  const fromMs = clock.monotonicMs();
  while (sink.end === 'open') {
    if (clock.monotonicMs() - fromMs > 60_000) break;
    await clock.advanceAsync(50);
  }
  return clock.monotonicMs() - fromMs;
}

describe('an input behind notes to its bot', () => {
  it('waits for another server hardly longer than alone, however many they are', async () => {
    const all = await two({ turnDeadlineMs: 3000 }, [1, 1], telling().made);
    await begun(all);
    Object.assign(all.place.of(KEY), { owner: 'a', untilMs: all.clock.monotonicMs() + 120_000 });
    for (let stream = 0; stream < 3; stream += 1) (await new MemoryCall(all.b.sessions).open()).turn.halfClose();
    const { sink } = await new MemoryCall(all.b.sessions).open({ kind: 'dtmf', digits: '2' });
    expect(await timed(all, sink)).toBeLessThanOrEqual(4000);
    expect(sink.texts).toEqual([TEST_SETTINGS.apology]);
  });

  it('waits for a store that is away as long as alone, and half a second', async () => {
    const all = await two({}, [1, 1], telling().made);
    await begun(all);
    await new MemoryCall(all.b.sessions).press('2');
    await all.clock.advanceAsync(1000);
    all.place.before = () => Promise.reject(away);
    (await new MemoryCall(all.b.sessions).open()).turn.halfClose();
    const { sink } = await new MemoryCall(all.b.sessions).open({ kind: 'dtmf', digits: '2' });
    expect(await timed(all, sink)).toBeLessThanOrEqual(3600);
    expect(sink.next?.kind).toBe('transfer');
  });
});

describe('an apology for an input that another server keeps waiting', () => {
  it('G-83 asks for it again as it was asked for, sensitive and with all of its digits', async () => {
    const card: Bot = bot<null>({
      id: 'card',
      name: 'Card',
      version: 1,
      session_start: () => go(null, say('Your card number?').listen({ digits: 16, sensitive: true })),
      otherwise: () => go(null, say('Thank you.').listen()),
    });
    const all = await two({ turnDeadlineMs: 3000 }, [1, 1], card);
    await begun(all);
    Object.assign(all.place.of(KEY), { owner: 'a', untilMs: all.clock.monotonicMs() + 120_000 });
    const { sink } = await new MemoryCall(all.b.sessions).open({ kind: 'dtmf', digits: '4111' });
    await timed(all, sink);
    expect([sink.texts, sink.next]).toMatchObject([[TEST_SETTINGS.apology], { kind: 'listen', digits: 16, sensitive: true }]);
  });
});

describe('an input behind a slow one', () => {
  it('still waits for a store that is away for a moment', async () => {
    const gate = gateOf();
    const all = await two({}, [1, 1], telling(gate.opened).made);
    const { a, clock, place } = all;
    await begun(all);
    const first = new MemoryCall(a.sessions).press('1');
    await clock.advanceAsync(50);
    const second = await new MemoryCall(a.sessions).open({ kind: 'custom_event', name: 'x', parameters: {} });
    await clock.advanceAsync(9900);
    const fromMs = clock.monotonicMs();
    place.before = (operation) => (operation === 'claim' && clock.monotonicMs() - fromMs < 600 ? Promise.reject(away) : undefined);
    gate.open();
    await after(clock, 3000, first);
    expect([second.sink.texts, second.sink.next?.kind]).toEqual([['What?'], 'listen']);
  });
});

describe('words of which the store hears late', () => {
  it('are not taken for words that are being heard', async () => {
    const all = await two();
    const { a, b, clock, place, asked, notes } = all;
    await begun(all);
    place.before = (operation, owner) => (operation === 'release' && owner === 'a' ? Promise.reject(away) : undefined);
    // Two seconds of words.
    await new MemoryCall(a.sessions).press('9');
    await clock.advanceAsync(8000);
    place.before = () => undefined;
    await clock.advanceAsync(200);
    await new MemoryCall(b.sessions).press('1');
    expect(asked.at(-1)).toMatchObject({ heard: { complete: true, ms: 2000 } });
    expect(notes).toEqual([]);
  });
});

describe('a call that the store has lost and that was written down again', () => {
  it('counts its turns on from where they were', async () => {
    const { made, ids } = telling();
    const all = await two({}, [1, 1], made);
    const { a, b, clock, place } = all;
    await begun(all);
    const press = async ({ sessions }: Two['a']): Promise<void> => {
      await new MemoryCall(sessions).press('2');
      await clock.advanceAsync(1000);
    };
    for (const server of [a, b, a]) await press(server);
    place.before = (operation) => {
      if (operation === 'commit') place.calls.clear();
    };
    await press(a);
    place.before = () => undefined;
    for (const server of [a, b, a, b]) await press(server);
    expect(new Set(ids).size).toBe(8);
  });
});

describe('a bot whose call has ended on another server', () => {
  it('is told of nothing any more', async () => {
    const { made, told } = telling();
    const all = await two({}, [1, 1], made);
    const { a, b, clock, place } = all;
    await begun(all);
    await new MemoryCall(a.sessions).press('8');
    await clock.advanceAsync(2000);
    expect(told).toContain('session_end bot_end');
    told.length = 0;
    (await new MemoryCall(b.sessions).open()).turn.halfClose();
    const session = await b.sessions.find(KEY);
    session?.beginTurn(new MemorySink(), true).push({ kind: 'session_end' });
    await clock.advanceAsync(2000);
    expect([told, place.of(KEY).record]).toMatchObject([[], { ended: true, closed: true, state: null }]);
  });
});

describe('a server that dies in the first answer of a call', () => {
  it('leaves what the call began with, so that the bot begins with it again', async () => {
    const { made, told } = telling();
    const { a, b, clock, place } = await two({}, [1, 1], made);
    place.before = (operation, owner) => (operation === 'commit' && owner === 'a' ? place.kill('a') : undefined);
    const parameters = { name: 'Ann' };
    void new MemoryCall(a.sessions, { parameters }).turn({ kind: 'session_start', name: '', parameters });
    await flushMicrotasks();
    await after(clock, TEST_LEASE_MS + 100, new MemoryCall(b.sessions).press('2'));
    expect(told.filter((line) => line.startsWith('session_start'))).toEqual(Array(2).fill('session_start {"name":"Ann"}'));
  });
});

describe('calls that are turned away together', () => {
  it('leave nothing in the store', async () => {
    const { a, clock, place } = await two({ maxSessions: 2 });
    const starts = Array.from({ length: 10 }, (_, call) => new MemoryCall(a.sessions, { conversationId: `call-${String(call)}` }).start());
    const results = await Promise.allSettled(starts);
    await clock.advanceAsync(3000);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect([...place.calls.values()].filter(({ record }) => record !== undefined)).toHaveLength(2);
  });
});

describe('a hang-up of which the store does not hear', () => {
  it('is found out by the server that had the call last, which tells the bot', async () => {
    const all = await two();
    const { b, clock, place, notes } = all;
    await begun(all);
    place.before = (operation, owner) => (operation === 'open' && owner === 'b' ? Promise.reject(away) : undefined);
    const found = b.sessions.find(KEY);
    await clock.advanceAsync(4000);
    expect(await found).toBeUndefined();
    place.before = () => undefined;
    await clock.advanceAsync(TEST_SETTINGS.idleTimeoutMs + 200_000);
    expect(notes).toEqual(['session_end idle']);
  });
});

describe('a store that is told to keep a long call, and does not hear it', () => {
  it('is told again at the next look', async () => {
    const all = await two();
    const { a, clock, place } = all;
    await begun(all);
    const { turn } = await new MemoryCall(a.sessions).open();
    const atMs: number[] = [];
    place.before = (operation) => {
      if (operation !== 'touch') return undefined;
      atMs.push(clock.monotonicMs());
      return atMs.length === 1 ? Promise.reject(away) : undefined;
    };
    for (let minute = 0; minute < 8; minute += 1) {
      turn.push({ kind: 'audio', audio: new Uint8Array(160).fill(0xff), encoding: 'mulaw', sampleRateHz: 8000 });
      await clock.advanceAsync(60_000);
    }
    expect((atMs[1] ?? Infinity) - (atMs[0] ?? 0)).toBeLessThan(20_000);
  });
});
