import { getEventListeners } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PromptAudio } from '../../../src/dialog/output.ts';
import { PromptCache } from '../../../src/voice/prompt-cache.ts';
import { PromptDiskCache } from '../../../src/voice/prompt-disk-cache.ts';
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
  const disk = options.folder === undefined ? undefined : new PromptDiskCache({ folder: options.folder, clock, log });
  const cache = new PromptCache({
    soundName: () => options.soundName ?? 'fake',
    synthesizer: options.mute === true ? undefined : synthesizer,
    disk,
    clock,
    log,
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  });
  return { cache, synthesizer, log };
}

describe('PromptCache', () => {
  it('speaks a text once and then gives the very same audio at once, without a promise', async () => {
    const { cache, synthesizer } = open();
    const first = await cache.render({ text: 'hello' }, never());
    expect(first).toMatchObject({ durationMs: 100 });
    expect(cache.render({ text: 'hello' }, never())).toBe(first);
    expect(synthesizer.asked).toEqual(['hello']);
  });

  it('speaks a text once for everyone who asks while it is being spoken', async () => {
    const { cache, synthesizer } = open();
    synthesizer.hold();
    const asked = Array.from({ length: 50 }, async () => cache.render({ text: 'hello' }, never()));
    synthesizer.release();
    const sounds = await Promise.all(asked);
    expect(new Set(sounds).size).toBe(1);
    expect(synthesizer.asked).toEqual(['hello']);
  });

  it('forgets the least used prompts beyond its bytes', async () => {
    const { cache, synthesizer } = open({ maxBytes: 2500 });
    for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.render({ text }, never());
    expect(synthesizer.asked).toEqual(['a', 'b', 'c', 'b']);
  });

  it('does not keep a text that must not be cached, in memory or on disk', async () => {
    const folder = temporaryFolder();
    const { cache, synthesizer } = open({ folder });
    const secret = { text: 'your number is 4711', cache: false };
    const first = await cache.render(secret, never());
    const pieces = cache.stream(secret, never());
    expect(pieces).not.toHaveProperty('mulaw');
    for await (const _ of pieces as AsyncIterable<PromptAudio>);
    expect(await cache.render(secret, never())).not.toBe(first);
    await cache.close();
    expect([synthesizer.asked.length, readdirSync(folder)]).toEqual([3, []]);
  });

  it('keeps a text that is announced as static, whoever says it', async () => {
    const { cache, synthesizer } = open();
    cache.announce({ text: 'hello' });
    const first = await cache.render({ text: 'hello', cache: false }, never());
    expect(cache.render({ text: 'hello', cache: false }, never())).toBe(first);
    expect(synthesizer.asked).toEqual(['hello']);
  });

  it('never forgets what must be at hand at every moment, however much else is spoken', async () => {
    const { cache, synthesizer } = open({ maxBytes: 2500 });
    await cache.render({ text: 'one moment' }, never());
    for (const text of ['one moment', 'sorry']) cache.keep({ text });
    for (const text of ['sorry', 'a', 'b', 'c', 'd']) await cache.render({ text }, never());
    for (const text of ['one moment', 'sorry']) expect(cache.render({ text }, never())).toMatchObject({ durationMs: 100 });
    expect(synthesizer.asked).toEqual(['one moment', 'sorry', 'a', 'b', 'c', 'd']);
  });

  it('keeps no more than 64 texts for good', async () => {
    const { cache } = open({ maxBytes: 2500 });
    const texts = Array.from({ length: 65 }, (_, index) => String.fromCharCode(97 + index));
    for (const text of texts) cache.keep({ text });
    for (const text of [...texts, '1', '2', '3']) await cache.render({ text }, never());
    expect(texts.filter((text) => cache.render({ text }, never()) instanceof Promise)).toEqual(texts.slice(64));
  });

  it('keeps announced texts for the next start, which needs no synthesizer for them', async () => {
    const folder = temporaryFolder();
    const first = open({ folder });
    first.cache.announce({ text: 'welcome' });
    const spoken = await first.cache.render({ text: 'welcome' }, never());
    await first.cache.close();
    const next = open({ folder, mute: true });
    next.cache.announce({ text: 'welcome' });
    expect(await next.cache.render({ text: 'welcome' }, never())).toEqual(spoken);
    expect(next.cache.render({ text: 'something else' }, never())).toBeUndefined();
  });

  it('never lets a text reach the disk, the log or a file name that was not announced', async () => {
    const folder = temporaryFolder();
    const { cache, log, synthesizer } = open({ folder });
    cache.announce({ text: 'welcome' });
    await cache.render({ text: 'welcome' }, never());
    const canary = 'You entered 4 7 1 1';
    await cache.render({ text: canary }, never());
    synthesizer.isBroken = true;
    await expect(cache.render({ text: `${canary} again` }, never())).rejects.toMatchObject({ code: 'synthesis_failed' });
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
    first.cache.announce({ text: 'welcome' });
    await first.cache.render({ text: 'welcome' }, never());
    await first.cache.close();
    const second = open({ folder });
    await second.cache.render({ text: 'welcome' }, never());
    expect(second.synthesizer.asked).toEqual(['welcome']);
  });

  it('stores a text that is announced after it was spoken', async () => {
    const folder = temporaryFolder();
    const { cache } = open({ folder });
    await cache.render({ text: 'welcome' }, never());
    cache.announce({ text: 'welcome' });
    await cache.close();
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('does not play the stored prompts of another voice', async () => {
    const folder = temporaryFolder();
    for (const soundName of ['one', 'two']) {
      const { cache, synthesizer } = open({ folder, soundName });
      cache.announce({ text: 'welcome' });
      await cache.render({ text: 'welcome' }, never());
      await cache.close();
      expect(synthesizer.asked).toEqual(['welcome']);
    }
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('lets one who leaves go at once and finishes the work for those who stay', async () => {
    const { cache, synthesizer } = open();
    synthesizer.hold();
    const leaving = new AbortController();
    const [left, stayed] = [cache.render({ text: 'hello' }, leaving.signal), cache.render({ text: 'hello' }, never())];
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
    const left = cache.render({ text: 'hello' }, leaving.signal);
    leaving.abort('hang_up');
    expect(await left).toBeUndefined();
    expect(synthesizer.abandoned).toEqual(['hello']);
    const next = cache.render({ text: 'hello' }, never());
    expect(synthesizer.asked).toEqual(['hello', 'hello']);
    synthesizer.release();
    expect(await next).toMatchObject({ durationMs: 100 });
    expect(cache.render({ text: 'more' }, AbortSignal.abort())).toBeUndefined();
  });

  it('passes a failure to everyone who waits and tries again the next time', async () => {
    const { cache, synthesizer } = open();
    synthesizer.isBroken = true;
    const outcomes = await Promise.allSettled([cache.render({ text: 'hello' }, never()), cache.render({ text: 'hello' }, never())]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    synthesizer.isBroken = false;
    expect(await cache.render({ text: 'hello' }, never())).toBeDefined();
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
    await cache.render({ text: 'hello' }, counted);
    expect(counts).toEqual({ added: 1, removed: 1 });
  });

  describe('with a synthesizer that speaks in pieces', () => {
    it('gives the pieces while the text is being spoken, and the whole to the next one who asks', async () => {
      const { cache, synthesizer } = openStreaming();
      synthesizer.hold();
      const pieces = iteratorOf(cache.stream({ text: 'hello' }, never()));
      expect((await pieces.next()).value).toMatchObject({ durationMs: 20 });
      expect((await pieces.next()).value).toMatchObject({ durationMs: 40 });
      synthesizer.release();
      expect((await pieces.next()).done).toBe(true);
      const whole = cache.stream({ text: 'hello' }, never());
      expect(whole).toMatchObject({ durationMs: 100 });
      expect(cache.render({ text: 'hello' }, never())).toBe(whole);
      expect(synthesizer.asked).toEqual(['hello']);
    });

    it('speaks a text once for all who ask, whether they want pieces or the whole', async () => {
      const { cache, synthesizer } = openStreaming();
      synthesizer.hold();
      const [first, second] = [iteratorOf(cache.stream({ text: 'hello' }, never())), iteratorOf(cache.stream({ text: 'hello' }, never()))];
      const whole = cache.render({ text: 'hello' }, never());
      const [shared, again] = [await first.next(), await second.next()];
      expect(shared.done !== true && again.done !== true && shared.value === again.value).toBe(true);
      synthesizer.release();
      expect(await whole).toMatchObject({ durationMs: 100 });
      expect(synthesizer.asked).toEqual(['hello']);
    });

    it('asks for no pieces when the whole is wanted, so that a broken answer can be asked for again', async () => {
      const { cache, synthesizer } = openStreaming();
      synthesizer.hold();
      const whole = cache.render({ text: 'hello' }, never());
      const pieces = iteratorOf(cache.stream({ text: 'hello' }, never()));
      synthesizer.release();
      const audio = await whole;
      expect((await pieces.next()).value).toBe(audio);
      expect((await pieces.next()).done).toBe(true);
    });

    it('stores a static text whole on disk when its pieces have ended, and no other text', async () => {
      const folder = temporaryFolder();
      const { cache, synthesizer } = openStreaming({ folder });
      cache.announce({ text: 'welcome' });
      for (const text of ['welcome', 'you said 4711']) await all(cache.stream({ text }, never()));
      await cache.close();
      expect(readdirSync(folder)).toHaveLength(1);
      const next = openStreaming({ folder });
      next.cache.announce({ text: 'welcome' });
      expect((await all(next.cache.stream({ text: 'welcome' }, never()))).map(({ durationMs }) => durationMs)).toEqual([100]);
      expect([synthesizer.asked, next.synthesizer.asked]).toEqual([['welcome', 'you said 4711'], []]);
    });

    it('forgets a text that broke off', async () => {
      const { cache, synthesizer } = openStreaming();
      synthesizer.isBroken = true;
      const pieces = iteratorOf(cache.stream({ text: 'hello' }, never()));
      await pieces.next();
      await pieces.next();
      await expect(pieces.next()).rejects.toMatchObject({ code: 'synthesis_failed' });
      synthesizer.isBroken = false;
      await all(cache.stream({ text: 'hello' }, never()));
      expect(cache.render({ text: 'hello' }, never())).toMatchObject({ durationMs: 100 });
      expect(synthesizer.asked).toEqual(['hello', 'hello']);
    });

    it.each(['the reader leaves', 'the signal aborts', 'the signal aborts before a piece was read'])(
      'gives up when %s and nobody else waits',
      async (how) => {
        const { cache, synthesizer } = openStreaming();
        synthesizer.hold();
        const leaving = new AbortController();
        const pieces = iteratorOf(cache.stream({ text: 'hello' }, leaving.signal));
        const other = iteratorOf(cache.stream({ text: 'hello' }, never()));
        if (how !== 'the signal aborts before a piece was read') await pieces.next();
        if (how === 'the reader leaves') await pieces.return?.();
        else leaving.abort('barge_in');
        expect((await pieces.next()).done).toBe(true);
        expect(synthesizer.abandoned).toEqual([]);
        await other.return?.();
        expect(synthesizer.abandoned).toEqual(['hello']);
        iteratorOf(cache.stream({ text: 'hello' }, never()));
        expect(synthesizer.asked).toEqual(['hello', 'hello']);
        synthesizer.release();
      },
    );

    it('leaves no listener behind when all is said', async () => {
      const { cache, synthesizer } = openStreaming();
      const session = new AbortController();
      await all(cache.stream({ text: 'hello' }, session.signal));
      await all(cache.stream({ text: 'goodbye' }, session.signal));
      expect(synthesizer.abandoned).toEqual([]);
      expect(getEventListeners(session.signal, 'abort')).toEqual([]);
    });
  });
});

function openStreaming(options: Parameters<typeof open>[0] = {}): Surroundings {
  const surroundings = open(options);
  surroundings.synthesizer.pieces = [160, 320];
  return surroundings;
}

function iteratorOf(sound: ReturnType<PromptCache['stream']>): AsyncIterator<PromptAudio> {
  if (sound === undefined || 'mulaw' in sound) throw new Error('the sound does not come in pieces');
  return sound[Symbol.asyncIterator]();
}

async function all(sound: ReturnType<PromptCache['stream']>): Promise<PromptAudio[]> {
  const pieces = iteratorOf(sound);
  const taken: PromptAudio[] = [];
  for (let piece = await pieces.next(); piece.done !== true; piece = await pieces.next()) taken.push(piece.value);
  return taken;
}
