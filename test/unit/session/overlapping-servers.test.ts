// What happens between two servers that have turns of one call at the same moment, or that fail in the middle of one.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { TEST_SETTINGS } from '../../support/engine.ts';
import { MemoryCall, MemorySink } from '../../support/memory-transport.ts';
import { TEST_LEASE_MS } from '../../support/shared-store.ts';
import { after, begun, gateOf, two } from '../../support/two-engines.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };
const away = new AppError('store_unavailable', 'away');

describe('a session whose call goes on elsewhere', () => {
  it('takes no turn that opens while it is given up, and ends once', async () => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    await new MemoryCall(b.sessions).press('1');
    const gate = gateOf();
    place.before = (operation, owner) => (operation === 'open' && owner === 'a' ? gate.opened : undefined);
    const opening = new MemoryCall(a.sessions).open();
    await clock.advanceAsync(9000);
    expect(a.seen).toContain('session_ended moved');
    gate.open();
    const { turn } = await opening;
    place.before = () => undefined;
    turn.push({ kind: 'session_end' });
    await clock.advanceAsync(1000);
    expect(a.sessions.size).toBe(0);
    expect(a.seen.filter((line) => line.startsWith('session_ended'))).toEqual(['session_ended moved', 'session_ended caller']);
  });

  it('gives its place up also when it is swept while the store is away', async () => {
    const all = await two();
    const { a, place, clock } = all;
    await begun(all);
    place.before = () => Promise.reject(away);
    await clock.advanceAsync(TEST_SETTINGS.idleTimeoutMs + TEST_SETTINGS.sweepMs + 1);
    place.before = () => undefined;
    await clock.advanceAsync(120_000);
    expect(a.sessions.size).toBe(0);
  });

  it('leaves the call alone when it is swept, and is taken for the one that has it only while the store is away', async () => {
    // A caller who is never told to hurry is awaited for as long as the session is there.
    const all = await two({ listen: { ...TEST_SETTINGS.listen, accept: 'keys', noInputMs: 0 } });
    const { a, b, clock, notes, place } = all;
    const { idleTimeoutMs, sweepMs } = TEST_SETTINGS;
    await begun(all);
    await clock.advanceAsync(idleTimeoutMs / 2);
    await new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(idleTimeoutMs / 2 + sweepMs);
    expect([a.sessions.size, a.seen.at(-1), notes]).toEqual([0, 'session_ended moved', []]);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 2.']);
    place.before = (operation) => (operation === 'serves' ? Promise.reject(away) : undefined);
    await clock.advanceAsync(idleTimeoutMs + sweepMs);
    expect([b.sessions.size, b.seen.at(-1), notes]).toEqual([0, 'session_ended idle', ['session_end idle']]);
  });

  it('completes a stream on which nothing came for too long, also when its call goes on elsewhere', async () => {
    const all = await two();
    const { a, b, clock } = all;
    await begun(all);
    const { sink } = await new MemoryCall(a.sessions).open();
    await clock.advanceAsync(TEST_SETTINGS.idleTimeoutMs / 2);
    await new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(TEST_SETTINGS.idleTimeoutMs / 2 + TEST_SETTINGS.sweepMs);
    expect([sink.end, sink.outputs, a.seen.at(-1)]).toEqual(['complete', [], 'session_ended moved']);
  });

  it('G-93 counts the length of a call from its start, wherever that was', async () => {
    const all = await two({ maxDurationMs: 300_000 });
    const { a, b, clock } = all;
    await begun(all);
    const nexts: (string | undefined)[] = [];
    for (let turn = 0; turn < 12; turn++) {
      await clock.advanceAsync(30_000);
      nexts.push((await after(clock, 100, new MemoryCall((turn % 2 === 0 ? b : a).sessions).press('1'))).next?.kind);
    }
    expect(nexts).toContain('transfer');
    expect(nexts.indexOf('transfer')).toBeGreaterThan(7);
  });
});

describe('a reply', () => {
  it('is owed until somebody has heard it, also when the server that repeats it is cut short', async () => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    place.dying.add('a');
    void new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    const first = new MemoryCall(b.sessions).press('1');
    await flushMicrotasks();
    const second = new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(TEST_LEASE_MS + 100);
    expect([...(await first).texts, ...(await second).texts]).toContain('Input 1.');
  });

  it('is not said again because the store did not hear that it was heard', async () => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    place.before = (operation, owner) => (operation === 'release' && owner === 'a' ? Promise.reject(away) : undefined);
    expect((await new MemoryCall(a.sessions).press('1')).texts).toEqual(['Input 1.']);
    await flushMicrotasks();
    place.before = () => undefined;
    await clock.advanceAsync(3000);
    expect((await after(clock, TEST_LEASE_MS, new MemoryCall(b.sessions).press('1'))).texts).toEqual(['Input 2.']);
  });

  it('is owed until it has left the process that has said it', async () => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    const gate = gateOf();
    const sink = Object.assign(new MemorySink(), { onceSent: (listener: () => void) => void gate.opened.then(listener) });
    const session = await a.sessions.acquire({ ...KEY, agentId: '', vendorConfig: '', parameters: {} });
    session.beginTurn(sink).push({ kind: 'dtmf', digits: '1' });
    await sink.ended();
    // Long enough for a store that is told too early.
    await flushMicrotasks();
    // It dies with what it has written, and the platform says the turn again.
    void place.kill('a');
    gate.open();
    const repeated = new MemoryCall(b.sessions).press('1');
    expect((await after(clock, TEST_LEASE_MS + 100, repeated)).texts).toEqual(['Input 1.']);
  });

  it('is not said again because its server stopped before the store had heard that it was heard', async () => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    const gate = gateOf();
    place.before = (operation, owner) => (operation === 'release' && owner === 'a' ? gate.opened : undefined);
    expect((await new MemoryCall(a.sessions).press('1')).texts).toEqual(['Input 1.']);
    let isClosed = false;
    const closing = a.sessions.close(2000).then(() => (isClosed = true));
    await clock.advanceAsync(200);
    expect(isClosed).toBe(false);
    gate.open();
    await after(clock, 100, closing);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 2.']);
  });

  it('keeps the next input from being answered, for some seconds, until the store has heard of it: told late, it would end that claim', async () => {
    const all = await two();
    const { a, place, clock, asked } = all;
    await begun(all);
    place.before = (operation) => (operation === 'release' ? new Promise(() => undefined) : undefined);
    expect((await new MemoryCall(a.sessions).press('1')).texts).toEqual(['Input 1.']);
    // Heard to its end: an interruption would be told to the bot before.
    await clock.advanceAsync(100);
    const next = new MemoryCall(a.sessions).press('1');
    await clock.advanceAsync(2900);
    expect(asked).toHaveLength(1);
    expect((await after(clock, 200, next)).next?.kind).toBe('transfer');
    expect([asked.length, a.seen.filter((line) => line.startsWith('bot_failed'))]).toEqual([1, []]);
  });

  it('does not keep its server from stopping when the store does not answer', async () => {
    const all = await two();
    const { a, place, clock } = all;
    await begun(all);
    place.before = (operation) => (operation === 'release' ? new Promise(() => undefined) : undefined);
    await new MemoryCall(a.sessions).press('1');
    await after(clock, 3500, a.sessions.close(2000));
  });

  it('is not said again because the store was away for seconds when it should have been told', async () => {
    const all = await two();
    const { a, b, place, clock } = all;
    await begun(all);
    place.before = (operation) => (operation === 'release' ? Promise.reject(away) : undefined);
    await new MemoryCall(a.sessions).press('1');
    await clock.advanceAsync(8000);
    place.before = () => undefined;
    await clock.advanceAsync(200);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 2.']);
  });

  it("is not taken for another server's because the answer of the store was lost", async () => {
    const all = await two();
    const { a, place, clock } = all;
    await begun(all);
    place.losesAnswers.add('a');
    const turn = await after(clock, 500, new MemoryCall(a.sessions).press('1'));
    expect([turn.texts, turn.next?.kind]).toEqual([['Input 1.'], 'listen']);
    expect(a.seen).not.toContain('reply_repeated');
  });
});

describe('an input that another server keeps from its answer', () => {
  it('is asked for again, without an old reply', async () => {
    const all = await two();
    const { b, place, clock } = all;
    await begun(all);
    await new MemoryCall(b.sessions).open();
    Object.assign(place.of(KEY), { owner: 'a', untilMs: clock.monotonicMs() + 12_000 });
    const turn = await after(clock, 25_000, new MemoryCall(b.sessions).press('1'));
    expect([turn.texts, turn.next?.kind]).toEqual([[TEST_SETTINGS.apology], 'listen']);
  });

  it('G-77 brings no second end while last words are said elsewhere', async () => {
    const all = await two({ maxFarewellMs: 30_000 });
    const { a, b, place, clock } = all;
    await begun(all);
    const before = await new MemoryCall(b.sessions).open();
    const last = new MemoryCall(a.sessions).press('7');
    await clock.advanceAsync(100);
    before.turn.push({ kind: 'custom_event', name: 'x', parameters: {} });
    await clock.advanceAsync(30_000);
    expect([(await last).next?.kind, before.sink.isSuperseded]).toEqual(['end', true]);
    expect(place.of(KEY).record?.ended).toBe(true);
  });
});

describe('a hang-up', () => {
  it('G-75 on one server ends the turns of the others', async () => {
    const all = await two();
    const { a, b, clock, notes } = all;
    await begun(all);
    const listening = await new MemoryCall(a.sessions).open();
    await new MemoryCall(b.sessions).hangUp();
    await clock.advanceAsync(100);
    expect([listening.sink.end, listening.sink.outputs, notes]).toEqual(['complete', [], ['session_end caller']]);
  });

  it('is told to the bot before the process closes', async () => {
    const all = await two();
    const { a, place, clock, notes } = all;
    await begun(all);
    const gate = gateOf();
    await new MemoryCall(a.sessions).hangUp();
    place.before = (operation) => (operation === 'claim' ? gate.opened : undefined);
    const closing = a.sessions.close(2000);
    await clock.advanceAsync(100);
    gate.open();
    await after(clock, 3000, closing);
    expect(notes).toEqual(['session_end caller']);
  });
});

describe('another version of the bot', () => {
  it('migrates a state when its input is answered, also when it was written while the stream opened', async () => {
    const all = await two({}, [1, 2]);
    const { a, b, place, clock } = all;
    await begun(all);
    const waiting = await new MemoryCall(b.sessions).open();
    await new MemoryCall(a.sessions).press('1');
    waiting.turn.push({ kind: 'dtmf', digits: '1' });
    await after(clock, 100, waiting.sink.ended());
    expect([waiting.sink.texts, place.of(KEY).record?.bot.version]).toEqual([['Input 2.'], 2]);
  });

  it('may go back to a version before when that one can use the state', async () => {
    const all = await two({}, [2, 1]);
    const { a, b } = all;
    await begun(all);
    await new MemoryCall(a.sessions).press('1');
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 2.']);
  });
});

describe('the turns of one call', () => {
  it('have ids that no two servers use', async () => {
    const all = await two();
    const { a, b } = all;
    await begun(all);
    const ids: string[] = [];
    for (const { sessions } of [a, b, b, a]) ids.push((await new MemoryCall(sessions).open()).turn.id);
    expect(new Set(ids).size).toBe(4);
  });

  it('have ids of their own also when all of them come on one stream', async () => {
    const { a } = await two();
    // The store counts streams, and its count does not move while the wire stays.
    const call = new MemoryCall(a.sessions, { isTied: true });
    const ids: string[] = [];
    for (let turn = 0; turn < 3; turn++) ids.push((await call.open()).turn.id);
    expect(new Set(ids).size).toBe(3);
  });

  it('have ids that no two servers use also before one of them is answered', async () => {
    const { a, b } = await two();
    const ids: string[] = [];
    for (const { sessions } of [a, b]) ids.push((await new MemoryCall(sessions).open()).turn.id);
    expect(new Set(ids).size).toBe(2);
  });
});
