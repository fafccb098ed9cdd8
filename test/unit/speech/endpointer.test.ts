import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_ENDPOINTING, Endpointer, type EndpointSettings } from '../../../src/speech/endpointer.ts';

/** Small settings, so that a picture of frames fits in a line: start after 3, end after 10, cut after 50 frames. */
const SMALL: EndpointSettings = { startMs: 60, endSilenceMs: 200, maxUtteranceMs: 1000 };

/** Pushes frames drawn as `#` (speech) and `.` and returns the events with the number of the frame that caused them. */
function run(endpointer: Endpointer, drawn: string): string[] {
  return [...drawn].flatMap((frame, index) => {
    const event = endpointer.push(frame === '#');
    return event === undefined ? [] : [`${event} ${String(index)}`];
  });
}

describe('start of speech', () => {
  it('starts with the frame that completes the start time', () => {
    expect(run(new Endpointer(SMALL), '...###')).toEqual(['speech_started 5']);
    expect(run(new Endpointer(), '#####')).toEqual(['speech_started 4']);
    expect(run(new Endpointer(), '####')).toEqual([]);
  });

  it('forgives gaps within twice the start time', () => {
    expect(run(new Endpointer(SMALL), '#.#..#')).toEqual(['speech_started 5']);
    expect(run(new Endpointer(SMALL), '#.#...#')).toEqual([]);
  });

  it('does not add up clicks', () => {
    expect(run(new Endpointer(SMALL), '##.....'.repeat(50))).toEqual([]);
  });

  it('counts the utterance from its first speech frame', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, '....#..##');
    expect(endpointer.isHearing).toBe(true);
    expect(endpointer.utteranceFrames).toBe(5);
    const gapless = new Endpointer(SMALL);
    run(gapless, '.......###');
    expect(gapless.utteranceFrames).toBe(3);
  });
});

describe('end of speech', () => {
  it('ends with the frame that completes the end silence', () => {
    expect(run(new Endpointer(SMALL), `###${'.'.repeat(9)}`)).toEqual(['speech_started 2']);
    expect(run(new Endpointer(SMALL), `###${'.'.repeat(10)}`)).toEqual(['speech_started 2', 'speech_ended 12']);
  });

  it('ends 800 ms after the last speech by default', () => {
    expect(run(new Endpointer(), `#####${'.'.repeat(45)}`)).toEqual(['speech_started 4', 'speech_ended 44']);
  });

  it('goes on after a pause that is shorter than the end silence', () => {
    expect(run(new Endpointer(SMALL), `###${'.'.repeat(9)}###${'.'.repeat(9)}###${'.'.repeat(10)}`)).toEqual([
      'speech_started 2',
      'speech_ended 36',
    ]);
  });

  it('is not put off by single frames in the silence', () => {
    expect(run(new Endpointer(SMALL), '###....#.....')).toEqual(['speech_started 2', 'speech_ended 12']);
    expect(run(new Endpointer(SMALL), '###....#.#...')).toEqual(['speech_started 2', 'speech_ended 12']);
  });

  it('begins the silence anew after three of six frames', () => {
    expect(run(new Endpointer(SMALL), '###.....#.#.#..........')).toEqual(['speech_started 2', 'speech_ended 22']);
    expect(run(new Endpointer(SMALL), '###....#..#..#..........')).toEqual(['speech_started 2', 'speech_ended 16']);
  });

  it('waits three frames for a caller who may just be going on', () => {
    expect(run(new Endpointer(SMALL), '###.........#..#')).toEqual(['speech_started 2']);
    expect(run(new Endpointer(SMALL), '###.........#...')).toEqual(['speech_started 2', 'speech_ended 15']);
  });

  it('says how much silence stands at the end', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, `####${'.'.repeat(10)}`);
    expect(endpointer.quietFrames).toBe(10);
    expect(endpointer.utteranceFrames).toBe(14);
  });

  it('cuts an utterance at its longest time', () => {
    expect(run(new Endpointer(SMALL), '#'.repeat(50))).toEqual(['speech_started 2', 'speech_ended 49']);
    expect(run(new Endpointer(SMALL), '#'.repeat(55))).toEqual(['speech_started 2', 'speech_ended 49', 'speech_started 52']);
  });

  it('ends at once when no more audio comes, and only while somebody speaks', () => {
    const endpointer = new Endpointer(SMALL);
    expect(endpointer.finish()).toBeUndefined();
    run(endpointer, '###.');
    expect(endpointer.finish()).toBe('speech_ended');
    expect(endpointer.quietFrames).toBe(1);
    expect(endpointer.finish()).toBeUndefined();
  });

  it('drops an utterance on reset without a word and begins from nothing', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, '###');
    endpointer.reset();
    expect(endpointer.isHearing).toBe(false);
    expect([endpointer.utteranceFrames, endpointer.quietFrames]).toEqual([0, 0]);
    expect(run(endpointer, '##')).toEqual([]);
    endpointer.reset();
    expect(run(endpointer, '##.')).toEqual([]);
    expect(run(endpointer, '#')).toEqual(['speech_started 0']);
  });
});

describe('settings', () => {
  it.each([0, 19, -100, Number.NaN, Infinity, 600_001])('refuses %d ms', (ms) => {
    for (const name of ['startMs', 'endSilenceMs', 'maxUtteranceMs'] as const) {
      expect(() => new Endpointer({ ...DEFAULT_ENDPOINTING, [name]: ms })).toThrow(
        expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(name) as string }),
      );
    }
  });

  it('tells how many frames it may look back and how many an utterance may have', () => {
    const endpointer = new Endpointer();
    expect(endpointer.windowFrames).toBe(10);
    expect(endpointer.maxFrames).toBe(1500);
  });
});

describe('for every sequence of frames', () => {
  const settings = fc.record({
    startMs: fc.integer({ min: 20, max: 200 }),
    endSilenceMs: fc.integer({ min: 20, max: 400 }),
    maxUtteranceMs: fc.integer({ min: 20, max: 2000 }),
  });
  /** Runs of speech and silence, as talking is made of. */
  const frames = fc
    .array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 30 })), { maxLength: 40 })
    .map((runs) => runs.map(([isSpeech, length]) => (isSpeech ? '#' : '.').repeat(length)).join(''));

  it('starts and ends take turns, and no utterance is longer than allowed', () => {
    fc.assert(
      fc.property(settings, frames, (chosen, drawn) => {
        const endpointer = new Endpointer(chosen);
        let wasHearing = false;
        for (const frame of drawn) {
          const event = endpointer.push(frame === '#');
          if (event !== undefined) expect(event).toBe(wasHearing ? 'speech_ended' : 'speech_started');
          expect(endpointer.isHearing).toBe(event === undefined ? wasHearing : event === 'speech_started');
          wasHearing = endpointer.isHearing;
          if (wasHearing) expect(endpointer.utteranceFrames).toBeLessThanOrEqual(Math.max(endpointer.maxFrames, endpointer.windowFrames));
          expect(endpointer.quietFrames).toBeLessThanOrEqual(endpointer.utteranceFrames);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('silence never starts, and long enough silence always ends', () => {
    fc.assert(
      fc.property(settings, frames, (chosen, drawn) => {
        const endpointer = new Endpointer(chosen);
        run(endpointer, drawn);
        const after = run(endpointer, '.'.repeat(30));
        expect(endpointer.isHearing).toBe(false);
        expect(after.filter((event) => event.startsWith('speech_started'))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
