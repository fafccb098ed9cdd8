import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PromptCache } from '../../../src/voice/prompt-cache.ts';
import { PromptShelf } from '../../../src/voice/prompt-shelf.ts';
import { recordingLog } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeSynthesizer, never, temporaryFolder } from '../../support/voice.ts';

interface Surroundings {
  readonly cache: PromptCache;
  readonly synthesizer: FakeSynthesizer;
  readonly log: ReturnType<typeof recordingLog>;
}

function open(options: { folder?: string; maxBytes?: number; mute?: boolean; soundName?: string } = {}): Surroundings {
  const synthesizer = new FakeSynthesizer();
  const clock = new FakeClock();
  const log = recordingLog();
  const shelf = options.folder === undefined ? undefined : new PromptShelf({ folder: options.folder, clock, log });
  const cache = new PromptCache({
    soundName: options.soundName ?? 'fake',
    synthesizer: options.mute === true ? undefined : synthesizer,
    shelf,
    clock,
    log,
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  });
  return { cache, synthesizer, log };
}

describe('PromptCache', () => {
  it('speaks a text once and then gives the very same audio at once, without a promise', async () => {
    const { cache, synthesizer } = open();
    const first = await cache.render('hello', never());
    expect(first).toMatchObject({ durationMs: 100 });
    expect(cache.render('hello', never())).toBe(first);
    expect(synthesizer.asked).toEqual(['hello']);
  });

  it('speaks a text once for everyone who asks while it is being spoken', async () => {
    const { cache, synthesizer } = open();
    synthesizer.hold();
    const asked = Array.from({ length: 50 }, async () => cache.render('hello', never()));
    synthesizer.release();
    const sounds = await Promise.all(asked);
    expect(new Set(sounds).size).toBe(1);
    expect(synthesizer.asked).toEqual(['hello']);
  });

  it('forgets the least used prompts beyond its bytes', async () => {
    const { cache, synthesizer } = open({ maxBytes: 2500 });
    for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.render(text, never());
    expect(synthesizer.asked).toEqual(['a', 'b', 'c', 'b']);
  });

  it('keeps announced texts for the next start, which needs no synthesizer for them', async () => {
    const folder = temporaryFolder();
    const first = open({ folder });
    first.cache.announce('welcome');
    const spoken = await first.cache.render('welcome', never());
    await first.cache.close();
    const next = open({ folder, mute: true });
    next.cache.announce('welcome');
    expect(await next.cache.render('welcome', never())).toEqual(spoken);
    expect(next.cache.render('something else', never())).toBeUndefined();
  });

  it('never lets a text reach the disk, the log or a file name that was not announced', async () => {
    const folder = temporaryFolder();
    const { cache, log, synthesizer } = open({ folder });
    cache.announce('welcome');
    await cache.render('welcome', never());
    const canary = 'You entered 4 7 1 1';
    await cache.render(canary, never());
    synthesizer.isBroken = true;
    await expect(cache.render(`${canary} again`, never())).rejects.toMatchObject({ code: 'synthesis_failed' });
    await cache.close();
    expect(readdirSync(folder)).toHaveLength(1);
    // The fake speaks a text as its first letter, so this is the announced one.
    expect(
      readFileSync(join(folder, readdirSync(folder)[0] ?? ''))
        .subarray(58, 60)
        .toString(),
    ).toBe('ww');
    expect(JSON.stringify(log.lines)).not.toContain('4 7 1 1');
    expect(log.lines.length).toBeGreaterThan(0);
  });

  it('does not even look on the disk for a text that was not announced', async () => {
    const folder = temporaryFolder();
    const first = open({ folder });
    first.cache.announce('welcome');
    await first.cache.render('welcome', never());
    await first.cache.close();
    const second = open({ folder });
    await second.cache.render('welcome', never());
    expect(second.synthesizer.asked).toEqual(['welcome']);
  });

  it('stores a text that is announced after it was spoken', async () => {
    const folder = temporaryFolder();
    const { cache } = open({ folder });
    await cache.render('welcome', never());
    cache.announce('welcome');
    await cache.close();
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('does not play the stored prompts of another voice', async () => {
    const folder = temporaryFolder();
    for (const soundName of ['one', 'two']) {
      const { cache, synthesizer } = open({ folder, soundName });
      cache.announce('welcome');
      await cache.render('welcome', never());
      await cache.close();
      expect(synthesizer.asked).toEqual(['welcome']);
    }
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('lets one who leaves go at once and finishes the work for those who stay', async () => {
    const { cache, synthesizer } = open();
    synthesizer.hold();
    const leaving = new AbortController();
    const [left, stayed] = [cache.render('hello', leaving.signal), cache.render('hello', never())];
    leaving.abort('barge_in');
    expect(await left).toBeUndefined();
    expect(synthesizer.abandoned).toEqual([]);
    synthesizer.release();
    expect(await stayed).toMatchObject({ durationMs: 100 });
  });

  it('gives up the work when nobody waits any more, and begins anew for the next', async () => {
    const { cache, synthesizer } = open();
    synthesizer.hold();
    const leaving = new AbortController();
    const left = cache.render('hello', leaving.signal);
    leaving.abort('hang_up');
    expect(await left).toBeUndefined();
    expect(synthesizer.abandoned).toEqual(['hello']);
    const next = cache.render('hello', never());
    expect(synthesizer.asked).toEqual(['hello', 'hello']);
    synthesizer.release();
    expect(await next).toMatchObject({ durationMs: 100 });
    expect(cache.render('more', AbortSignal.abort())).toBeUndefined();
  });

  it('passes a failure to everyone who waits and tries again the next time', async () => {
    const { cache, synthesizer } = open();
    synthesizer.isBroken = true;
    const outcomes = await Promise.allSettled([cache.render('hello', never()), cache.render('hello', never())]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    synthesizer.isBroken = false;
    expect(await cache.render('hello', never())).toBeDefined();
  });

  it('leaves no listener on the signals of those who waited', async () => {
    const { cache } = open();
    const { signal } = new AbortController();
    const counts = { added: 0, removed: 0 };
    const counted = new Proxy(signal, {
      get: (target, name) => {
        if (name === 'addEventListener') counts.added += 1;
        if (name === 'removeEventListener') counts.removed += 1;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (...args: unknown[]): unknown => Reflect.apply(member, target, args) : member;
      },
    });
    await cache.render('hello', counted);
    expect(counts).toEqual({ added: 1, removed: 1 });
  });
});
