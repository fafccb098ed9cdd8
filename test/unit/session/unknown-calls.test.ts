// Calls of which the shared store knows little or nothing: before their first commit, after it has lost them, and while it is away.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall, MemorySink } from '../../support/memory-transport.ts';
import { after, begun, gateOf, two } from '../../support/two-engines.ts';

const away = new AppError('store_unavailable', 'away');

/** A bot whose welcome is said while it still thinks, until the gate opens. */
function slowlyWelcoming() {
  const gate = gateOf();
  const seen: string[] = [];
  const slow = bot<null>({
    id: 'slow',
    name: 'Slow',
    version: 1,
    async *session_start() {
      yield say('W'.repeat(50));
      await gate.opened;
      return go(null, say('Go on.').listen());
    },
    dtmf_input: (_state, { digits }, { call }) => {
      seen.push(`${digits} ${JSON.stringify(call.parameters)}`);
      return go(null, say('Thanks.').listen());
    },
    otherwise: () => go(null, say('What?').listen()),
    session_end: (_state, { by }) => void seen.push(`session_end ${by}`),
  });
  return { gate, seen, slow };
}

describe('a call whose first answer is still being made', () => {
  it('G-15 is known with all that it began with to a stream on another server', async () => {
    const { gate, seen, slow } = slowlyWelcoming();
    const { a, b, clock } = await two({}, [1, 1], slow);
    const start = new MemoryCall(a.sessions, { parameters: { name: 'Ann' } }).start();
    await flushMicrotasks();
    const next = await new MemoryCall(b.sessions).open();
    gate.open();
    await after(clock, 100, start);
    next.turn.push({ kind: 'dtmf', digits: '1' });
    await after(clock, 200, next.sink.ended());
    expect([seen, next.sink.texts]).toEqual([['1 {"name":"Ann"}'], ['Thanks.']]);
  });

  it('G-53 stops speaking when its caller acts on another server', async () => {
    const { gate, slow } = slowlyWelcoming();
    const { a, b, clock } = await two({}, [1, 1], slow);
    const start = new MemoryCall(a.sessions).start();
    await flushMicrotasks();
    await new MemoryCall(b.sessions).turn({ kind: 'dtmf_start' });
    gate.open();
    await clock.advanceAsync(100);
    expect((await start).texts).toEqual(['W'.repeat(50)]);
  });

  it('G-74 is told to have ended when its caller hangs up on another server', async () => {
    const { gate, seen, slow } = slowlyWelcoming();
    const { a, b, clock } = await two({}, [1, 1], slow);
    const start = new MemoryCall(a.sessions).start();
    await flushMicrotasks();
    const session = await b.sessions.find({ organizationId: 'org', conversationId: 'call-1' });
    expect(session).toBeDefined();
    const hangUp = new MemoryCall(b.sessions).hangUp();
    await clock.advanceAsync(100);
    gate.open();
    await after(clock, 1000, Promise.all([start, hangUp]));
    expect(seen).toEqual(['session_end caller']);
  });
});

describe('a call that the store has lost', () => {
  it('while its bot thinks is answered all the same, and kept again', async () => {
    const all = await two();
    const { a, b, clock, place } = all;
    await begun(all);
    place.before = (operation) => {
      if (operation === 'commit') place.calls.clear();
    };
    expect((await after(clock, 100, new MemoryCall(a.sessions).press('1'))).texts).toEqual(['Input 1.']);
    place.before = () => undefined;
    await clock.advanceAsync(1000);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 2.']);
  });
});

describe('a note to the bot', () => {
  it('waits as long for its call as an answer would, because whatever follows needs the call as well', async () => {
    const gate = gateOf();
    const notes: string[] = [];
    const noting = bot<null>({
      id: 'noting',
      name: 'Noting',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      dtmf_input: async () => {
        await gate.opened;
        return go(null, say('Thanks.').listen());
      },
      otherwise: () => go(null, say('What?').listen()),
      turn_started: (_state, _event, { turnId }) => void notes.push(turnId),
    });
    const all = await two({}, [1, 1], noting);
    const { a, b, clock } = all;
    await begun(all);
    notes.length = 0;
    const busy = new MemoryCall(a.sessions).press('1');
    await clock.advanceAsync(50);
    await new MemoryCall(b.sessions).open();
    await clock.advanceAsync(2000);
    gate.open();
    await after(clock, 1000, busy);
    expect(notes).toEqual(['call-1#2', 'call-1#3']);
    expect(b.seen.filter((line) => line.startsWith('bot_failed'))).toEqual([]);
  });

  it('does not let the answer behind it wait for longer than any answer may', async () => {
    const all = await two({ turnDeadlineMs: 3000 });
    const { b, place, clock } = all;
    await begun(all);
    Object.assign(place.of({ organizationId: 'org', conversationId: 'call-1' }), { owner: 'a', untilMs: clock.monotonicMs() + 60_000 });
    const turn = await after(clock, 3100, new MemoryCall(b.sessions).press('1'));
    expect(turn.texts).toEqual([TEST_SETTINGS.apology]);
  });
});

describe('while the store is away', () => {
  it('a new call is refused at once', async () => {
    const { a, place, clock } = await two();
    place.before = () => Promise.reject(away);
    const refused = expect(new MemoryCall(a.sessions).start()).rejects.toMatchObject({
      code: 'store_unavailable',
      details: { reason: 'store' },
    });
    await refused;
    expect([a.seen, clock.pendingTimers]).toEqual([['call_refused store'], expect.any(Number)]);
  });

  it('the turn of a call that has begun elsewhere waits, and goes on when the store is back', async () => {
    const all = await two();
    const { b, place, clock } = all;
    await begun(all);
    place.before = () => Promise.reject(away);
    const turn = new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(2000);
    place.before = () => undefined;
    expect((await after(clock, 200, turn)).texts).toEqual(['Input 1.']);
  });

  it('such a turn is refused when the store does not come back in time', async () => {
    const all = await two();
    const { b, place, clock } = all;
    await begun(all);
    place.before = () => Promise.reject(away);
    const refused = expect(new MemoryCall(b.sessions).press('1')).rejects.toMatchObject({ code: 'store_unavailable' });
    await clock.advanceAsync(3200);
    await refused;
    expect(b.seen).toEqual(['call_refused store']);
  });

  it('a caller who hangs up is waited for as well, so that the bot is told', async () => {
    const all = await two();
    const { b, place, clock, notes } = all;
    await begun(all);
    place.before = () => Promise.reject(away);
    const found = b.sessions.find({ organizationId: 'org', conversationId: 'call-1' });
    await clock.advanceAsync(1000);
    place.before = () => undefined;
    await clock.advanceAsync(200);
    expect(await found).toBeDefined();
    await after(clock, 100, new MemoryCall(b.sessions).hangUp());
    expect(notes).toEqual(['session_end caller']);
  });
});

describe('a call that stays on one stream for long', () => {
  it('is kept by the store for as long as its caller is there', async () => {
    const all = await two();
    const { a, place, clock } = all;
    await begun(all);
    const { turn } = await new MemoryCall(a.sessions).open();
    const touched: number[] = [];
    place.before = (operation) => {
      if (operation === 'touch') touched.push(clock.monotonicMs());
    };
    const fromMs = clock.monotonicMs();
    for (let minute = 0; minute < 30; minute += 1) {
      turn.push({ kind: 'audio', audio: new Uint8Array(160).fill(0xff), encoding: 'mulaw', sampleRateHz: 8000 });
      await clock.advanceAsync(60_000);
    }
    const half = TEST_SETTINGS.idleTimeoutMs / 2;
    expect(touched.length).toBeGreaterThan(3);
    expect(touched.every((ms, index) => ms - (touched[index - 1] ?? fromMs) < half + 10_000)).toBe(true);
  });
});

describe('a caller who hangs up on a server that is about to stop', () => {
  it('is told to the bot before the server stops', async () => {
    const gate = gateOf();
    const all = await two();
    const { a, b, clock, notes, place } = all;
    await begun(all);
    await new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(1000);
    // Something else keeps the server until its last moment.
    await new MemoryCall(a.sessions, { conversationId: 'busy' }).start();
    await clock.advanceAsync(1000);
    place.before = (operation, owner) => (operation === 'commit' && owner === 'a' ? gate.opened : undefined);
    void new MemoryCall(a.sessions, { conversationId: 'busy' }).press('1');
    await flushMicrotasks();
    const closing = a.sessions.close(4000);
    await clock.advanceAsync(3000);
    const session = await a.sessions.find({ organizationId: 'org', conversationId: 'call-1' });
    session?.beginTurn(new MemorySink(), true).push({ kind: 'session_end' });
    gate.open();
    await after(clock, 6000, closing);
    expect([notes, a.sessions.size]).toEqual([['session_end caller'], 0]);
  });
});
