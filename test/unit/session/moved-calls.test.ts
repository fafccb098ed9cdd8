// Calls that this process does not hold, and has to find by their record: those that go on, those that must not.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { MemoryStore } from '../../../src/store/memory.ts';
import { testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { storeWith } from '../../support/store-with.ts';

const KEY = { organizationId: 'org', conversationId: 'call-1' };

const plain = (version = 1) =>
  bot<{ readonly count: number }>({
    id: 'plain',
    name: 'Plain',
    version,
    migrate: (state) => state as { readonly count: number },
    session_start: () => go({ count: 0 }, say('Welcome.').listen()),
    otherwise: ({ count }) => go({ count: count + 1 }, say('Yes?').listen()),
  });

/** A store that can be made to wait before it hands a record out. */
class HeldStore extends MemoryStore {
  isHeld = false;
  readonly #waiting: (() => void)[] = [];

  override async load(key: typeof KEY): ReturnType<MemoryStore['load']> {
    const record = await super.load(key);
    if (this.isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return record;
  }

  releaseOne(): void {
    this.#waiting.shift()?.();
  }
}

/** A store with the record of a call that another process has begun. */
async function begunElsewhere(): Promise<HeldStore> {
  const store = new HeldStore();
  const other = await testEngine([plain()], { store });
  await new MemoryCall(other.sessions).start();
  return store;
}

describe('a call that another process has begun', () => {
  it('G-28 begins anew when it starts a second time', async () => {
    const { sessions, seen } = await testEngine([plain()], { store: await begunElsewhere() });
    const again = await new MemoryCall(sessions).start();
    expect([again.texts, again.next?.kind, again.end]).toEqual([['Welcome.'], 'listen', 'complete']);
    expect(seen.filter((line) => line.startsWith('bot_failed'))).toEqual([]);
  });

  it('is not taken over by a server that closes, which does not even ask the store', async () => {
    const broken = () => Promise.reject(new Error('down'));
    const { sessions } = await testEngine([plain()], { store: storeWith({ load: broken, commit: broken, drop: broken }) });
    await sessions.close(0);
    await expect(new MemoryCall(sessions).press('1')).rejects.toMatchObject({ code: 'shutting_down' });
  });

  it('is not taken over by a server that begins to close while the record is read', async () => {
    const store = await begunElsewhere();
    const { sessions } = await testEngine([plain()], { store });
    store.isHeld = true;
    const late = new MemoryCall(sessions).press('1');
    await flushMicrotasks();
    await sessions.close(0);
    store.isHeld = false;
    store.releaseOne();
    await expect(late).rejects.toMatchObject({ code: 'shutting_down' });
    expect(sessions.size).toBe(0);
  });

  it.each([new AppError('store_failed', 'down'), new Error('down')])(
    'does not start over because the store failed: %s',
    async (failure) => {
      const broken = () => Promise.reject(failure);
      const { sessions, seen } = await testEngine([plain()], { store: storeWith({ load: broken, commit: broken, drop: broken }) });
      await expect(new MemoryCall(sessions).press('1')).rejects.toBe(failure);
      expect([sessions.size, seen]).toEqual([0, []]);
    },
  );

  it('does not go on with a record that was forgotten while it was read', async () => {
    const store = await begunElsewhere();
    const { sessions, clock, seen } = await testEngine([plain()], { store });
    const opening = { ...KEY, agentId: '', vendorConfig: '', parameters: {} };
    // A hang-up and another turn look for the call at the same time; the record of the second comes much later.
    store.isHeld = true;
    const finding = sessions.find(KEY);
    await flushMicrotasks();
    const late = sessions.acquire(opening);
    await flushMicrotasks();
    store.isHeld = false;
    store.releaseOne();
    await finding;
    expect(sessions.size).toBe(1);
    // Its session is swept, and its record is dropped, just before.
    clock.advance(TEST_SETTINGS.idleTimeoutMs + TEST_SETTINGS.sweepMs);
    store.releaseOne();
    const session = await late;
    expect([session.isEnded, seen]).toEqual([false, ['session_continued', 'session_ended idle', 'session_started']]);
    expect((await new MemoryCall(sessions).press('1')).texts).toEqual(['Welcome.']);
  });
});

describe('a hang-up', () => {
  it('G-75 of a call that nobody knows is no event', async () => {
    const { sessions, log } = await testEngine([plain()]);
    expect(await sessions.find(KEY)).toBeUndefined();
    expect([log.lines, sessions.size]).toEqual([[], 0]);
  });

  it('G-75 names the call in the log when its record can neither be read nor dropped', async () => {
    const broken = () => Promise.reject(new Error('down'));
    const { sessions, log } = await testEngine([plain()], { store: storeWith({ load: broken, commit: broken, drop: broken }) });
    await sessions.find(KEY);
    expect(log.lines).toMatchObject([
      { level: 'warn', conversationId: 'call-1' },
      { level: 'error', conversationId: 'call-1', err: { message: 'down' } },
    ]);
  });

  it('G-75 leaves the record of a call that begins while it is looked for, however that ends', async () => {
    const store = await begunElsewhere();
    let fail: ((error: AppError) => void) | undefined;
    const load: typeof store.load = (key) => (fail === undefined ? new Promise((_, reject) => (fail = reject)) : store.load(key));
    const failing = storeWith({ load }, store);
    const { sessions, log } = await testEngine([plain()], { store: failing });
    const finding = sessions.find(KEY);
    await flushMicrotasks();
    expect((await new MemoryCall(sessions).press('1')).texts).toEqual(['Yes?']);
    fail?.(new AppError('store_failed', 'down'));
    expect(await finding).toBeUndefined();
    expect([log.lines, (await new MemoryCall(sessions).press('2')).texts]).toEqual([[], ['Yes?']]);
  });
});

describe('a record of an older version of its bot', () => {
  it('can no longer be overwritten by a process that still holds it once it was migrated', async () => {
    const store = await begunElsewhere();
    const before = await store.load(KEY);
    const { sessions } = await testEngine([plain(2)], { store });
    await new MemoryCall(sessions).press('1');
    const after = await store.load(KEY);
    if (before === undefined || after === undefined) throw new Error('the call has a record');
    expect(after.bot.version).toBe(2);
    expect(after.version).toBeGreaterThan(before.version);
  });

  it('is left behind with a warning when the bot has no use for its state', async () => {
    const useless = bot<null>({
      id: 'plain',
      name: 'Plain',
      version: 2,
      migrate: () => undefined,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const { sessions, log } = await testEngine([useless], { store: await begunElsewhere() });
    await new MemoryCall(sessions).press('1');
    expect(log.lines[0]).toMatchObject({ level: 'warn', conversationId: 'call-1', fromVersion: 1, version: 2 });
  });

  it('has nothing to warn of where the bot had not even begun', async () => {
    const store = new MemoryStore();
    const failing = bot<null>({
      id: 'plain',
      name: 'Plain',
      version: 1,
      session_start: () => {
        throw new Error('not today');
      },
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const other = await testEngine([failing], { store });
    await new MemoryCall(other.sessions).start();
    const { sessions, log } = await testEngine([plain(2)], { store });
    await new MemoryCall(sessions).start();
    expect(log.lines).toEqual([]);
    expect(await store.load(KEY)).toMatchObject({ bot: { version: 2 }, started: true });
  });
});
