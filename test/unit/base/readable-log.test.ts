import { describe, expect, it } from 'vitest';
import { toAppError } from '../../../src/base/errors.ts';
import { createLogger } from '../../../src/base/log.ts';
import { readableLines } from '../../../src/base/readable-log.ts';

function terminal(isColoured: boolean): { readonly log: ReturnType<typeof createLogger>; readonly text: () => string } {
  const written: string[] = [];
  const destination = readableLines({ write: (line: string) => void written.push(line) }, isColoured);
  return { log: createLogger({ level: 'info', isDevelopment: true, destination }), text: () => written.join('') };
}

/** The lines without the time in front, which is that of the test. */
const untimed = (text: string): readonly string[] => text.split('\n').map((line) => line.replace(/^\d\d:\d\d:\d\d\.\d{3} /u, 'TIME '));

describe('the log on a terminal', () => {
  it('writes time, level, message and fields, and words as they were said', () => {
    const { log, text } = terminal(false);
    log.info({ event: 'utterance_understood', words: 'nine to five', turnId: 't-1' }, 'an utterance was recognized');
    expect(untimed(text())).toEqual(['TIME info  an utterance was recognized  event=utterance_understood  "nine to five"  turnId=t-1', '']);
  });

  it('gives an error lines of its own: what it says, the place in its author’s code, then the frames, then its cause', () => {
    const { log, text } = terminal(false);
    log.error({ err: toAppError(new TypeError('no such tool'), 'bot_failed', 'the handler threw') }, 'failed');
    const lines = untimed(text());
    expect(lines[0]).toBe('TIME error failed');
    expect(lines[1]).toBe('    AppError: the handler threw');
    const cause = lines.indexOf('    TypeError: no such tool');
    expect(lines[cause + 1]).toMatch(/^ {6}in \/.*readable-log\.test\.ts:\d+:\d+$/u);
    expect(lines[cause + 2]).toMatch(/^ {6}at .*readable-log\.test\.ts/u);
  });

  it('colours what is wrong and what was said, and lets no word steer the terminal', () => {
    const { log, text } = terminal(true);
    log.error({ words: 'a\u001b[2Jb' }, 'failed');
    expect(text()).toContain('\u001b[31mfailed');
    expect(text()).toContain('\u001b[36m"a [2Jb"');
  });
});
