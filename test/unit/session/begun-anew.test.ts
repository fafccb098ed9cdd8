// A conversation that begins anew under the same id (G-28): in one process, and in two that share their calls.
import { describe, expect, it } from 'vitest';
import { bot, go, listen, say } from '../../../src/bot/index.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { testEngine, type TestEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall, type MemorySink } from '../../support/memory-transport.ts';
import { after, begun, gateOf, two } from '../../support/homes.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };

/** A reading that changes. */
interface MutableLoad {
  loopDelayMs: number;
  rssBytes: number;
  heapPercent: number;
}

/** A bot that says how it was started, with a list of what it was told. */
function greeter(id = 'greeter') {
  const told: string[] = [];
  const greets = bot<{ readonly keys: string }>({
    id,
    name: 'Greeter',
    version: 1,
    session_start: ({ name, parameters }, { call }) => {
      told.push(`start ${name} ${JSON.stringify(parameters)} ${JSON.stringify(call.parameters)}`);
      return go({ keys: '' }, say(`Welcome ${name}.`).listen());
    },
    dtmf_input: (state, { digits }, { signal }) => {
      const next = { keys: state.keys + digits };
      if (digits === '9') return go(next, say('Goodbye.').end());
      if (digits === '0') return go(next, say('One moment.').transfer({ reason: 'asked' }));
      if (digits !== '5') return go(next, say(`Keys ${next.keys}.`).listen());
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          told.push('aborted');
          reject(new DOMException('stopped', 'AbortError'));
        });
      });
    },
    otherwise: (state) => go(state, listen()),
    session_end: ({ keys }, { by }) => {
      told.push(`end ${by} ${keys}`);
    },
  });
  return { greets, told };
}

function begin(call: MemoryCall, name: string, parameters: JsonObject = {}): Promise<MemorySink> {
  return call.turn({ kind: 'session_start', name, parameters });
}

/** As a transport tells the engine of a start. */
const opening = (parameters: JsonObject): { parameters: JsonObject } => ({ parameters });

describe('G-28 a repeated SESSION_START begins the conversation anew', () => {
  it('in a live call: the bot is told that the session restarted, and is started with the new name and parameters', async () => {
    const { greets, told } = greeter();
    const { sessions, seen, store } = await testEngine([greets]);
    const first = new MemoryCall(sessions, opening({ tier: 1 }));
    await begin(first, 'one', { tier: 1 });
    await first.press('7');
    const again = new MemoryCall(sessions, opening({ tier: 2 }));
    const welcome = await begin(again, 'two', { tier: 2 });
    expect([welcome.texts, welcome.kinds, welcome.end]).toEqual([['Welcome two.'], ['prompt', 'final'], 'complete']);
    expect(told).toEqual(['start one {"tier":1} {"tier":1}', 'end restarted 7', 'start two {"tier":2} {"tier":2}']);
    expect(seen.filter((line) => line.startsWith('session_'))).toEqual(['session_started', 'session_ended restarted', 'session_started']);
    expect((await again.press('3')).texts).toEqual(['Keys 3.']);
    expect([sessions.size, (await store.load(KEY))?.state]).toEqual([1, { keys: '3' }]);
  });

  it('as often as it comes', async () => {
    const { greets } = greeter();
    const { sessions } = await testEngine([greets]);
    for (const name of ['one', 'two', 'three', 'four']) {
      expect((await begin(new MemoryCall(sessions), name)).texts).toEqual([`Welcome ${name}.`]);
    }
    expect(sessions.size).toBe(1);
  });

  it.each([
    ['the caller has hung up', (call: MemoryCall) => call.hangUp(), 'end caller '],
    ['the bot has ended the call', (call: MemoryCall) => call.press('9'), 'end bot_end 9'],
    ['the bot has transferred the caller', (call: MemoryCall) => call.press('0'), 'end bot_transfer 0'],
  ])('after %s, on the same wire rules (G-7C)', async (_what, end, ended) => {
    const { greets, told } = greeter();
    const { sessions } = await testEngine([greets]);
    const call = new MemoryCall(sessions);
    await begin(call, 'one');
    await end(call);
    expect((await call.press('1')).isSuperseded).toBe(true);
    const welcome = await begin(call, 'two');
    expect([welcome.texts, welcome.next?.kind, welcome.end]).toEqual([['Welcome two.'], 'listen', 'complete']);
    expect(told).toEqual(['start one {} {}', ended, 'start two {} {}']);
    expect((await call.press('1')).texts).toEqual(['Keys 1.']);
  });

  it('completes streams that are open, and stops the handler that is at work', async () => {
    const { greets, told } = greeter();
    const { sessions, listeners } = await testEngine([greets]);
    const call = new MemoryCall(sessions);
    await begin(call, 'one');
    const thinking = await call.open({ kind: 'dtmf', digits: '5' });
    const waiting = await call.open({ kind: 'audio', audio: new Uint8Array(160).fill(0xff) });
    await flushMicrotasks();
    expect((await begin(call, 'two')).texts).toEqual(['Welcome two.']);
    expect([thinking.sink.isSuperseded, waiting.sink.kinds, waiting.sink.end]).toEqual([true, [], 'complete']);
    expect(told).toEqual(['start one {} {}', 'aborted', 'end restarted ', 'start two {} {}']);
    expect([sessions.openTurns, listeners.size]).toEqual([0, 0]);
  });

  it('also when two come at once: the later one is welcomed', async () => {
    const { greets, told } = greeter();
    const { sessions } = await testEngine([greets]);
    const [first, second] = await Promise.all([begin(new MemoryCall(sessions), 'one'), begin(new MemoryCall(sessions), 'two')]);
    expect([first.end, second.texts]).toEqual(['complete', ['Welcome two.']]);
    expect([sessions.size, told.at(-1)]).toEqual([1, 'start two {} {}']);
  });

  it.each([
    ['while its call is running', false],
    ['once the last session is over', true],
  ])('with another agent, %s; only another input may not change it (G-17, G-73)', async (_when, isOver) => {
    const [one, other] = [greeter('one'), greeter('other')];
    const { sessions } = await testEngine([one.greets, other.greets]);
    const [call, next] = [new MemoryCall(sessions, { agentId: 'one' }), new MemoryCall(sessions, { agentId: 'other' })];
    await begin(call, 'one');
    await expect(next.press('1')).rejects.toMatchObject({ code: 'agent_conflict' });
    if (isOver) await call.press('9');
    expect((await begin(next, 'two')).texts).toEqual(['Welcome two.']);
    expect([one.told, other.told]).toEqual([['start one {} {}', isOver ? 'end bot_end 9' : 'end restarted '], ['start two {} {}']]);
    expect((await next.press('1')).texts).toEqual(['Keys 1.']);
    await expect(call.press('1')).rejects.toMatchObject({ code: 'agent_conflict' });
    expect(sessions.size).toBe(1);
  });

  it('with one of two agents, where the starts for both come at once', async () => {
    const { sessions } = await testEngine([greeter('one').greets, greeter('other').greets]);
    await begin(new MemoryCall(sessions, { agentId: 'one' }), 'one');
    const starts = ['other', 'one', 'other'].map((agentId) => begin(new MemoryCall(sessions, { agentId }), agentId));
    const welcomes = await Promise.all(starts);
    expect(welcomes.map(({ end }) => end)).toEqual(['complete', 'complete', 'complete']);
    expect(welcomes.filter(({ texts }) => texts.length > 0)).not.toEqual([]);
    expect((await new MemoryCall(sessions).press('1')).texts).toEqual(['Keys 1.']);
    expect(sessions.size).toBe(1);
  });

  it('with the same agent where none is named', async () => {
    const [one, other] = [greeter('aaa'), greeter('zzz')];
    const { sessions } = await testEngine([one.greets, other.greets]);
    await begin(new MemoryCall(sessions, { agentId: 'zzz' }), 'one');
    await begin(new MemoryCall(sessions), 'two');
    expect([one.told, other.told.at(-1)]).toEqual([[], 'start two {} {}']);
  });

  it('and is a new call to the limits: one that was over is refused where a stranger would be', async () => {
    const { greets } = greeter();
    const { sessions } = await testEngine([greets], { limits: { maxSessions: 1 } });
    const call = new MemoryCall(sessions);
    await begin(call, 'one');
    expect((await begin(call, 'two')).texts).toEqual(['Welcome two.']);
    await call.hangUp();
    await begin(new MemoryCall(sessions, { conversationId: 'call-2' }), 'one');
    await expect(begin(call, 'three')).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('G-28 a conversation that begins anew while its call is running keeps the place of the call', () => {
  it.each([
    [
      'the server drains',
      {},
      ({ sessions }: TestEngine) => {
        sessions.drain();
      },
    ],
    [
      'the server waits for its callers to leave',
      {},
      ({ sessions }: TestEngine) => {
        void sessions.close(60_000);
      },
    ],
    [
      'the event loop is late',
      { limits: { maxLoopDelayMs: 50 } },
      (_: TestEngine, load: MutableLoad) => {
        load.loopDelayMs = 100;
      },
    ],
    ['its organization begins calls too fast', { limits: { perOrganization: { maxSessions: 0, maxNewPerSecond: 0.2 } } }, () => undefined],
    [
      'its organization has as many calls as it may',
      { limits: { perOrganization: { maxSessions: 1, maxNewPerSecond: 0 } } },
      () => undefined,
    ],
  ])('where %s', async (_what, options, limit) => {
    const { greets, told } = greeter();
    const load: MutableLoad = { loopDelayMs: 0, rssBytes: 0, heapPercent: 0 };
    const engine = await testEngine([greets], { ...options, load });
    await begin(new MemoryCall(engine.sessions), 'one');
    limit(engine, load);
    await expect(begin(new MemoryCall(engine.sessions, { conversationId: 'call-2' }), 'stranger')).rejects.toBeDefined();
    for (const name of ['two', 'three']) {
      const call = new MemoryCall(engine.sessions);
      expect((await begin(call, name)).texts).toEqual([`Welcome ${name}.`]);
      expect((await call.press('1')).texts).toEqual(['Keys 1.']);
    }
    expect(told).toEqual(['start one {} {}', 'end restarted ', 'start two {} {}', 'end restarted 1', 'start three {} {}']);
  });
});

describe('G-28 a conversation that begins anew in another process', () => {
  it('ends the live session of the first one, whose bot is told once', async () => {
    const all = await two();
    const { a, b, clock, notes } = all;
    await begun(all);
    await new MemoryCall(a.sessions).press('1');
    const listening = await new MemoryCall(a.sessions).open({ kind: 'audio', audio: new Uint8Array(160).fill(0xff) });
    expect((await after(clock, 100, new MemoryCall(b.sessions).start())).texts).toEqual(['Welcome.']);
    expect([listening.sink.end, notes]).toEqual(['complete', ['session_end restarted']]);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 1.']);
  });

  it('is not refused where the second one has as many calls as it may', async () => {
    const all = await two({ maxSessions: 1 });
    const { a, b, clock, notes } = all;
    await begun(all);
    await new MemoryCall(a.sessions).press('1');
    await new MemoryCall(b.sessions, { conversationId: 'call-2' }).start();
    await expect(new MemoryCall(b.sessions, { conversationId: 'call-3' }).start()).rejects.toMatchObject({ code: 'overloaded' });
    expect((await after(clock, 100, new MemoryCall(b.sessions).start())).texts).toEqual(['Welcome.']);
    expect(notes).toEqual(['session_end restarted']);
  });

  it('is a running call to the second one, full or not, while its welcome is being spoken', async () => {
    const { opened, open } = gateOf();
    const slow = bot<null>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      async *session_start({ name }) {
        yield say('Welcome.');
        if (name === 'two') await opened;
        return go(null, say('How are you?').listen());
      },
      otherwise: () => go(null, say('I see.').listen()),
    });
    const all = await two({ maxSessions: 1 }, [1, 1], slow);
    const { a, b, clock } = all;
    await begun(all);
    await new MemoryCall(b.sessions, { conversationId: 'call-2' }).start();
    const welcome = new MemoryCall(a.sessions).open({ kind: 'session_start', name: 'two', parameters: {} });
    await clock.advanceAsync(100);
    expect((await welcome).sink.texts).toEqual(['Welcome.']);
    const listening = await new MemoryCall(b.sessions).open({ kind: 'audio', audio: new Uint8Array(160).fill(0xff) });
    expect(listening.sink.end).toBe('open');
    expect(b.seen.filter((line) => !line.startsWith('turn_'))).toContain('session_continued');
    listening.turn.push({ kind: 'dtmf', digits: '1' });
    open();
    await clock.advanceAsync(1000);
    expect([(await welcome).sink.end, listening.sink.texts]).toEqual(['complete', ['I see.']]);
  });

  it('goes on in the first one, whose old session is not taken for it', async () => {
    const all = await two();
    const { a, b, clock, notes } = all;
    await begun(all);
    await new MemoryCall(a.sessions).press('1');
    await new MemoryCall(b.sessions).start();
    await clock.advanceAsync(1000);
    expect((await new MemoryCall(a.sessions).press('1')).texts).toEqual(['Input 1.']);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 2.']);
    expect(notes.filter((note) => note.startsWith('session_end'))).toEqual(['session_end restarted']);
  });

  it.each([
    ['was hung up', (call: MemoryCall) => call.hangUp(), 'caller'],
    ['was ended by its bot', (call: MemoryCall) => call.press('8'), 'bot_end'],
  ])('after it %s in the first one, and goes on there', async (_what, end, by) => {
    const all = await two();
    const { a, b, clock, notes } = all;
    await begun(all);
    await end(new MemoryCall(a.sessions));
    await clock.advanceAsync(1000);
    const again = await after(clock, 100, new MemoryCall(b.sessions).start());
    expect([again.texts, again.next?.kind, notes]).toEqual([['Welcome.'], 'listen', [`session_end ${by}`]]);
    expect(b.seen.filter((line) => line.startsWith('session_'))).toEqual(['session_started']);
    await clock.advanceAsync(1000);
    expect((await new MemoryCall(a.sessions).press('1')).texts).toEqual(['Input 1.']);
    // What the first one remembered of the old conversation takes nothing of the new one with it.
    await clock.advanceAsync(120_000);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 2.']);
  });

  it('waits for the answer that the first one is making, which is not said any more', async () => {
    const { greets, told } = greeter();
    const all = await two({}, [1, 1], greets);
    const { a, b, clock } = all;
    await begun(all);
    const thinking = await new MemoryCall(a.sessions).open({ kind: 'dtmf', digits: '5' });
    await flushMicrotasks();
    const again = await after(clock, 1000, begin(new MemoryCall(b.sessions), 'two'));
    expect([again.texts, thinking.sink.kinds, thinking.sink.end]).toEqual([['Welcome two.'], [], 'complete']);
    expect(told).toEqual(['start  {} {}', 'aborted', 'end restarted ', 'start two {} {}']);
  });

  it('breaks last words off that are being said in the first one', async () => {
    const all = await two({ maxFarewellMs: 30_000 });
    const { a, b, clock, notes } = all;
    await begun(all);
    const farewell = await new MemoryCall(a.sessions).open({ kind: 'dtmf', digits: '7' });
    await clock.advanceAsync(1000);
    const again = await after(clock, 1000, new MemoryCall(b.sessions).start());
    await clock.advanceAsync(40_000);
    expect([again.texts, again.next?.kind, farewell.sink.next, farewell.sink.end]).toEqual([['Welcome.'], 'listen', undefined, 'complete']);
    expect(notes).toEqual(['session_end restarted']);
    expect((await new MemoryCall(b.sessions).press('1')).texts).toEqual(['Input 1.']);
  });

  it('moves the wire of a call that cannot go on elsewhere to the new one', async () => {
    const all = await two();
    const { a, b, clock, notes } = all;
    const [old, next] = [a, b].map(({ sessions }) => new MemoryCall(sessions, { isTied: true }));
    await old?.start();
    await clock.advanceAsync(1000);
    expect((await next?.start())?.texts).toEqual(['Welcome.']);
    expect([a.sessions.size, a.seen.at(-1), notes]).toEqual([0, 'session_ended moved', ['session_end restarted']]);
    expect((await next?.press('1'))?.texts).toEqual(['Input 1.']);
  });
});
