// A conversation that begins anew under the same id (G-28): at its home, and at the next home of its call.
import { describe, expect, it } from 'vitest';
import { bot, go, listen, say } from '../../../src/bot/index.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { snapshotOf, testEngine, type TestEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall, type MemorySink } from '../../support/memory-transport.ts';
import { begun, homes, LeftSnapshots, moved } from '../../support/homes.ts';
import { slowToEnd } from '../../support/stuck-bot.ts';

/** A reading that changes. */
interface MutableLoad {
  loopDelayMs: number;
  rssBytes: number;
  heapPercent: number;
}

/** A bot that says how it was started, with a list of its events. */
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
  it('in a live call: the bot is notified that the session restarted, and is started with the new name and parameters', async () => {
    const { greets, told } = greeter();
    const { sessions, seen } = await testEngine([greets]);
    const first = new MemoryCall(sessions, opening({ tier: 1 }));
    await begin(first, 'one', { tier: 1 });
    await first.press('7');
    const again = new MemoryCall(sessions, opening({ tier: 2 }));
    const welcome = await begin(again, 'two', { tier: 2 });
    expect([welcome.texts, welcome.kinds, welcome.end]).toEqual([['Welcome two.'], ['prompt', 'final'], 'complete']);
    expect(told).toEqual(['start one {"tier":1} {"tier":1}', 'end restarted 7', 'start two {"tier":2} {"tier":2}']);
    expect(seen.filter((line) => line.startsWith('session_'))).toEqual(['session_started', 'session_ended restarted', 'session_started']);
    expect((await again.press('3')).texts).toEqual(['Keys 3.']);
    expect([sessions.size, (await snapshotOf({ sessions }))?.state]).toEqual([1, { keys: '3' }]);
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

describe('the homes of calls', () => {
  it('are not notified of the end of a call that begins anew (G-28)', async () => {
    const all = await homes();
    await begun(all);
    await new MemoryCall(all.a.sessions).start();
    expect([all.left.asked.includes('forget call-1'), all.left.newest()?.started]).toEqual([false, true]);
  });

  it('are notified at once that a call is over, and not only when its bot was: another start may come before that', async () => {
    const { slow, open } = slowToEnd();
    const all = await homes({}, [1, 1], slow);
    await begun(all);
    const call = new MemoryCall(all.a.sessions);
    await call.hangUp();
    expect(all.left.asked.at(-1)).toBe('forget call-1');
    const again = call.start();
    open();
    await again;
    expect(all.left.asked).toEqual(['save call-1', 'forget call-1', 'save call-1']);
  });

  it('are notified of a call that was refused: it may live at a peer', async () => {
    const { a, left } = await homes({ maxSessions: 0 });
    await expect(new MemoryCall(a.sessions).start()).rejects.toMatchObject({ code: 'overloaded' });
    await expect(new MemoryCall(a.sessions, { agentId: 'nobody' }).press('1')).rejects.toBeDefined();
    expect(left.asked).toEqual(['release call-1', 'release call-1']);
  });
});

describe('G-28 a conversation that begins anew while its server comes to its end', () => {
  it('does not begin behind that end', async () => {
    const { slow, open } = slowToEnd();
    const { sessions } = await testEngine([slow]);
    const call = new MemoryCall(sessions);
    await call.start();
    const again = expect(call.start()).rejects.toMatchObject({ code: 'shutting_down' });
    await flushMicrotasks();
    await sessions.close(0);
    open();
    await again;
    expect(sessions.size).toBe(0);
  });
});

describe('G-28 a conversation that begins anew at the next home of its call', () => {
  it('is welcomed there, and the bot is notified once that the previous session restarted', async () => {
    const all = await homes();
    const { a, b, next, notes } = all;
    await begun(all);
    await new MemoryCall(a.sessions).press('1');
    await moved(all);
    expect(notes).toEqual([]);
    const call = next();
    expect((await call.start()).texts).toEqual(['Welcome.']);
    expect([notes, b.sessions.size]).toEqual([['session_end restarted'], 1]);
    expect((await call.press('1')).texts).toEqual(['Input 1.']);
  });

  it('is not refused there where a stranger would be', async () => {
    const all = await homes({ maxSessions: 1 });
    const { b, next } = all;
    await begun(all);
    await moved(all);
    await new MemoryCall(b.sessions, { conversationId: 'call-2' }).start();
    await expect(new MemoryCall(b.sessions, { conversationId: 'call-3' }).start()).rejects.toMatchObject({ code: 'overloaded' });
    expect((await next().start()).texts).toEqual(['Welcome.']);
  });

  it('is what the start of a call is of which the home before had answered nothing', async () => {
    const failing = bot<null>({
      id: 'failing',
      name: 'Failing',
      version: 1,
      session_start: ({ name }) => {
        if (name === 'one') throw new Error('not today');
        return go(null, say('Welcome.').listen());
      },
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const all = await homes({}, [1, 1], failing);
    const { a, b, next } = all;
    await begin(new MemoryCall(a.sessions), 'one');
    await moved(all);
    expect((await begin(next(), 'two')).texts).toEqual(['Welcome.']);
    expect(b.seen.filter((line) => line.startsWith('session_'))).toEqual(['session_continued']);
  });

  it('may be with another agent', async () => {
    const [one, other] = [greeter('one'), greeter('other')];
    const left = new LeftSnapshots();
    const first = await testEngine([one.greets, other.greets], { snapshots: left });
    await begin(new MemoryCall(first.sessions, { agentId: 'one' }), 'one');
    const second = await testEngine([one.greets, other.greets], { snapshots: left });
    const call = new MemoryCall(second.sessions, { agentId: 'other', restored: left.restored() });
    expect((await begin(call, 'two')).texts).toEqual(['Welcome two.']);
    expect([one.told.at(-1), other.told]).toEqual(['end restarted ', ['start two {} {}']]);
  });

  it('has turns whose ids nobody has used of the call', async () => {
    const all = await homes();
    const { a, next } = all;
    await begun(all);
    const ids = [(await new MemoryCall(a.sessions).open()).turn.id];
    await moved(all);
    const call = next();
    await call.start();
    ids.push((await call.open()).turn.id);
    expect(new Set(ids).size).toBe(2);
  });
});
