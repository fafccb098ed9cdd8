// The caller audio of a session alone: which turn is listened to, which format is remembered, and that it is silent without a listener.
import { describe, expect, it } from 'vitest';
import { loadSignalEngines } from '../../../../src/app/signal-engines.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { CallerAudio } from '../../../../src/session/turn/caller-audio.ts';
import { Listener } from '../../../../src/speech/listener.ts';
import { MULAW_SILENCE } from '../../../../src/speech/g711.ts';
import { loneTurn } from '../../../support/lone-turn.ts';

const SECOND = new Uint8Array(8000).fill(MULAW_SILENCE);

/** Caller audio whose start and end of speech the test decides; `made` counts its listeners. */
async function openAudio() {
  const engines = await loadSignalEngines();
  const made: Listener[] = [];
  const audio = new CallerAudio({
    onFrame: undefined,
    onSpeech: undefined,
    isSelfEndpointing: true,
    create: ({ onEvent, isSelfEndpointing }) => {
      const listener = new Listener({ engines, onEvent, isSelfEndpointing });
      made.push(listener);
      return listener;
    },
  });
  return { audio, made };
}

/** A turn that already listens. */
function listening(number = 1) {
  return loneTurn([{ kind: 'audio', audio: new Uint8Array(0) }], number);
}

describe('the caller audio of a session', () => {
  it('G-32 remembers the format that a frame names, also when it did not listen to it', async () => {
    const { audio } = await openAudio();
    const { turn } = listening();
    audio.note({ kind: 'audio', audio: SECOND, encoding: 'linear16', sampleRateHz: 8000 });
    audio.hear(turn, new Uint8Array(320), false);
    audio.startNow();
    audio.hear(turn, new Uint8Array(16_000), false);
    audio.endNow();
    expect(audio.takeUtterance().durationMs).toBe(1020);
  });

  it('lets the end of an older stream not end what a newer one says', async () => {
    const { audio } = await openAudio();
    const [older, newer] = [listening(1), listening(2)];
    audio.hear(older.turn, SECOND, false);
    audio.hear(newer.turn, SECOND, false);
    audio.startNow();
    audio.cut(older.turn);
    expect(newer.turn.state).toBe('hearing');
    audio.cut(newer.turn);
    expect(newer.turn.state).toBe('answering');
  });

  it('says whether a turn that leaves had it', async () => {
    const { audio } = await openAudio();
    const [older, newer] = [listening(1), listening(2)];
    audio.hear(older.turn, SECOND, false);
    audio.hear(newer.turn, SECOND, false);
    expect([audio.leave(older.turn), audio.leave(newer.turn), audio.leave(newer.turn)]).toEqual([false, true, false]);
  });

  it('takes no notice of a bot that reports speech while no turn is heard', async () => {
    const { audio } = await openAudio();
    const { turn } = listening();
    audio.hear(turn, SECOND, false);
    audio.leave(turn);
    audio.startNow();
    expect(turn.state).toBe('listening');
  });

  it('frees its listener when it is closed, and makes another for a later frame', async () => {
    const { audio, made } = await openAudio();
    const { turn } = listening();
    audio.hear(turn, SECOND, false);
    audio.startNow();
    audio.close();
    expect(made.map(({ isHearing }) => isHearing)).toEqual([false]);
    audio.hear(turn, SECOND, false);
    expect(made).toHaveLength(2);
  });

  it('has heard nothing where there was no memory for a listener', () => {
    const audio = new CallerAudio({
      onFrame: undefined,
      onSpeech: undefined,
      isSelfEndpointing: false,
      create: () => {
        throw new AppError('overloaded', 'no memory for a detector');
      },
    });
    const { turn } = listening();
    expect(() => {
      audio.hear(turn, SECOND, false);
    }).toThrow('no memory');
    audio.cut(turn);
    expect([audio.takeUtterance().durationMs, audio.utteranceSoFar().durationMs, audio.leave(turn)]).toEqual([0, 0, true]);
  });
});
