// Waiting for sound: what a turn makes of sounds in pieces and of sounds that were late, without a turn.
import { describe, expect, it } from 'vitest';
import type { PromptAudio } from '../../../../src/dialog/output.ts';
import type { Prompt } from '../../../../src/dialog/reply.ts';
import { Pieces, TurnSounds } from '../../../../src/session/playout/sound.ts';
import { FakeVoice } from '../../../support/engine.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const TEXT: Prompt = { kind: 'text', text: 'Hello.', bargeIn: true };
const RECORDING: Prompt = { kind: 'file', file: 'bell.wav', bargeIn: true };
const wanted = new AbortController().signal;
const piece = (code: number, durationMs: number): PromptAudio => ({ mulaw: new Uint8Array(durationMs * 8).fill(code), durationMs });

/** Writes down whether what it is asked for is still to be made. */
class Asked extends FakeVoice {
  readonly made: [kind: Prompt['kind'], isToBeMade: boolean][] = [];

  override render(prompt: Prompt, signal?: AbortSignal): ReturnType<FakeVoice['render']> {
    this.made.push([prompt.kind, signal?.aborted === false]);
    return super.render(prompt);
  }
}

async function* made(...pieces: readonly PromptAudio[]): AsyncGenerator<PromptAudio, PromptAudio> {
  for (const each of pieces) {
    await Promise.resolve();
    yield each;
  }
  return piece(9, 90);
}

describe('a sound in pieces', () => {
  it('is as long as its pieces together', async () => {
    const whole = await new Pieces(made(piece(1, 200), piece(2, 400)), new FakeClock(), wanted).whole();
    expect(whole?.durationMs).toBe(600);
    expect([whole?.mulaw.length, whole?.mulaw[1599], whole?.mulaw[1600]]).toEqual([4800, 1, 2]);
  });

  it('is none without a piece', async () => {
    expect(await new Pieces(made(), new FakeClock(), wanted).whole()).toBeUndefined();
  });

  it('needs no source that can be cancelled', () => {
    const pieces = new Pieces({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }, new FakeClock(), wanted);
    expect(() => {
      pieces.close();
    }).not.toThrow();
  });
});

describe('after a late text', () => {
  it('no further text is made, and recordings are played as ever', () => {
    const voice = new Asked();
    const sounds = new TurnSounds(voice, new FakeClock(), {});
    sounds.giveUp(TEXT);
    void sounds.ask([TEXT, RECORDING], wanted);
    expect(voice.made).toEqual([
      ['text', false],
      ['file', true],
    ]);
  });

  it('what is still being made of another is stopped', async () => {
    let isClosed = false;
    const maker: AsyncIterable<PromptAudio> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: () => {
          isClosed = true;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
    const sounds = new TurnSounds(new FakeVoice(), new FakeClock(), {});
    sounds.giveUp(TEXT);
    expect([await sounds.ready(TEXT, maker, wanted), isClosed]).toEqual([undefined, true]);
  });
});

describe('after a late recording', () => {
  it('one that is missing is no late one', async () => {
    const voice = new FakeVoice();
    const sounds = new TurnSounds(voice, new FakeClock(), {});
    sounds.giveUp(RECORDING);
    expect(await sounds.ready(RECORDING, undefined, wanted)).toBeUndefined();
    expect(voice.givenUp).toHaveLength(1);
  });
});
