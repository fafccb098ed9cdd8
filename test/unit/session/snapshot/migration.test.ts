import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../src/base/json.ts';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { testEngine, TEST_SETTINGS } from '../../../support/engine.ts';
import { LeftSnapshots } from '../../../support/homes.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';

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
  const left = new LeftSnapshots();
  const old = await testEngine([first], { snapshots: left });
  const before = new MemoryCall(old.sessions);
  await before.start();
  await before.press('1');
  const fresh = await testEngine([next], { snapshots: left });
  const sink = await new MemoryCall(fresh.sessions, { restored: left.restored() }).press('1');
  return { sink, left, log: fresh.log, seen: fresh.seen };
}

describe('a call whose bot has got a new version', () => {
  it('goes on with the state that the bot has brought into its new shape', async () => {
    const { sink, left } = await movedTo(counter(2, (state, from) => ({ count: (state as { count: number }).count * 10 + from })));
    expect(sink.texts).toEqual(['12.']);
    expect(left.newest()).toMatchObject({ bot: { id: 'counter', version: 2 }, state: { count: 12 } });
  });

  it('starts over when the bot has no use for the old state', async () => {
    for (const next of [counter(2), counter(2, () => undefined)]) {
      const { sink, log } = await movedTo(next);
      expect(sink.texts).toEqual(['Welcome.']);
      expect(log.lines.map(({ level }) => level)).toContain('warn');
    }
  });

  it('starts over when migrating throws, makes no JSON, or more than a snapshot may hold, and says so without the state', async () => {
    for (const misdeed of [
      () => {
        throw new Error('count was 1');
      },
      () => ({ count: 1n }) as unknown as { count: number },
      () => ({ count: 1, rest: 'x'.repeat(TEST_SETTINGS.maxStateBytes) }),
    ]) {
      const { sink, log } = await movedTo(counter(2, misdeed));
      expect(sink.texts).toEqual(['Welcome.']);
      expect(log.lines.find(({ level }) => level === 'error')).toMatchObject({ fromVersion: 1, version: 2, code: 'bot_failed' });
    }
  });

  it('does not start over on a server that still has the version before, which transfers the caller and says why', async () => {
    const { sink, log, seen } = await movedTo(counter(1), counter(2));
    expect([sink.texts, sink.next]).toMatchObject([[TEST_SETTINGS.lines.transfer], { kind: 'transfer', metadata: { reason: 'failed' } }]);
    expect(seen).toContain('bot_failed bot_outdated');
    const details = { bot: 'counter', version: 1, newerVersion: 2 };
    expect(log.lines.at(-1)).toMatchObject({ level: 'error', err: { code: 'bot_outdated', details } });
  });

  it('may go back to a version before when that one can use the state', async () => {
    const { sink } = await movedTo(
      counter(1, (state) => state as { count: number }),
      counter(2),
    );
    expect(sink.texts).toEqual(['2.']);
  });

  it('is welcomed without a warning where the version before had not even begun it', async () => {
    const failing = bot<{ count: number }>({
      id: 'counter',
      name: 'Counter',
      version: 1,
      session_start: () => {
        throw new Error('not today');
      },
      otherwise: (state) => go(state, say('Yes?').listen()),
    });
    const left = new LeftSnapshots();
    const old = await testEngine([failing], { snapshots: left });
    await new MemoryCall(old.sessions).start();
    const { sessions, log } = await testEngine([counter(2)], { snapshots: left });
    expect((await new MemoryCall(sessions, { restored: left.restored() }).press('1')).texts).toEqual(['Welcome.']);
    expect([log.lines.filter(({ fromVersion }) => fromVersion !== undefined), left.newest()]).toMatchObject([
      [],
      { bot: { version: 2 }, started: true },
    ]);
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
