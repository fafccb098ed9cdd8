import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadSignalEngines } from '../../../src/app/signal-engines.ts';
import type { SignalEngines } from '../../../src/speech/engines.ts';
import { Listener, type ListenerOptions } from '../../../src/speech/listener.ts';
import type { SpeechPatience } from '../../../src/speech/patience.ts';
import { drawingEngines, drawn, framesIn, upTo, type Asked } from '../../support/drawn-line.ts';
import { MULAW } from '../../support/listening.ts';

/** Start after 3 frames, over a prompt after 6, suspected end after 10, end after 15; 2 frames of pre-roll. */
const SMALL: SpeechPatience = { startMs: 60, interruptMs: 120, endSilenceMs: 200, resumeGraceMs: 100, maxUtteranceMs: 1000, preRollMs: 40 };

let loaded: SignalEngines;
let engines: SignalEngines & { readonly asked: Asked };

beforeAll(async () => {
  loaded = await loadSignalEngines();
});

beforeEach(() => {
  engines = drawingEngines(loaded);
});

/** A listener on a drawn line, and what it reported after how many frames. */
class Drawing {
  readonly events: string[] = [];
  readonly listener: Listener;
  #frames = 0;

  constructor(options: Partial<ListenerOptions> = {}) {
    this.listener = new Listener({
      ...{ engines, patience: SMALL },
      ...options,
      onEvent: (event) => {
        this.events.push(`${event.slice('speech_'.length)} ${String(this.#frames)}`);
        options.onEvent?.(event);
      },
    });
  }

  /** Frame by frame, numbered on. */
  hears(picture: string, isOverPrompt = false): this {
    for (const frame of picture) {
      const bytes = drawn(frame, this.#frames);
      this.#frames += 1;
      this.listener.push(bytes, MULAW, isOverPrompt);
    }
    return this;
  }

  /** The numbers of the frames of the utterance. */
  get utterance(): number[] {
    return framesIn(this.listener.takeUtterance().mulaw);
  }
}

describe('a suspected end', () => {
  it('is reported, taken back, and reported again before the end', () => {
    const line = new Drawing().hears(`....###${'.'.repeat(12)}###${'.'.repeat(15)}`);
    expect(line.events).toEqual(['started 7', 'paused 17', 'resumed 22', 'paused 32', 'ended 37']);
    expect(line.utterance).toEqual(upTo(2, 31));
  });

  it('leaves the very utterance to be read that the end brings, unless the caller goes on', () => {
    const read: Uint8Array[] = [];
    const line: Drawing = new Drawing({
      onEvent: (event) => {
        if (event === 'speech_paused') read.push(line.listener.utteranceSoFar().mulaw);
      },
    });
    line.hears(`....###${'.'.repeat(12)}###${'.'.repeat(15)}`);
    expect(read.map(framesIn)).toEqual([upTo(2, 16), upTo(2, 31)]);
    const { mulaw, durationMs } = line.listener.takeUtterance();
    expect(read[1]).toEqual(mulaw);
    expect(durationMs).toBe(600);
  });

  it('passes nothing on when it is read', () => {
    const line = new Drawing().hears('....####');
    expect(line.listener.utteranceSoFar()).toEqual({ mulaw: expect.any(Uint8Array) as Uint8Array, durationMs: 120 });
    expect(framesIn(line.listener.utteranceSoFar().mulaw)).toEqual(upTo(2, 7));
    expect(line.utterance).toEqual(upTo(2, 7));
    expect(line.listener.utteranceSoFar().durationMs).toBe(0);
  });
});

describe('over a prompt', () => {
  it('a start needs the interruption time', () => {
    const line = new Drawing().hears('....#####....', true);
    expect(line.events).toEqual([]);
    line.hears('######', true);
    expect(line.events).toEqual(['started 19']);
    expect(line.utterance).toEqual(upTo(11, 18));
  });

  it('a word on its end is an utterance from its first frame once it is over', () => {
    const line = new Drawing().hears('....###...', true).hears('.');
    expect(line.events).toEqual(['started 11']);
    expect(line.utterance).toEqual(upTo(2, 10));
  });

  it('counts message by message', () => {
    const line = new Drawing();
    line.listener.push(drawn('###......'), MULAW, true);
    line.listener.push(drawn('......'), MULAW);
    expect(line.events).toEqual([]);
    line.listener.push(drawn('###'), MULAW);
    expect(line.events).toEqual(['started 0']);
  });

  it('the detector gets whether the caller is already speaking', () => {
    new Drawing().hears('..###..');
    expect(engines.asked.isHearing).toEqual([false, false, false, false, false, true, true]);
  });
});

describe('what is expected', () => {
  it('counts for the next utterances, and what is left out returns to what the listener was made with', () => {
    const line = new Drawing();
    line.listener.expect({ startMs: 20, endSilenceMs: 400 });
    line.hears(`.#${'.'.repeat(25)}`);
    expect(line.events).toEqual(['started 2', 'paused 22', 'ended 27']);
    line.listener.reset();
    line.listener.expect({ resumeGraceMs: 0 });
    line.hears(`.##.${'.'.repeat(10)}###${'.'.repeat(10)}`);
    expect(line.events.slice(3)).toEqual(['started 44', 'ended 54']);
  });

  it('waits for the reset while the caller is speaking', () => {
    const line = new Drawing().hears('..###');
    line.listener.expect({ endSilenceMs: 100, resumeGraceMs: 0 });
    line.hears('.'.repeat(15));
    expect(line.events).toEqual(['started 5', 'paused 15', 'ended 20']);
    line.listener.reset();
    line.hears('###.....');
    expect(line.events.slice(3)).toEqual(['started 23', 'ended 28']);
  });

  it('is what was expected last, also when that was while the caller was speaking', () => {
    const line = new Drawing().hears('..###');
    line.listener.expect({ endSilenceMs: 100 });
    line.listener.expect({});
    line.listener.reset();
    line.hears(`###${'.'.repeat(10)}`);
    expect(line.events.slice(1)).toEqual(['started 8', 'paused 18']);
  });

  it('counts at once for an utterance that is over and not taken yet', () => {
    const line = new Drawing().hears(`..###${'.'.repeat(15)}`);
    line.listener.expect({ maxUtteranceMs: 2000 });
    expect(line.utterance).toEqual(upTo(0, 14));
    line.listener.reset();
    line.hears('#'.repeat(100));
    expect(line.events.slice(3)).toEqual(['started 23', 'ended 120']);
    expect(line.utterance).toEqual(upTo(20, 119));
  });

  it('keeps more or less from before the speech, for the next utterances', () => {
    const line = new Drawing();
    line.listener.expect({ preRollMs: 200 });
    line.hears('............###').hears('.'.repeat(15));
    expect(line.utterance[0]).toBe(2);
    line.listener.expect({ preRollMs: 0 });
    line.listener.reset();
    line.hears('............###').hears('.'.repeat(15));
    expect(line.utterance[0]).toBe(42);
    line.listener.expect({});
    line.listener.reset();
    line.hears('............###').hears('.'.repeat(15));
    expect(line.utterance[0]).toBe(70);
  });

  it('keeps the pre-roll when it needs a longer memory', () => {
    const line = new Drawing().hears('.........');
    line.listener.expect({ interruptMs: 400 });
    line.hears('#'.repeat(20), true);
    expect(line.events).toEqual(['started 29']);
    expect(line.utterance).toEqual(upTo(7, 28));
  });

  it('keeps more of the line once the start needs more, and the whole of a longer utterance', () => {
    const line = new Drawing();
    line.listener.expect({ startMs: 1000, maxUtteranceMs: 4000 });
    line.hears('..').hears('.#'.repeat(50)).hears('#'.repeat(101));
    expect(line.events).toEqual(['started 102', 'ended 203']);
    expect(line.utterance).toEqual(upTo(1, 202));
  });

  it('is refused when it is out of range, and nothing changes', () => {
    const line = new Drawing();
    expect(() => {
      line.listener.expect({ startMs: 20, endSilenceMs: 99 });
    }).toThrow(expect.objectContaining({ code: 'config_invalid' }));
    line.hears('..#');
    expect(line.events).toEqual([]);
  });
});

describe('starts and ends from outside', () => {
  it('are the only ones for a bot that endpoints by itself, and it pays for no detector', () => {
    const line = new Drawing({ isSelfEndpointing: true }).hears(`...#####${'.'.repeat(20)}`);
    expect(line.events).toEqual([]);
    line.listener.startNow();
    line.hears(`#${'.'.repeat(30)}`);
    line.listener.endNow();
    expect(line.events).toEqual(['started 28', 'ended 59']);
    // Two frames of pre-roll, and no silence is taken off: nobody knows where it is.
    expect(line.utterance).toEqual(upTo(26, 58));
    expect(engines.asked).toEqual({ open: 0, isHearing: [] });
  });

  it('leave the longest utterance in force', () => {
    const line = new Drawing({ isSelfEndpointing: true }).hears('...');
    line.listener.startNow();
    line.hears('.'.repeat(60));
    expect(line.events).toEqual(['started 3', 'ended 53']);
    expect(line.utterance).toEqual(upTo(1, 52));
  });

  it('work beside those of the listener, with the speech it was just weighing', () => {
    const line = new Drawing().hears('.....##..');
    line.listener.startNow();
    expect(line.listener.isHearing).toBe(true);
    line.hears('..');
    line.listener.endNow();
    expect(line.events).toEqual(['started 9', 'ended 11']);
    expect(line.utterance).toEqual(upTo(3, 10));
  });

  it('are ignored when they make no sense', () => {
    const line = new Drawing();
    line.listener.endNow();
    line.listener.startNow();
    line.listener.startNow();
    line.listener.endNow();
    line.listener.endNow();
    line.listener.startNow();
    expect(line.events).toEqual(['started 0', 'ended 0']);
    line.listener.reset();
    line.listener.close();
    line.listener.startNow();
    line.listener.endNow();
    expect(line.events.length).toBe(2);
  });

  it('may come from within a frame, which then belongs to the utterance, and the next ones do', () => {
    let frames = 0;
    const line: Drawing = new Drawing({
      isSelfEndpointing: true,
      onFrame: () => {
        frames += 1;
        if (frames === 5) line.listener.startNow();
        if (frames === 9) line.listener.endNow();
      },
    });
    line.hears('...............');
    expect(line.events).toEqual(['started 5', 'ended 9']);
    expect(line.utterance).toEqual(upTo(2, 7));
  });

  it('leave frames after an end to the next pre-roll, the one it came in included', () => {
    const line: Drawing = new Drawing({ isSelfEndpointing: true });
    line.listener.startNow();
    line.hears('....');
    line.listener.endNow();
    line.hears('...');
    line.listener.reset();
    line.listener.startNow();
    expect(line.utterance).toEqual([5, 6]);
  });

  it('end with the input as others do', () => {
    const line = new Drawing({ isSelfEndpointing: true });
    line.listener.startNow();
    line.hears('..');
    line.listener.finish();
    expect(line.events).toEqual(['started 0', 'ended 2']);
  });
});

describe('closing from within a frame', () => {
  it('ends all hearing, and the detector is closed once', () => {
    const line: Drawing = new Drawing({
      onFrame: () => {
        line.listener.close();
      },
    });
    line.listener.push(drawn('......######'), MULAW);
    expect(line.events).toEqual([]);
    expect(engines.asked.isHearing.length).toBe(1);
    expect(engines.asked.open).toBe(0);
  });
});
