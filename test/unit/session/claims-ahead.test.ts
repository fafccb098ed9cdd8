// A whole input opens and claims its call in one step. What must never come of it: an answer to an old record, a claim that
// ends another one, and a call that nobody else can have because its stream was gone.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { after, begun, gateOf, two, type Two } from '../../support/two-engines.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };
const OPENING = { ...KEY, agentId: '', vendorConfig: '', parameters: {}, opensWith: 'input' } as const;

/** What the store is asked from now on. */
function asked({ place }: Two): string[] {
  const operations: string[] = [];
  place.before = (operation, owner) => void operations.push(`${owner} ${operation}`);
  return operations;
}

describe('an input that is whole when its stream opens', () => {
  it('needs two round trips before its answer is heard: one to open and claim, one to commit', async () => {
    const all = await two();
    const operations = asked(all);
    await new MemoryCall(all.a.sessions).start();
    await all.clock.advanceAsync(1000);
    expect(operations).toEqual(['a open_claimed', 'a commit', 'a release']);
    operations.length = 0;
    for (const { sessions } of [all.b, all.b, all.a]) {
      await new MemoryCall(sessions).press('1');
      await all.clock.advanceAsync(1000);
    }
    const each = (owner: string): string[] => ['open_claimed', 'commit', 'release'].map((operation) => `${owner} ${operation}`);
    expect(operations).toEqual([...each('b'), ...each('b'), ...each('a')]);
  });

  it('is answered with what was committed while its stream opened', async () => {
    const all = await two();
    const { a, place } = all;
    await begun(all);
    const waiting = await new MemoryCall(a.sessions).open();
    const gate = gateOf();
    place.before = (operation) => (operation === 'open_claimed' ? gate.opened : undefined);
    const opening = new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    waiting.turn.push({ kind: 'dtmf', digits: '1' });
    await waiting.sink.ended();
    gate.open();
    expect([waiting.sink.texts, (await opening).texts]).toEqual([['Input 1.'], ['Input 2.']]);
  });

  it('does not take the call from a turn of the same process that is still being answered', async () => {
    const all = await two();
    const { a, b, clock, place } = all;
    await begun(all);
    const timers = clock.pendingTimers;
    const gate = gateOf();
    const waiting = await new MemoryCall(a.sessions).open();
    let isGranted = false;
    place.before = (operation, owner) => {
      if (operation === 'claim' && owner === 'a') return void (isGranted = true);
      // Answered by the store behind the claim of the turn before.
      return operation === 'open_claimed' && !isGranted ? gate.opened : operation === 'commit' ? gate.opened : undefined;
    };
    const opening = a.sessions.acquire(OPENING);
    await flushMicrotasks();
    waiting.turn.push({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect(place.of(KEY).owner).toBe('a');
    const other = new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(200);
    gate.open();
    await opening;
    await clock.advanceAsync(500);
    // The keys on the other server have cut the reply to those before them, but not its commit.
    expect([waiting.sink.end, (await other).texts]).toEqual(['complete', ['Input 2.']]);
    // Neither of the two claims goes on being renewed.
    await clock.advanceAsync(1000);
    expect([place.of(KEY).owner, clock.pendingTimers]).toEqual([undefined, timers]);
  });

  it('gives its call back when its stream is gone before it is a turn', async () => {
    const all = await two();
    const { a, b, clock, place } = all;
    await begun(all);
    const timers = clock.pendingTimers;
    await a.sessions.acquire(OPENING);
    expect(place.of(KEY).owner).toBe('a');
    const other = new MemoryCall(b.sessions).press('1');
    expect((await after(clock, 400, other)).texts).toEqual(['Input 1.']);
    expect([place.of(KEY).owner, clock.pendingTimers]).toEqual([undefined, timers]);
  });

  it('leaves nothing behind where another process was answering and its stream is gone before it is a turn', async () => {
    const all = await two();
    const { a, b, clock, place } = all;
    await begun(all);
    const timers = clock.pendingTimers;
    const gate = gateOf();
    place.before = (operation, owner) => (operation === 'commit' && owner === 'a' ? gate.opened : undefined);
    const first = new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    await b.sessions.acquire(OPENING);
    await clock.advanceAsync(400);
    gate.open();
    expect((await first).texts).toEqual(['Input 1.']);
    await clock.advanceAsync(1000);
    expect([place.of(KEY).owner, clock.pendingTimers]).toEqual([undefined, timers]);
  });

  it('finds another process answering, and waits for it as ever', async () => {
    const all = await two();
    const { a, b, clock, place } = all;
    await begun(all);
    const gate = gateOf();
    place.before = (operation, owner) => (operation === 'commit' && owner === 'a' ? gate.opened : undefined);
    const first = new MemoryCall(a.sessions).press('1');
    await flushMicrotasks();
    const second = new MemoryCall(b.sessions).press('1');
    await clock.advanceAsync(100);
    gate.open();
    await first;
    expect((await after(clock, 100, second)).texts).toEqual(['Input 2.']);
  });

  it('opens its call also where it cannot be claimed at once, and again after a store that was away', async () => {
    const all = await two();
    const { a, b, clock, place } = all;
    await begun(all);
    let failures = 2;
    place.before = (operation) =>
      operation === 'open_claimed' && (failures -= 1) >= 0 ? Promise.reject(new AppError('store_unavailable', 'away')) : undefined;
    expect((await after(clock, 500, new MemoryCall(b.sessions).press('1'))).texts).toEqual(['Input 1.']);
    expect(failures).toBe(-1);
    expect(a.sessions.size).toBe(1);
  });
});

describe('a call that is turned away', () => {
  it('leaves nothing in the store', async () => {
    const all = await two({}, [1, 1]);
    const { a, place } = all;
    a.sessions.drain();
    void a.sessions.close(0);
    await expect(new MemoryCall(a.sessions).start()).rejects.toMatchObject({ code: 'shutting_down' });
    expect(place.of(KEY).record).toBeUndefined();
  });

  it('stays as it was when it had begun on another server', async () => {
    const all = await two();
    const { a, b, clock, place } = all;
    await begun(all);
    const gate = gateOf();
    place.before = (operation, owner) => (operation === 'open_claimed' && owner === 'b' ? gate.opened : undefined);
    const refused = expect(new MemoryCall(b.sessions).press('1')).rejects.toMatchObject({ code: 'shutting_down' });
    await flushMicrotasks();
    const closing = b.sessions.close(0);
    gate.open();
    await refused;
    await after(clock, 1000, closing);
    expect([place.of(KEY).owner, place.of(KEY).record?.started]).toEqual([undefined, true]);
    expect((await new MemoryCall(a.sessions).press('1')).texts).toEqual(['Input 1.']);
  });
});
