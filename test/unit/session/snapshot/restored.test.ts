// Calls that go on at another home, from what the one before has left of them: what callers and bots must not notice of it.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { readSnapshot } from '../../../../src/session/snapshot/snapshot.ts';
import { LINE_SILENCE, SENTENCE } from '../../../support/caller-audio.ts';
import { testEngine, TEST_SETTINGS } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { after, begun, homes, LeftSnapshots, moved, type Homes } from '../../../support/homes.ts';
import { MemoryCall, MemorySink } from '../../../support/memory-transport.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };

/** The second home goes on with the call. */
const gone: readonly (readonly [string, (all: Homes) => Promise<void>])[] = [
  ['has died', () => Promise.resolve()],
  ['has stopped', moved],
];

describe('a call whose home is gone', () => {
  it.each(gone)('goes on where it was when its home %s, and its bot is notified of no end', async (_how, leave) => {
    const all = await homes();
    const { a, b, next, notes } = all;
    await begun(all);
    await new MemoryCall(a.sessions).press('1');
    await leave(all);
    const call = next();
    expect([(await call.press('1')).texts, (await call.press('1')).texts]).toEqual([['Input 2.'], ['Input 3.']]);
    expect([b.seen[0], notes.filter((note) => note.startsWith('session_end'))]).toEqual(['session_continued', []]);
  });

  it('goes on with all that it began with (G-15)', async () => {
    const seen: unknown[] = [];
    const knowing = bot<null>({
      id: 'knowing',
      name: 'Knowing',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: (_state, _event, { call }) => {
        seen.push(call);
        return go(null, say('Yes?').listen());
      },
    });
    const all = await homes({}, [1, 1], knowing);
    const { a, clock, next } = all;
    const call = new MemoryCall(a.sessions, { parameters: { name: 'Ann' }, vendorConfig: 'flow 7' });
    await call.start();
    const startedAtMs = clock.nowMs();
    await clock.advanceAsync(5000);
    await call.press('1');
    await next().press('1');
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[1]).toMatchObject({ ...KEY, agentId: 'knowing', parameters: { name: 'Ann' }, vendorConfig: 'flow 7', startedAtMs });
  });

  it('is welcomed again, with what it began with, when its home had answered nothing', async () => {
    const told: string[] = [];
    const shaky = bot<null>({
      id: 'shaky',
      name: 'Shaky',
      version: 1,
      session_start: ({ parameters }) => {
        told.push(JSON.stringify(parameters));
        if (told.length === 1) throw new Error('not today');
        return go(null, say('Welcome.').listen());
      },
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const all = await homes({}, [1, 1], shaky);
    const parameters = { name: 'Ann' };
    await new MemoryCall(all.a.sessions, { parameters }).turn({ kind: 'session_start', name: '', parameters });
    expect((await all.next().press('1')).texts).toEqual(['Welcome.']);
    expect(told).toEqual(['{"name":"Ann"}', '{"name":"Ann"}']);
  });

  it('is as old as it is: G-93 counts from its start, wherever that was', async () => {
    const all = await homes({ maxDurationMs: 300_000 });
    const { b, clock, next } = all;
    await begun(all);
    await clock.advanceAsync(200_000);
    const call = next();
    expect((await call.press('1')).next?.kind).toBe('listen');
    await clock.advanceAsync(100_000 + TEST_SETTINGS.sweepMs);
    expect([(await call.press('1')).next, b.seen.at(-1)]).toMatchObject([{ kind: 'transfer', metadata: { reason: 'too_long' } }, {}]);
  });

  it('G-93 is transferred at once by a home to which it comes too old', async () => {
    const all = await homes({ maxDurationMs: 300_000, sweepMs: 10_000_000 });
    await begun(all);
    await all.clock.advanceAsync(300_001);
    expect((await all.next().press('1')).next).toMatchObject({ kind: 'transfer', metadata: { reason: 'too_long' } });
  });

  it('is never refused by the limits of its next home', async () => {
    const all = await homes({ maxSessions: 1 });
    await begun(all);
    await new MemoryCall(all.b.sessions, { conversationId: 'other' }).start();
    await expect(new MemoryCall(all.b.sessions, { conversationId: 'new' }).start()).rejects.toMatchObject({ code: 'overloaded' });
    expect((await all.next().press('1')).texts).toEqual(['Input 1.']);
  });

  it('G-77 goes to a person on the second failure of its bot in a row, wherever the first one was', async () => {
    const failing = bot<null>({
      id: 'failing',
      name: 'Failing',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: () => {
        throw new Error('no idea');
      },
    });
    const all = await homes({}, [1, 1], failing);
    await begun(all);
    expect((await new MemoryCall(all.a.sessions).press('1')).next?.kind).toBe('listen');
    expect((await all.next().press('1')).next).toMatchObject({ kind: 'transfer', metadata: { reason: 'failed' } });
  });

  it('G-70 counts on how often its caller has said nothing', async () => {
    const all = await homes();
    await begun(all);
    await new MemoryCall(all.a.sessions).turn({ kind: 'no_input' });
    await all.next().turn({ kind: 'no_input' });
    expect(all.asked.map((event) => event.type === 'no_input' && event.count)).toEqual([1, 2]);
  });

  it('G-7B G-83 keeps its transcript, and withholds what follows a sensitive question', async () => {
    const clerk = bot<null>({
      id: 'clerk',
      name: 'Clerk',
      version: 1,
      session_start: () => go(null, say('Your PIN?').listen({ digits: 4, sensitive: true })),
      dtmf_input: (_, { digits }) => go(null, say(`I noted ${digits}.`).listen()),
      otherwise: () => go(null, say('Bye.').end()),
    });
    const all = await homes({ keepsTranscript: true }, [1, 1], clerk);
    await begun(all);
    const call = all.next();
    await call.press('4711');
    await all.clock.advanceAsync(1000);
    const last = (await call.turn({ kind: 'no_input' })).next;
    expect(last).toMatchObject({
      transcript: ['bot: [withheld]', 'caller: [withheld]', 'bot: [withheld]', 'caller: [silence]', 'bot: [withheld]'].join('\n'),
    });
  });

  it('G-83 is asked again for a sensitive input as it was asked for, when its bot fails there', async () => {
    const card = bot<null>({
      id: 'card',
      name: 'Card',
      version: 1,
      session_start: () => go(null, say('Your card number?').listen({ digits: 16, sensitive: true })),
      otherwise: () => {
        throw new Error('no idea');
      },
    });
    const all = await homes({}, [1, 1], card);
    await begun(all);
    const sink = await all.next().press('4111');
    expect([sink.texts, sink.next]).toMatchObject([[TEST_SETTINGS.lines.apology], { kind: 'listen', digits: 16, sensitive: true }]);
  });

  it('has turns of which no two have the same id, whichever home they came to', async () => {
    const all = await homes();
    const { a, b, left, next } = all;
    await begun(all);
    const ids = [(await new MemoryCall(a.sessions).open()).turn.id, (await next().open()).turn.id];
    b.sessions.lose(KEY);
    await flushMicrotasks();
    ids.push((await new MemoryCall(b.sessions, { restored: left.restored() }).open()).turn.id);
    expect([ids[0], new Set(ids).size]).toEqual(['call-1#2', 3]);
  });

  it('is not taken from a server of another version in a form that is not known here', async () => {
    const all = await homes();
    await begun(all);
    const { snapshot } = all.left.restored();
    const restored = { snapshot: { ...snapshot, form: 99 }, generation: 1 };
    const refusal = new MemoryCall(all.b.sessions, { restored }).press('1');
    await expect(refusal).rejects.toMatchObject({ code: 'state_unreadable' });
    expect([await all.b.sessions.find(KEY, restored), all.left.newest(), all.b.sessions.size]).toEqual([undefined, undefined, 0]);
    expect(all.b.log.lines).toMatchObject([{ level: 'warn', code: 'state_unreadable', conversationId: 'call-1' }]);
    // G-28: a start needs nothing of it.
    expect((await new MemoryCall(all.b.sessions, { restored }).start()).texts).toEqual(['Welcome.']);
  });

  it('is hung up there like any other (G-75): its bot is notified, and nobody goes on with it', async () => {
    const all = await homes();
    await begun(all);
    const session = await all.b.sessions.find(KEY, all.left.restored());
    const sink = new MemorySink();
    session?.beginTurn(sink, true).push({ kind: 'session_end' });
    await flushMicrotasks();
    expect([sink.next?.kind, all.notes, all.left.newest()]).toEqual(['gone', ['session_end caller'], undefined]);
  });
});

describe('what was heard of the last reply of a home that is gone', () => {
  it.each(gone)('is estimated for the bot, and can be cut, when it %s', async (_how, leave) => {
    const all = await homes();
    const { a, clock, next, asked, notes } = all;
    await begun(all);
    // Two seconds of words, which end before a home that stops does.
    const said = await new MemoryCall(a.sessions).press('9');
    const fromMs = clock.monotonicMs();
    await leave(all);
    await clock.advanceAsync(Math.max(0, fromMs + 500 - clock.monotonicMs()));
    const heardMs = Math.min(2000, clock.monotonicMs() - fromMs);
    const call = next();
    await call.turn({ kind: 'dtmf_start' });
    await call.press('1');
    expect(said.texts[0]).toHaveLength(200);
    expect(asked.at(-1)).toMatchObject({ digits: '1', heard: { complete: heardMs === 2000, ms: heardMs, estimated: true } });
    expect(notes).toEqual(heardMs === 2000 ? [] : [`barge_in keys ${String(heardMs)}`]);
  });

  it('is an estimate no longer once the bot has said something there', async () => {
    const all = await homes();
    await begun(all);
    const call = all.next();
    await call.press('1');
    await all.clock.advanceAsync(1000);
    await call.press('1');
    expect(all.asked.map((event) => 'heard' in event && event.heard.estimated)).toEqual([true, undefined]);
  });

  it('G-51 is no input of a caller who talks into a prompt that cannot be cut', async () => {
    const firm = bot<null>({
      id: 'firm',
      name: 'Firm',
      version: 1,
      session_start: () => go(null, say('x'.repeat(2000), { bargeIn: false }).listen()),
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const all = await homes({}, [1, 1], firm);
    await begun(all);
    const { sink, turn } = await all.next().open(LINE_SILENCE, SENTENCE);
    expect(sink.kinds).toEqual([]);
    await all.clock.advanceAsync(20_000);
    turn.push(SENTENCE);
    expect(sink.kinds).toEqual(['input_started']);
  });
});

describe('what is saved of a call', () => {
  it('is one snapshot with each answer, once its prompts are on the wire', async () => {
    const all = await homes();
    await begun(all);
    expect(all.left.asked).toEqual(['save call-1']);
    const { sink, turn } = await new MemoryCall(all.a.sessions).open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    // A home that dies now has not answered.
    expect([sink.texts, all.left.newest()?.turns]).toEqual([['Input 1.'], 1]);
    sink.drain();
    await sink.ended();
    await flushMicrotasks();
    expect([all.left.asked.length, all.left.newest()?.turns]).toEqual([2, 2]);
  });

  it('G-7C is its end before its farewell is heard: nothing comes behind it, whoever goes on', async () => {
    const all = await homes({ maxFarewellMs: 30_000 });
    await begun(all);
    const farewell = new MemoryCall(all.a.sessions).press('7');
    await flushMicrotasks();
    expect(all.left.newest()).toMatchObject({ ended: true, reply: { next: { kind: 'end' } } });
    await after(all.clock, 30_000, farewell);
    expect(all.left.newest()).toBeUndefined();
  });

  it('can be read by whoever restores it', async () => {
    const all = await homes();
    await begun(all);
    expect(readSnapshot(all.left.restored().snapshot)).toMatchObject({ call: KEY, started: true, turns: 1 });
  });

  it('is nothing where no other process could go on with it, and not even the reply is kept', async () => {
    const left = new LeftSnapshots();
    left.isShared = false;
    const { sessions } = await testEngine(
      [
        bot<null>({
          id: 'x',
          name: 'X',
          version: 1,
          session_start: () => go(null, say('Hi.').listen()),
          otherwise: () => go(null, say('Yes?').listen()),
        }),
      ],
      { snapshots: left },
    );
    await new MemoryCall(sessions).start();
    expect([left.asked, (await sessions.find(KEY))?.snapshot.reply]).toEqual([[], undefined]);
  });

  it('is nothing of a call that lives and dies with its wire', async () => {
    const all = await homes();
    const call = new MemoryCall(all.a.sessions, { isTied: true });
    await call.start();
    await call.press('1');
    expect(all.left.asked).toEqual([]);
  });
});
