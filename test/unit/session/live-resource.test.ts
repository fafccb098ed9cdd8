// What a bot keeps for one call in one process: when it is opened and closed, and what becomes of a call whose bot cannot open it.
import { describe, expect, it } from 'vitest';
import { bot, go, say, type Bot, type Live, type LiveContext } from '../../../src/bot/index.ts';
import { LINE_SILENCE } from '../../support/caller-audio.ts';
import { testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { after, begun, homes, moved } from '../../support/homes.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

interface Line {
  readonly number: number;
}

/** A bot with a line; `notes` says what happens to the lines. */
function lined(notes: string[], live: Partial<Live<number, Line>> = {}): Bot {
  let lines = 0;
  return bot<number, Line>({
    id: 'lined',
    name: 'Lined',
    version: 1,
    live: {
      open: ({ state }) => {
        lines += 1;
        notes.push(`open ${String(lines)} at ${String(state)}`);
        return { number: lines };
      },
      close: ({ number }, why) => {
        notes.push(`close ${String(number)} ${why}`);
      },
      ...live,
    },
    session_start: () => go(0, say('Hi.').listen()),
    dtmf_input: (state, { digits }, { live: { number } }) => {
      if (digits === '9') throw new Error('broken');
      return go(state + 1, say(`Line ${String(number)}.`).listen());
    },
    otherwise: (state) => go(state, say('Bye.').end()),
    session_end: (_state, { by }, { live: { number } }) => {
      notes.push(`session_end ${by} on line ${String(number)}`);
    },
  });
}

async function calling(subject: Bot) {
  const engine = await testEngine([subject]);
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await engine.clock.advanceAsync(5000);
  return { ...engine, call };
}

describe('what a bot keeps for a call', () => {
  it('is opened once before its first handler, and closed after its last', async () => {
    const notes: string[] = [];
    const { call, clock } = await calling(lined(notes));
    expect((await call.press('1')).texts).toEqual(['Line 1.']);
    expect((await call.press('1')).texts).toEqual(['Line 1.']);
    expect(notes).toEqual(['open 1 at undefined']);
    await call.turn({ kind: 'no_input' });
    await clock.advanceAsync(5000);
    expect(notes).toEqual(['open 1 at undefined', 'session_end bot_end on line 1', 'close 1 ended']);
  });

  it('is another one for another call, and is closed as failed when the bot has failed', async () => {
    const notes: string[] = [];
    const { call, sessions, clock } = await calling(lined(notes));
    const other = new MemoryCall(sessions, { conversationId: 'call-2' });
    await other.start();
    expect((await other.press('1')).texts).toEqual(['Line 2.']);
    await call.press('9');
    await call.press('9');
    await clock.advanceAsync(5000);
    expect(notes.slice(2)).toEqual(['session_end failed on line 1', 'close 1 failed']);
  });

  it('is closed where the call leaves, and opened with its state where it goes on', async () => {
    const notes: string[] = [];
    const all = await homes({}, [1, 1], lined(notes));
    await begun(all);
    await new MemoryCall(all.a.sessions).press('1');
    await moved(all);
    expect(notes).toEqual(['open 1 at undefined', 'close 1 moved']);
    expect((await all.next().press('1')).texts).toEqual(['Line 2.']);
    expect(notes.slice(2)).toEqual(['open 2 at 1']);
  });

  it('comes to the frames of the call, too, and its signal aborts once it is closed', async () => {
    const contexts: LiveContext<null>[] = [];
    const frames: string[] = [];
    const listening = bot<null, string>({
      id: 'listening',
      name: 'Listening',
      version: 1,
      live: {
        open: (context) => {
          contexts.push(context);
          return 'line';
        },
      },
      session_start: () => go(null, say('Hi.').listen()),
      audio_input: (_pcm, _call, ear, live) => {
        frames.push(`${live} ${String(ear === contexts[0]?.ear)}`);
      },
      otherwise: () => go(null, say('Bye.').end()),
    });
    const { call, clock } = await calling(listening);
    await call.open(LINE_SILENCE);
    expect(new Set(frames)).toEqual(new Set(['line true']));
    expect(contexts[0]).toMatchObject({ call: { conversationId: 'call-1' }, state: undefined, signal: { aborted: false } });
    await call.turn({ kind: 'no_input' });
    await clock.advanceAsync(5000);
    expect(contexts.map(({ signal }) => [signal.aborted, (signal.reason as Error).name])).toEqual([[true, 'AbortError']]);
  });

  it('that cannot be opened excuses the bot, and then transfers the caller', async () => {
    const notes: string[] = [];
    const { sessions, clock } = await testEngine([
      lined(notes, {
        open: () => {
          throw new Error('no line');
        },
      }),
    ]);
    const call = new MemoryCall(sessions);
    const { apology, transfer } = TEST_SETTINGS.lines;
    expect((await call.start()).texts).toEqual([apology]);
    await clock.advanceAsync(5000);
    expect((await call.press('1')).texts).toEqual([transfer]);
    await clock.advanceAsync(5000);
    expect(notes).toEqual([]);
  });

  it('that does not close is forgotten after two seconds', async () => {
    const notes: string[] = [];
    const { call, clock, sessions } = await calling(lined(notes, { close: () => new Promise(() => undefined) }));
    await call.turn({ kind: 'no_input' });
    await flushMicrotasks();
    await after(clock, 3000, sessions.close(2500));
    expect(notes).toEqual(['open 1 at undefined', 'session_end bot_end on line 1']);
  });

  it('is never opened for a bot that wants none', async () => {
    const seen: unknown[] = [];
    const plain = bot<null>({
      id: 'plain',
      name: 'Plain',
      version: 1,
      session_start: (_event, { live }) => {
        seen.push(live);
        return go(null, say('Hi.').listen());
      },
      otherwise: () => go(null, say('Bye.').end()),
    });
    await calling(plain);
    expect(seen).toEqual([undefined]);
  });
});
