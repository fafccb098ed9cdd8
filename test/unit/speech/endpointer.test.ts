import { describe, expect, it } from 'vitest';
import { DEFAULT_PATIENCE, Endpointer, type SpeechPatience } from '../../../src/speech/endpointer.ts';
import { run } from '../../support/drawn-speech.ts';

/** Small settings, so that a picture of frames fits in a line: start after 3, interrupt after 6, end after 10, cut after 50. */
const SMALL: SpeechPatience = { startMs: 60, interruptMs: 120, endSilenceMs: 200, resumeGraceMs: 0, maxUtteranceMs: 1000, preRollMs: 0 };
/** The same with a suspected end after 10 frames and the end after 15. */
const GRACE: SpeechPatience = { ...SMALL, resumeGraceMs: 100 };

describe('start of speech', () => {
  it('starts with the frame that completes the start time', () => {
    expect(run(new Endpointer(SMALL), '...###')).toEqual(['started 5']);
    expect(run(new Endpointer(), '#####')).toEqual(['started 4']);
    expect(run(new Endpointer(), '####')).toEqual([]);
  });

  it('forgives gaps within twice the start time', () => {
    expect(run(new Endpointer(SMALL), '#.#..#')).toEqual(['started 5']);
    expect(run(new Endpointer(SMALL), '#.#...#')).toEqual([]);
  });

  it('does not add up clicks', () => {
    expect(run(new Endpointer(SMALL), '##.....'.repeat(100))).toEqual([]);
  });

  it('counts the utterance from its first speech frame', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, '....#..##');
    expect(endpointer.isHearing).toBe(true);
    expect([endpointer.utteranceFrames, endpointer.quietFrames]).toEqual([5, 0]);
    const gapless = new Endpointer(SMALL);
    run(gapless, '.......###');
    expect(gapless.utteranceFrames).toBe(3);
  });

  it('does not look back further than its window', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, '#...#.##');
    expect(endpointer.utteranceFrames).toBe(4);
  });

  it('starts the next utterance from nothing', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, '###..');
    endpointer.finish();
    expect(run(endpointer, '##.')).toEqual([]);
    expect(run(endpointer, '#')).toEqual(['started 0']);
  });
});

describe('start of speech over a prompt', () => {
  it('needs the interruption time', () => {
    expect(run(new Endpointer(SMALL), 'ooPPPPP')).toEqual([]);
    expect(run(new Endpointer(SMALL), 'ooPPPPPP')).toEqual(['started 7']);
    expect(run(new Endpointer(), 'P'.repeat(19))).toEqual([]);
    expect(run(new Endpointer(), 'P'.repeat(20))).toEqual(['started 19']);
  });

  it('forgives gaps within one and a half times that time, and counts the utterance from its first speech', () => {
    const endpointer = new Endpointer(SMALL);
    expect(run(endpointer, 'PoPPoPoPP')).toEqual(['started 8']);
    expect([endpointer.utteranceFrames, endpointer.quietFrames]).toEqual([9, 0]);
    expect(run(new Endpointer(SMALL), 'PoPPooPoPP')).toEqual([]);
  });

  it('does not add up backchannels', () => {
    expect(run(new Endpointer(SMALL), 'PPPPPoooo'.repeat(100))).toEqual([]);
  });

  it('may need less than a start does', () => {
    const hasty = new Endpointer({ ...SMALL, startMs: 120, interruptMs: 40 });
    expect(run(hasty, 'oPP')).toEqual(['started 2']);
    expect(hasty.utteranceFrames).toBe(2);
  });

  it('goes on as a start when the prompt ends in the middle of a word, from its first frame', () => {
    const endpointer = new Endpointer(SMALL);
    expect(run(endpointer, 'ooPPPPP#')).toEqual(['started 7']);
    expect([endpointer.utteranceFrames, endpointer.quietFrames]).toEqual([6, 0]);
  });

  it('takes a short word on the end of a prompt for the answer once the prompt is over', () => {
    const endpointer = new Endpointer(SMALL);
    expect(run(endpointer, 'PPPooo.')).toEqual(['started 6']);
    expect([endpointer.utteranceFrames, endpointer.quietFrames]).toEqual([7, 4]);
    expect(run(endpointer, '.....')).toEqual([]);
    expect(run(endpointer, '.')).toEqual(['ended 0']);
  });

  it('holds such a word no longer than it can look back', () => {
    // Held while three of the last six frames are speech, and three frames more.
    const last = new Endpointer(SMALL);
    expect(run(last, `PPPooooo.`)).toEqual(['started 8']);
    expect(last.utteranceFrames).toBe(9);
    expect(run(new Endpointer(SMALL), `PPPoooooo.`)).toEqual([]);
    expect(run(new Endpointer(SMALL), `PPPoooooo.##`)).toEqual([]);
  });

  it('holds nothing that would not have been a start', () => {
    expect(run(new Endpointer(SMALL), 'PPoooPo...')).toEqual(['started 7']);
    expect(run(new Endpointer(SMALL), 'PPooooPo...')).toEqual([]);
  });

  it('forgets what it held at the end of an utterance and on reset', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, 'PPPooo');
    endpointer.reset();
    expect(run(endpointer, '......')).toEqual([]);
    run(endpointer, 'PPPooo.');
    endpointer.finish();
    expect(run(endpointer, '......')).toEqual([]);
  });
});

describe('end of speech without a grace', () => {
  it('ends with the frame that completes the end silence', () => {
    expect(run(new Endpointer(SMALL), `###${'.'.repeat(9)}`)).toEqual(['started 2']);
    expect(run(new Endpointer(SMALL), `###${'.'.repeat(10)}`)).toEqual(['started 2', 'ended 12']);
  });

  it('goes on after a pause that is shorter than the end silence', () => {
    expect(run(new Endpointer(SMALL), `###${'.'.repeat(9)}###${'.'.repeat(9)}###${'.'.repeat(10)}`)).toEqual(['started 2', 'ended 36']);
  });

  it('is not put off by single frames in the silence', () => {
    expect(run(new Endpointer(SMALL), '###....#.....')).toEqual(['started 2', 'ended 12']);
    expect(run(new Endpointer(SMALL), '###....#.#...')).toEqual(['started 2', 'ended 12']);
  });

  it('begins the silence anew after three of six frames', () => {
    expect(run(new Endpointer(SMALL), '###.....#.#.#..........')).toEqual(['started 2', 'ended 22']);
    expect(run(new Endpointer(SMALL), '###.....#..#.#..........')).toEqual(['started 2', 'ended 23']);
    expect(run(new Endpointer(SMALL), '###....#..#..#..........')).toEqual(['started 2', 'ended 16']);
  });

  it('waits three frames for a caller who may just be going on', () => {
    expect(run(new Endpointer(SMALL), '###.........#..#')).toEqual(['started 2']);
    expect(run(new Endpointer(SMALL), '###.........#..')).toEqual(['started 2']);
    expect(run(new Endpointer(SMALL), '###.........#...')).toEqual(['started 2', 'ended 15']);
  });

  it('says how much silence stands at the end', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, `####${'.'.repeat(10)}`);
    expect(endpointer.quietFrames).toBe(10);
    expect(endpointer.utteranceFrames).toBe(14);
  });

  it('ends at once when no more audio comes, and only while somebody speaks', () => {
    const endpointer = new Endpointer(SMALL);
    expect(endpointer.finish()).toBeUndefined();
    run(endpointer, '###.');
    expect(endpointer.finish()).toBe('speech_ended');
    expect(endpointer.isHearing).toBe(false);
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
    expect(run(endpointer, '#')).toEqual(['started 0']);
  });
});

describe('the suspected end', () => {
  it('is reported once, and the end after the grace', () => {
    expect(run(new Endpointer(GRACE), `###${'.'.repeat(30)}`)).toEqual(['started 2', 'paused 12', 'ended 17']);
    expect(run(new Endpointer(), `#####${'.'.repeat(45)}`)).toEqual(['started 4', 'paused 34', 'ended 44']);
  });

  it('is taken back when the caller goes on within the grace, in the same utterance', () => {
    const endpointer = new Endpointer(GRACE);
    expect(run(endpointer, `###${'.'.repeat(11)}###`)).toEqual(['started 2', 'paused 12', 'resumed 16']);
    expect([endpointer.utteranceFrames, endpointer.quietFrames]).toEqual([17, 0]);
    expect(run(endpointer, '.'.repeat(15))).toEqual(['paused 9', 'ended 14']);
  });

  it('is taken back in the last frame of the grace', () => {
    expect(run(new Endpointer(GRACE), `###${'.'.repeat(12)}###`)).toEqual(['started 2', 'paused 12', 'resumed 17']);
    expect(run(new Endpointer(GRACE), `###${'.'.repeat(14)}###`)).toEqual(['started 2', 'paused 12', 'resumed 19']);
    expect(run(new Endpointer(GRACE), `###${'.'.repeat(15)}###`)).toEqual(['started 2', 'paused 12', 'ended 17', 'started 20']);
  });

  it('is not taken back by a click', () => {
    expect(run(new Endpointer(GRACE), '###..........##......')).toEqual(['started 2', 'paused 12', 'ended 17']);
  });

  it('waits three frames, as the end does, for a caller who may just be going on', () => {
    expect(run(new Endpointer(GRACE), '###.........#..#')).toEqual(['started 2']);
    expect(run(new Endpointer(GRACE), '###.........#..')).toEqual(['started 2']);
    expect(run(new Endpointer(GRACE), '###.........#...')).toEqual(['started 2', 'paused 15']);
    expect(run(new Endpointer(GRACE), '###..............#...')).toEqual(['started 2', 'paused 12', 'ended 20']);
  });

  it('goes over into the end when a doubtful frame held both up', () => {
    expect(run(new Endpointer({ ...SMALL, resumeGraceMs: 40 }), '###.........#..#...')).toEqual(['started 2', 'ended 18']);
  });

  it('belongs to its utterance: the next one is suspected anew', () => {
    const endpointer = new Endpointer(GRACE);
    run(endpointer, `###${'.'.repeat(10)}`);
    expect(endpointer.isHearing).toBe(true);
    endpointer.finish();
    expect(run(endpointer, `######${'.'.repeat(10)}`)).toEqual(['started 2', 'paused 15']);
    endpointer.reset();
    expect(run(endpointer, `######${'.'.repeat(10)}`)).toEqual(['started 2', 'paused 15']);
  });

  it('comes again after every pause', () => {
    expect(run(new Endpointer(GRACE), `###${`${'.'.repeat(10)}###`.repeat(2)}`)).toEqual([
      ...['started 2', 'paused 12', 'resumed 15'],
      ...['paused 25', 'resumed 28'],
    ]);
  });
});

describe('the longest utterance', () => {
  it('is cut', () => {
    expect(run(new Endpointer(SMALL), '#'.repeat(49))).toEqual(['started 2']);
    expect(run(new Endpointer(SMALL), '#'.repeat(50))).toEqual(['started 2', 'ended 49']);
    expect(run(new Endpointer(SMALL), '#'.repeat(55))).toEqual(['started 2', 'ended 49', 'started 52']);
  });

  it('is cut in a pause and in the frame that would end it', () => {
    expect(run(new Endpointer(GRACE), `${'#'.repeat(38)}${'.'.repeat(12)}`)).toEqual(['started 2', 'paused 47', 'ended 49']);
    expect(run(new Endpointer(GRACE), `${'#'.repeat(40)}${'.'.repeat(10)}`)).toEqual(['started 2', 'ended 49']);
    expect(run(new Endpointer(GRACE), `${'#'.repeat(37)}${'.'.repeat(10)}###`)).toEqual(['started 2', 'paused 46', 'ended 49']);
  });

  it('is cut in the first frame after a start that looked back further than it may last', () => {
    const endpointer = new Endpointer({ ...SMALL, interruptMs: 2000 });
    expect(run(endpointer, 'P'.repeat(100))).toEqual(['started 99']);
    expect(run(endpointer, 'P')).toEqual(['ended 0']);
  });
});

describe('starts and ends from outside', () => {
  it('take the speech heard just before along', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, '.#.#..');
    expect(endpointer.start()).toBe('speech_started');
    expect(endpointer.isHearing).toBe(true);
    expect([endpointer.utteranceFrames, endpointer.quietFrames]).toEqual([5, 2]);
    expect(endpointer.start()).toBeUndefined();
    expect(endpointer.finish()).toBe('speech_ended');
  });

  it('begin with the next frame when there was none', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, '.........');
    endpointer.start();
    expect([endpointer.utteranceFrames, endpointer.quietFrames]).toEqual([0, 0]);
    expect(run(endpointer, '.........')).toEqual([]);
    expect(run(endpointer, '.')).toEqual(['ended 0']);
  });

  it('leave the longest time in force where nobody decides on frames', () => {
    const endpointer = new Endpointer(SMALL);
    for (let frame = 0; frame < 100; frame += 1) expect(endpointer.pass()).toBeUndefined();
    expect(endpointer.isHearing).toBe(false);
    endpointer.start();
    for (let frame = 0; frame < 49; frame += 1) expect(endpointer.pass()).toBeUndefined();
    expect(endpointer.utteranceFrames).toBe(49);
    expect(endpointer.pass()).toBe('speech_ended');
    expect(endpointer.isHearing).toBe(false);
  });
});

describe('another patience', () => {
  it('is what the next frames are weighed with, those before included', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, '...##.');
    endpointer.expect({ ...SMALL, startMs: 80 });
    expect(run(endpointer, '#')).toEqual([]);
    expect(run(endpointer, '#')).toEqual(['started 0']);
    expect(endpointer.utteranceFrames).toBe(5);
  });

  it('counts the speech in both windows anew, exactly', () => {
    const endpointer = new Endpointer({ ...SMALL, startMs: 1000, interruptMs: 4000 });
    run(endpointer, '#..#.#..');
    endpointer.expect(SMALL);
    // Six frames back stand two of speech, nine back three.
    expect(run(endpointer, '.')).toEqual([]);
    const counted = new Endpointer({ ...SMALL, startMs: 1000, interruptMs: 4000 });
    run(counted, 'PooPoPoo');
    counted.expect(SMALL);
    expect(run(counted, 'PP')).toEqual([]);
    expect(run(counted, 'P')).toEqual([]);
    expect(run(counted, 'P')).toEqual(['started 0']);
  });

  it('tells how far it looks back and how long an utterance may be', () => {
    const endpointer = new Endpointer();
    expect([endpointer.windowFrames, endpointer.maxFrames]).toEqual([30, 1500]);
    endpointer.expect({ ...DEFAULT_PATIENCE, interruptMs: 100, maxUtteranceMs: 1000 });
    expect([endpointer.windowFrames, endpointer.maxFrames]).toEqual([10, 50]);
    endpointer.expect({ ...DEFAULT_PATIENCE, startMs: 1000, interruptMs: 4000 });
    expect(endpointer.windowFrames).toBe(300);
  });

  it('is refused as a whole when one value is out of range', () => {
    const endpointer = new Endpointer(SMALL);
    expect(() => {
      endpointer.expect({ ...SMALL, startMs: 20, maxUtteranceMs: 1 });
    }).toThrow(expect.objectContaining({ code: 'config_invalid' }));
    expect(run(endpointer, '#.')).toEqual([]);
    expect(() => new Endpointer({ ...SMALL, endSilenceMs: Number.NaN })).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });

  it('works at the largest settings', () => {
    const patient = new Endpointer({
      startMs: 1000,
      interruptMs: 4000,
      endSilenceMs: 10_000,
      resumeGraceMs: 10_000,
      maxUtteranceMs: 120_000,
      preRollMs: 2000,
    });
    expect(run(patient, 'P'.repeat(199))).toEqual([]);
    expect(run(patient, 'P')).toEqual(['started 0']);
    expect(run(patient, '.'.repeat(1000))).toEqual(['paused 499', 'ended 999']);
    const start = new Endpointer({ ...DEFAULT_PATIENCE, startMs: 1000, interruptMs: 4000 });
    expect(run(start, '#.'.repeat(49))).toEqual([]);
    expect(run(start, '#')).toEqual(['started 0']);
    expect(start.utteranceFrames).toBe(99);
  });
});
