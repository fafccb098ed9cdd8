import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import type { Bot } from '../../../src/bot/bot.ts';
import { Catalog } from '../../../src/bot/catalog.ts';
import { loadBots } from '../../../src/bot/loader.ts';
import { TestCall } from '../../../src/bot/testing.ts';
import { WatchedCatalog, type WatchedCatalogOptions } from '../../../src/bot/watched-catalog.ts';
import { botModule, makeFolder, removeFolder, writeFiles } from '../../support/bots-folder.ts';
import { recordingLog } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { until } from '../../support/until.ts';

/** How long a folder must be quiet, ms. */
const QUIET_MS = 150;

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function watched(files: Readonly<Record<string, string>>, options: Partial<WatchedCatalogOptions> = {}) {
  const folder = await makeFolder(files);
  cleanups.push(() => removeFolder(folder));
  const clock = new FakeClock();
  const log = recordingLog();
  const reloads: ('loaded' | 'failed')[] = [];
  const catalog = await WatchedCatalog.start({
    folder,
    first: new Catalog(await loadBots(folder)),
    open: (bots) => new Catalog(bots),
    onReload: (loaded) => reloads.push(loaded === undefined ? 'failed' : 'loaded'),
    clock,
    log,
    ...options,
  });
  cleanups.push(() => catalog.close());
  /** Lets a change come to rest, once the system has reported it. */
  const settle = async (): Promise<void> => {
    await until(
      () => 'the change is noticed',
      () => clock.pendingTimers > 0,
    );
    clock.advance(QUIET_MS);
  };
  const reloaded = async (times: number): Promise<void> => {
    await until(
      () => `there are ${String(times)} reloads: ${reloads.join(', ')}`,
      () => {
        // Late news, too. Only then: the time that a module may take to load must not run out meanwhile.
        if ((clock.nextTimerInMs ?? Infinity) <= QUIET_MS) clock.advance(QUIET_MS);
        return reloads.length >= times;
      },
    );
  };
  return { folder, catalog, clock, log, reloads, settle, reloaded };
}

const idsOf = (catalog: WatchedCatalog) => catalog.current.bots.map(({ id }) => id);
const welcomeOf = async (bot: Bot | undefined) => (bot === undefined ? undefined : (await new TestCall(bot).start()).heard);

describe('bots that change while the server runs', () => {
  it('are loaded again, new and removed ones too, in one step', async () => {
    const { folder, catalog, reloaded } = await watched({ 'a.mjs': botModule('a'), 'b/index.mjs': botModule('b') });
    const before = catalog.current;
    await writeFile(path.join(folder, 'c.mjs'), botModule('c'));
    await reloaded(1);
    expect(idsOf(catalog)).toEqual(['a', 'b', 'c']);
    expect(before.bots.map(({ id }) => id)).toEqual(['a', 'b']);
    await rm(path.join(folder, 'b'), { recursive: true });
    await reloaded(2);
    expect(idsOf(catalog)).toEqual(['a', 'c']);
  });

  it('are taken up by new calls only: a call that runs holds the bot it began with', async () => {
    const { folder, catalog, reloaded } = await watched({ 'a.mjs': botModule('a') });
    const running = catalog.current.find('a', 'o');
    await writeFiles(folder, { 'a.mjs': botModule('a', "session_start: () => go(null, say('Changed.').listen()),") });
    await reloaded(1);
    expect(await welcomeOf(catalog.current.find('a', 'o'))).toBe('Changed.');
    expect(await welcomeOf(running)).toBe('Hello from a.');
  });

  it('stay as they were when a module is broken, which is said once with what to mend', async () => {
    const { folder, catalog, log, reloaded, clock } = await watched({ 'a.mjs': botModule('a') });
    await writeFiles(folder, { 'a.mjs': '\n\nexport default nonsense;' });
    await reloaded(1);
    expect(await welcomeOf(catalog.current.find('', 'o'))).toBe('Hello from a.');
    const errors = () => log.lines.filter(({ level }) => level === 'error');
    expect(errors()).toHaveLength(1);
    expect(errors()[0]?.message).toMatch(/ones from before go on[^]*a\.mjs: nonsense is not defined[^]*mend: look at a\.mjs:3/u);
    // Nothing has changed since, so nothing more is said, whatever the editor does beside it.
    await writeFiles(folder, { 'a.mjs~': 'a copy', 'prompts/new.wav': '' });
    await until(
      () => 'the copy is noticed',
      () => clock.pendingTimers > 0,
    );
    clock.advance(QUIET_MS);
    await writeFiles(folder, { 'a.mjs': botModule('a', "session_start: () => go(null, say('Mended.').listen()),") });
    await reloaded(2);
    expect(errors()).toHaveLength(1);
    expect(await welcomeOf(catalog.current.find('', 'o'))).toBe('Mended.');
  });

  it('stay as they were when the settings do not fit the new ones', async () => {
    const open = (bots: readonly Bot[]) => {
      if (bots.some(({ id }) => id === 'b')) throw new AppError('config_invalid', 'bots.default_bot = b');
      return new Catalog(bots);
    };
    const { folder, catalog, log, reloaded } = await watched({ 'a.mjs': botModule('a') }, { open });
    await writeFiles(folder, { 'b.mjs': botModule('b') });
    await reloaded(1);
    expect(idsOf(catalog)).toEqual(['a']);
    expect(log.lines.at(-1)?.message).toContain('bots.default_bot = b');
  });

  it('are loaded once for a burst of changes, and no later than two seconds after the first', async () => {
    const { folder, clock, reloads, reloaded } = await watched({ 'a.mjs': botModule('a') });
    for (let written = 0; written < 14; written += 1) {
      const due = clock.nextTimerInMs;
      await utimes(path.join(folder, 'a.mjs'), written, written);
      await until(
        () => 'the change is noticed',
        // A second notice of the change before is as good.
        () => clock.nextTimerInMs !== due || due === QUIET_MS,
      );
      if (written < 13) clock.advance(QUIET_MS - 1);
    }
    expect(reloads).toEqual([]);
    expect(clock.nextTimerInMs).toBe(2000 - 13 * (QUIET_MS - 1));
    await reloaded(1);
    expect(reloads).toEqual(['loaded']);
  });

  it('are found when an editor saves by renaming', async () => {
    const { folder, catalog, reloaded } = await watched({ 'a.mjs': botModule('a') });
    await writeFiles(folder, { 'a.mjs.tmp': botModule('a', "session_start: () => go(null, say('Renamed.').listen()),") });
    await rename(path.join(folder, 'a.mjs.tmp'), path.join(folder, 'a.mjs'));
    await reloaded(1);
    expect(await welcomeOf(catalog.current.find('a', 'o'))).toBe('Renamed.');
  });

  it('change nothing after closing, which leaves no timer behind', async () => {
    const { folder, catalog, clock, reloads, settle } = await watched({ 'a.mjs': botModule('a') });
    await writeFiles(folder, { 'b.mjs': botModule('b') });
    await settle();
    await catalog.close();
    await writeFiles(folder, { 'c.mjs': botModule('c') });
    expect(idsOf(catalog)).toEqual(['a']);
    expect(reloads).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    await catalog.close();
  });
});
