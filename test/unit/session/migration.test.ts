import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { MemoryStore } from '../../../src/store/memory.ts';
import { testEngine } from '../../support/engine.ts';
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

/** A call that a server with version 1 has begun and one with `next` goes on with. */
async function movedTo(next: ReturnType<typeof counter>) {
  const store = new MemoryStore();
  const old = await testEngine([counter(1)], { store });
  const before = new MemoryCall(old.sessions);
  await before.start();
  await before.press('1');
  const fresh = await testEngine([next], { store });
  const sink = await new MemoryCall(fresh.sessions).press('1');
  return { sink, store, log: fresh.log };
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

  it('starts over when migrating throws or makes no JSON, and says so without the state', async () => {
    for (const misdeed of [
      () => {
        throw new Error('count was 1');
      },
      () => ({ count: 1n }) as unknown as { count: number },
    ]) {
      const { sink, log } = await movedTo(counter(2, misdeed));
      expect(sink.texts).toEqual(['Welcome.']);
      expect(log.lines.find(({ level }) => level === 'error')).toMatchObject({ fromVersion: 1, version: 2, code: 'bot_failed' });
    }
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
