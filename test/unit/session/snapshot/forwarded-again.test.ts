// Forwarded turns that come again: because their home has died, or the process that forwarded them.
import { describe, expect, it } from 'vitest';
import type { Prompt } from '../../../../src/dialog/reply.ts';
import type { Sound } from '../../../../src/session/ports.ts';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { LINE_SILENCE } from '../../../support/caller-audio.ts';
import { FakeVoice, TEST_SETTINGS } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { after, begun, gateOf, homes, type Homes, type LeftSnapshots } from '../../../support/homes.ts';
import { MemoryCall, MemorySink } from '../../../support/memory-transport.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };
const OPENING = { ...KEY, agentId: '', vendorConfig: '', parameters: {} };

describe('a forwarded turn that comes again because its home has died', () => {
  /** The turn `id` of the forwarding process, at one of the homes. */
  async function forwarded(sessions: Homes['a']['sessions'], id: string, digits: string, left?: LeftSnapshots): Promise<MemorySink> {
    const sink = Object.assign(new MemorySink(), { forwardedId: id });
    const session = await sessions.acquire(left === undefined ? OPENING : { ...OPENING, restored: left.restored() });
    const turn = session.beginTurn(sink);
    turn.push({ kind: 'dtmf', digits });
    turn.halfClose();
    await sink.ended();
    return sink;
  }

  /** A turn whose reply is lost with the forwarding process. @param known - resolves when its home learns that. */
  function lostTurn(known?: () => Promise<void>): MemorySink {
    return Object.assign(new MemorySink(), {
      forwardedId: 'turn-1',
      delivered: async () => {
        await known?.();
        return false;
      },
    });
  }

  /** The caller presses 1 at the home; resolves when the reply was written, and what follows from it is done. */
  async function answered({ a }: Homes, sink: MemorySink): Promise<void> {
    (await a.sessions.acquire(OPENING)).beginTurn(sink).push({ kind: 'dtmf', digits: '1' });
    await sink.ended();
    await flushMicrotasks();
  }

  /** Counts its inputs, and is notified of the end of each turn. */
  function counting(turnEnded: (inputs: number) => undefined | Promise<number>) {
    return bot<number>({
      id: 'counting',
      name: 'Counting',
      version: 1,
      session_start: () => go(0, say('Welcome.').listen({ digits: 1 })),
      otherwise: (inputs) => go(inputs + 1, say(`Input ${String(inputs + 1)}.`).listen({ digits: 1 })),
      turn_ended: turnEnded,
    });
  }

  it('has the reply said that was decided, and its bot is not asked again', async () => {
    const all = await homes();
    const { a, b, left, asked } = all;
    await begun(all);
    expect((await forwarded(a.sessions, 'turn-1', '1')).texts).toEqual(['Input 1.']);
    const again = await forwarded(b.sessions, 'turn-1', '1', left);
    expect([again.texts, again.next?.kind, asked.length]).toEqual([['Input 1.'], 'listen', 1]);
    expect(b.seen).toContain('reply_repeated');
    // The caller's next word is an answer to it.
    expect([(await forwarded(b.sessions, 'turn-2', '1')).texts, asked.length]).toEqual([['Input 2.'], 2]);
  });

  it.each([
    ['keys', { kind: 'dtmf', digits: '8' }],
    ['speech', LINE_SILENCE],
  ] as const)('G-77 has the farewell said that was decided, and the end delivered behind it: %s', async (_what, input) => {
    const all = await homes({ maxFarewellMs: 30_000 });
    await begun(all);
    void forwarded(all.a.sessions, 'turn-1', '8');
    await flushMicrotasks();
    const sink = Object.assign(new MemorySink(), { forwardedId: 'turn-1' });
    const session = await all.b.sessions.acquire({ ...OPENING, restored: all.left.restored() });
    session.beginTurn(sink).push(input);
    await after(all.clock, 5000, sink.ended());
    expect(sink.outputs.at(-1)).not.toHaveProperty('isApology');
    expect([sink.texts, sink.next?.kind, all.asked.length, all.b.seen.slice(-2)]).toEqual([
      ...[['Goodbye.'], 'end', 1],
      ['turn_ended superseded', 'session_ended bot_end'],
    ]);
  });

  it('G-77 has the farewell said also on a turn that is another one: what its home was saying when it died, nobody has heard to its end', async () => {
    const all = await homes({ maxFarewellMs: 30_000 });
    await begun(all);
    void new MemoryCall(all.a.sessions).press('8');
    await flushMicrotasks();
    const repeated = await after(all.clock, 5000, all.next().press('8'));
    expect([repeated.texts, repeated.next?.kind, all.asked.length]).toEqual([['Goodbye.'], 'end', 1]);
    expect(all.b.seen).toContain('session_ended bot_end');
  });

  it('is answered as if for the first time when its reply was whole, and lost with the process that forwarded it', async () => {
    const all = await homes();
    await begun(all);
    const lost = lostTurn();
    await answered(all, lost);
    const again = await forwarded(all.a.sessions, 'turn-2', '1');
    expect([lost.texts, again.texts, all.asked.map((event) => event.type === 'dtmf_input' && event.heard.text)]).toEqual([
      ...[['Input 1.'], ['Input 1.']],
      ['Welcome.', 'Welcome.'],
    ]);
  });

  it('is answered as if for the first time also by a bot that was notified of the end of the lost turn', async () => {
    const all = await homes(
      {},
      [1, 1],
      counting(() => undefined),
    );
    await begun(all);
    const lost = lostTurn(flushMicrotasks);
    await answered(all, lost);
    await flushMicrotasks();
    expect((await forwarded(all.a.sessions, 'turn-2', '1')).texts).toEqual(['Input 1.']);
  });

  it('is answered as if for the first time also by a bot whose note on the lost turn comes when its reply is undone already', async () => {
    let answer: ((state: number) => void) | undefined;
    const slow = counting((inputs) =>
      inputs === 1
        ? new Promise((resolve) => {
            answer = resolve;
          })
        : undefined,
    );
    const all = await homes({}, [1, 1], slow);
    await begun(all);
    const lost = lostTurn(flushMicrotasks);
    await answered(all, lost);
    await flushMicrotasks();
    expect(answer).toBeDefined();
    answer?.(100);
    await flushMicrotasks();
    expect((await forwarded(all.a.sessions, 'turn-2', '1')).texts).toEqual(['Input 1.']);
  });

  it('leaves nothing of a lost reply behind: neither what it asked for, nor what was played, nor what is saved', async () => {
    const choosy = bot<null>({
      id: 'choosy',
      name: 'Choosy',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen({ digits: 4, noInputMs: 7000 })),
      otherwise: () => go(null, say('Again?').listen({ digits: 1, noInputMs: 3000 })),
    });
    const all = await homes({}, [1, 1], choosy);
    await begun(all);
    const before = all.left.newest();
    const lost = lostTurn();
    const session = await all.a.sessions.acquire(OPENING);
    session.beginTurn(lost).push({ kind: 'dtmf', digits: '1' });
    await lost.ended();
    expect(lost.next).toMatchObject({ kind: 'listen', digits: 1 });
    await flushMicrotasks();
    const { played, ...rest } = before ?? {};
    expect(all.left.newest()).toMatchObject({ ...rest, played: { text: played?.text, soundMs: played?.soundMs, isWhole: true } });
    expect(all.left.newest()?.repliedTo).toBeUndefined();
    expect(session.playout.heard(all.clock.monotonicMs())).toMatchObject({ complete: true, text: 'Welcome.' });
  });

  it('keeps a reply that was delivered, or of which nobody says that it was lost', async () => {
    for (const more of [{ delivered: () => Promise.resolve(true) }, {}]) {
      const all = await homes();
      await begun(all);
      const sink = Object.assign(new MemorySink(), { forwardedId: 'turn-1', ...more });
      await answered(all, sink);
      expect([all.left.newest()?.repliedTo, all.left.newest()?.turns]).toEqual(['turn-1', 2]);
    }
  });

  it('G-77 has the end delivered on the next turn, without a word, when it was lost with the process that forwarded it', async () => {
    const all = await homes();
    await begun(all);
    const session = await all.a.sessions.acquire(OPENING);
    const lost = lostTurn();
    session.beginTurn(lost).push({ kind: 'dtmf', digits: '8' });
    await lost.ended();
    await flushMicrotasks();
    expect([lost.next?.kind, session.isEnded]).toEqual(['end', false]);
    const again = await forwarded(all.a.sessions, 'turn-2', '8');
    await flushMicrotasks();
    expect([again.texts, again.next?.kind, all.asked.length, session.isEnded]).toEqual([[], 'end', 1, true]);
  });

  it('is answered as if for the first time when the process that forwarded it died before anything of the reply was delivered', async () => {
    const { opened, open } = gateOf();
    class SlowVoice extends FakeVoice {
      override render(prompt: Prompt): Sound | Promise<Sound> {
        const sound = super.render(prompt);
        return prompt.kind === 'text' && prompt.text === 'Input 1.' ? opened.then(() => sound) : sound;
      }
    }
    const all = await homes({ voice: new SlowVoice() });
    await begun(all);
    const lost = (await all.a.sessions.acquire(OPENING)).beginTurn(lostTurn());
    lost.push({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    lost.abort('hang_up');
    open();
    const again = await forwarded(all.a.sessions, 'turn-2', '1');
    expect([again.texts, all.asked.map((event) => event.type === 'dtmf_input' && event.heard.text)]).toEqual([
      ['Input 1.'],
      ['Welcome.', 'Welcome.'],
    ]);
  });

  it('has its bot asked when the home had not answered it', async () => {
    const all = await homes();
    await begun(all);
    expect((await forwarded(all.b.sessions, 'turn-1', '1', all.left)).texts).toEqual(['Input 1.']);
    expect(all.b.seen).not.toContain('reply_repeated');
  });

  it('is asked again of the caller, and not of the bot, when the reply was too large to travel', async () => {
    let answers = 0;
    const loud = bot<null>({
      id: 'loud',
      name: 'Loud',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: () => {
        answers += 1;
        const mulaw = new Uint8Array(TEST_SETTINGS.maxStateBytes);
        return go(null, { ...say('Listen.').listen({ digits: 4 }), prompts: [{ kind: 'audio', mulaw, bargeIn: true }] });
      },
    });
    const all = await homes({}, [1, 1], loud);
    await begun(all);
    await forwarded(all.a.sessions, 'turn-1', '1');
    const again = await forwarded(all.b.sessions, 'turn-1', '1', all.left);
    expect([again.texts, again.next, answers]).toMatchObject([[TEST_SETTINGS.lines.apology], { kind: 'listen', digits: 4 }, 1]);
  });
});
