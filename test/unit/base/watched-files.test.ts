// Files that change under a running process. The files are real, the time is not.
import { mkdirSync, rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { createLogger } from '../../../src/base/log.ts';
import { CHECK_MS, WatchedFiles, type Watch } from '../../../src/base/watched-files.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { look, WatchedFolder } from '../../support/watched-folder.ts';

type Line = Readonly<Record<string, unknown>>;

/** Follows files whose contents are good unless they hold the word `bad`, or differ from each other. */
function following(files: readonly string[], first: string, options: Partial<Watch<'pair'>> = {}) {
  const clock = new FakeClock();
  const lines: Line[] = [];
  const judged: boolean[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line: string) => void lines.push(JSON.parse(line) as Line) } });
  const watched = new WatchedFiles<'pair'>({ clock, log, onChecked: (_what, isTaken) => judged.push(isTaken) });
  onTestFinished(async () => {
    await watched.close();
    expect(clock.pendingTimers).toBe(0);
  });
  const inUse = [first];
  watched.follow({
    ...{ what: 'pair', files, code: 'config_invalid' },
    take: (contents) => {
      const [one = '', ...others] = contents.map(String);
      if (one.includes('bad') || others.some((other) => other !== one)) throw new AppError('config_invalid', 'they do not fit');
      if (one === inUse.at(-1)) return false;
      inUse.push(one);
      return true;
    },
    ...options,
  });
  const errors = (): readonly Line[] => lines.filter(({ level }) => level === 'error');
  return { clock, watched, lines, errors, judged, inUse };
}

describe('watched files', () => {
  it('are passed on when two polls in a row have found the same, and not before', async () => {
    const folder = new WatchedFolder();
    const file = folder.write('one', 'first');
    const { clock, watched, inUse, lines } = following([file], 'first');
    await look(watched, clock, 3);
    expect([inUse, lines]).toEqual([['first'], []]);
    folder.write('one', 'second');
    await look(watched, clock);
    expect(inUse).toEqual(['first']);
    await look(watched, clock);
    expect(inUse).toEqual(['first', 'second']);
    expect(lines).toMatchObject([{ level: 'info', event: 'files_taken', what: 'pair', files: [file] }]);
    await look(watched, clock, 3);
    expect(lines).toHaveLength(1);
  });

  it('are not lost when they change between the start and the first look', async () => {
    const { clock, watched, inUse } = following([new WatchedFolder().write('one', 'second')], 'first');
    await look(watched, clock, 2);
    expect(inUse).toEqual(['first', 'second']);
  });

  it('cost no word while they are written one after the other', async () => {
    const folder = new WatchedFolder();
    const files = ['one', 'two'].map((name) => folder.write(name, 'first'));
    const { clock, watched, inUse, lines, judged } = following(files, 'first');
    await look(watched, clock, 2);
    folder.write('one', 'second');
    await look(watched, clock);
    folder.write('two', 'second');
    await look(watched, clock, 2);
    expect(inUse).toEqual(['first', 'second']);
    expect(lines.map(({ event }) => event)).toEqual(['files_taken']);
    expect(judged).not.toContain(false);
  });

  it('are refused once for each bad change, and taken again when they are good', async () => {
    const folder = new WatchedFolder();
    const file = folder.write('one', 'first');
    const { clock, watched, inUse, errors, judged, lines } = following([file], 'first');
    await look(watched, clock, 2);
    folder.write('one', 'bad');
    await look(watched, clock, 6);
    expect(errors()).toMatchObject([{ event: 'files_refused', what: 'pair', files: [file], err: { code: 'config_invalid' } }]);
    expect(errors()[0]?.['msg']).toContain('what was there before goes on: they do not fit');
    expect(judged.at(-1)).toBe(false);
    folder.write('one', 'bad, too');
    await look(watched, clock, 3);
    expect(errors()).toHaveLength(2);
    // Back to what is in use all the time.
    folder.write('one', 'first');
    await look(watched, clock, 2);
    expect([judged.at(-1), inUse, lines.at(-1)]).toMatchObject([true, ['first'], { event: 'files_taken' }]);
    folder.write('one', 'third');
    await look(watched, clock, 2);
    expect(inUse).toEqual(['first', 'third']);
  });

  it('are taken without another change when only time was missing', async () => {
    const file = new WatchedFolder().write('one', 'second');
    let isGood = false;
    const { clock, watched, errors, judged } = following([file], 'first', {
      take: () => {
        if (!isGood) throw new AppError('config_invalid', 'not yet');
        return true;
      },
    });
    await look(watched, clock, 5);
    expect([errors().length, judged.at(-1)]).toEqual([1, false]);
    isGood = true;
    await look(watched, clock);
    expect([errors().length, judged.at(-1)]).toEqual([1, true]);
  });

  it('may be swapped as links, with the same times and sizes', async () => {
    const folder = new WatchedFolder();
    const names = ['one', 'two'];
    folder.swap({ one: 'first!', two: 'first!' });
    const { clock, watched, inUse, errors } = following(
      names.map((name) => folder.file(name)),
      'first!',
    );
    await look(watched, clock, 2);
    folder.swap({ one: 'second', two: 'second' });
    await look(watched, clock, 2);
    expect([inUse, errors()]).toEqual([['first!', 'second'], []]);
  });

  it.each<readonly [what: string, spoil: (folder: WatchedFolder) => void, reason: RegExp]>([
    [
      'is gone',
      (folder) => {
        rmSync(folder.file('one'));
      },
      /one cannot be read \(ENOENT\)$/u,
    ],
    [
      'is a folder',
      (folder) => {
        rmSync(folder.file('one'));
        mkdirSync(folder.file('one'));
      },
      /one cannot be read: it is no file$/u,
    ],
    [
      'is too large',
      (folder) => {
        folder.write('one', 'x'.repeat(1_048_577));
      },
      /one cannot be read: it has more than 1048576 bytes$/u,
    ],
  ])('are refused when one %s, and followed on', async (_what, spoil, reason) => {
    const folder = new WatchedFolder();
    const { clock, watched, inUse, errors } = following([folder.write('one', 'first')], 'first');
    await look(watched, clock, 2);
    spoil(folder);
    await look(watched, clock, 4);
    expect(errors()).toHaveLength(1);
    expect(errors()[0]?.['msg']).toMatch(reason);
    rmSync(folder.file('one'), { recursive: true, force: true });
    folder.write('one', 'second');
    await look(watched, clock, 2);
    expect(inUse).toEqual(['first', 'second']);
  });

  it('appear in no line with what is in them', async () => {
    const folder = new WatchedFolder();
    const { clock, watched, lines } = following([folder.write('one', 'CANARY')], 'first');
    await look(watched, clock, 2);
    folder.write('one', 'bad CANARY');
    await look(watched, clock, 2);
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain('CANARY');
  });

  it('are left alone after the end, also by a look that is under way', async () => {
    const file = new WatchedFolder().write('one', 'second');
    const { clock, watched, inUse } = following([file], 'first');
    await look(watched, clock);
    clock.advance(CHECK_MS);
    await watched.close();
    watched.follow({ what: 'pair', files: [file], code: 'config_invalid', take: () => true });
    expect([inUse, clock.pendingTimers]).toEqual([['first'], 0]);
  });

  it('are not looked at twice at once, however far the time jumps', async () => {
    const folder = new WatchedFolder();
    const { clock, watched, inUse, errors } = following([folder.write('one', 'second')], 'first');
    clock.advance(3_600_000);
    expect(clock.pendingTimers).toBe(1);
    await watched.polled();
    expect(inUse).toEqual(['first']);
    await look(watched, clock);
    expect([inUse, errors()]).toEqual([['first', 'second'], []]);
  });

  it('cost no timer when there are none', () => {
    const { clock } = following([], 'first');
    expect(clock.pendingTimers).toBe(0);
  });
});
