import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { MemoryStore } from '../../../src/store/memory.ts';
import { Seal } from '../../../src/store/seal.ts';
import { SealingStore } from '../../../src/store/sealing.ts';
import { testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };

function counter(version: number, migrate?: (state: JsonValue, fromVersion: number) => { count: number } | undefined) {
  return bot<{ count: number }>({
    id: 'counter',
    name: 'Counter',
    version,
    ...(migrate === undefined ? {} : { migrate }),
    session_start: () => go({ count: 0 }, say('Welcome.').listen()),
    otherwise: ({ count }) => go({ count: count + 1 }, say(`${String(count + 1)}.`).listen()),
  });
}

/** A call that a server with `first` has begun and one with `next` goes on with. */
async function movedTo(next: ReturnType<typeof counter>, first = counter(1)) {
  const store = new MemoryStore();
  const old = await testEngine([first], { store });
  const before = new MemoryCall(old.sessions);
  await before.start();
  await before.press('1');
  const fresh = await testEngine([next], { store });
  const sink = await new MemoryCall(fresh.sessions).press('1');
  return { sink, store, log: fresh.log, seen: fresh.seen };
}

describe('a call whose bot has got a new version', () => {
  it('goes on with the state that the bot has brought into its new shape', async () => {
    const { sink, store } = await movedTo(counter(2, (state, from) => ({ count: (state as { count: number }).count * 10 + from })));
    expect(sink.texts).toEqual(['12.']);
    expect(await store.load(KEY)).toMatchObject({ bot: { id: 'counter', version: 2 }, state: { count: 12 } });
  });

  it('starts over when the bot has no use for the old state', async () => {
    for (const next of [counter(2), counter(2, () => undefined)]) {
      const { sink, log } = await movedTo(next);
      expect(sink.texts).toEqual(['Welcome.']);
      expect(log.lines.map(({ level }) => level)).toContain('warn');
    }
  });

  it('starts over when migrating throws, makes no JSON, or more than a record may hold, and says so without the state', async () => {
    for (const misdeed of [
      () => {
        throw new Error('count was 1');
      },
      () => ({ count: 1n }) as unknown as { count: number },
      () => ({ count: 1, rest: 'x'.repeat(TEST_SETTINGS.maxRecordBytes) }),
    ]) {
      const { sink, log } = await movedTo(counter(2, misdeed));
      expect(sink.texts).toEqual(['Welcome.']);
      expect(log.lines.find(({ level }) => level === 'error')).toMatchObject({ fromVersion: 1, version: 2, code: 'bot_failed' });
    }
  });

  it('does not start over on a server that still has the version before, which hands the caller over and says why', async () => {
    const { sink, log, seen } = await movedTo(counter(1), counter(2));
    expect([sink.texts, sink.next]).toMatchObject([[TEST_SETTINGS.handover], { kind: 'transfer', metadata: { reason: 'failed' } }]);
    expect(seen).toContain('bot_failed bot_outdated');
    const details = { bot: 'counter', version: 1, newerVersion: 2 };
    expect(log.lines.at(-1)).toMatchObject({ level: 'error', err: { code: 'bot_outdated', details } });
  });

  it('is not asked about a call of its own version', async () => {
    const { sink } = await movedTo(
      counter(1, () => {
        throw new Error('must not be called');
      }),
    );
    expect(sink.texts).toEqual(['2.']);
  });
});

describe('a call whose sealed state does not open', () => {
  const pin = bot<{ asked: boolean }>({
    id: 'pin',
    name: 'Pin',
    version: 1,
    session_start: () => go({ asked: true }, say('Your PIN?').listen({ digits: 4, sensitive: true })),
    otherwise: (state) => go(state, say('Thank you.').listen()),
  });

  /** A call that a server with one key has begun and one with another key goes on with. */
  async function moved() {
    const store = new MemoryStore();
    const old = await testEngine([pin], { store: new SealingStore(store, new Seal()) });
    await new MemoryCall(old.sessions).start();
    const fresh = await testEngine([pin], { store: new SealingStore(store, new Seal()) });
    return { ...fresh, kept: store };
  }

  it('is handed over with a line (U-06), and the log says what to look for', async () => {
    const { sessions, log, seen, kept } = await moved();
    const sink = await new MemoryCall(sessions).press('1234');
    expect(sink.texts).toEqual([TEST_SETTINGS.handover]);
    expect([sink.next, sink.end]).toMatchObject([{ kind: 'transfer', metadata: { reason: 'failed' } }, 'complete']);
    await flushMicrotasks();
    expect(log.lines).toMatchObject([{ level: 'error', err: { code: 'state_unreadable' }, conversationId: 'call-1' }]);
    expect(seen).toContain('bot_failed state_unreadable');
    // Nobody can go on with it, and late streams get no prompts (G-7C).
    expect(kept.size).toBe(0);
    expect((await new MemoryCall(sessions).press('1')).isSuperseded).toBe(true);
  });

  it('G-75 is hung up as any other', async () => {
    const { sessions, log, kept } = await moved();
    expect(await sessions.find(KEY)).toBeUndefined();
    expect(log.lines).toMatchObject([{ level: 'warn', code: 'state_unreadable' }]);
    expect(kept.size).toBe(0);
  });
});
