// The ear of a session alone: who has it, what it remembers, and that it is quiet while there is nothing to hear with.
import { describe, expect, it } from 'vitest';
import { loadSignalEngines } from '../../../../src/app/signal-engines.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { Ear } from '../../../../src/session/turn/ear.ts';
import { Listener } from '../../../../src/speech/listener.ts';
import { MULAW_SILENCE } from '../../../../src/speech/g711.ts';
import { loneTurn } from '../../../support/lone-turn.ts';

const SECOND = new Uint8Array(8000).fill(MULAW_SILENCE);

/** An ear whose start and end of speech the test decides; `made` counts its listeners. */
async function openEar() {
  const engines = await loadSignalEngines();
  const made: Listener[] = [];
  const ear = new Ear({
    onFrame: undefined,
    isSelfEndpointing: true,
    create: ({ onEvent, isSelfEndpointing }) => {
      const listener = new Listener({ engines, onEvent, isSelfEndpointing });
      made.push(listener);
      return listener;
    },
  });
  return { ear, made };
}

/** A turn that already listens. */
function listening(number = 1) {
  return loneTurn([{ kind: 'audio', audio: new Uint8Array(0) }], number);
}

describe('the ear of a session', () => {
  it('G-32 remembers the format that a frame names, also when it did not listen to it', async () => {
    const { ear } = await openEar();
    const { turn } = listening();
    ear.note({ kind: 'audio', audio: SECOND, encoding: 'linear16', sampleRateHz: 8000 });
    ear.hear(turn, new Uint8Array(320), false);
    ear.startNow();
    ear.hear(turn, new Uint8Array(16_000), false);
    ear.endNow();
    expect(ear.takeUtterance().durationMs).toBe(1020);
  });

  it('lets the end of an older stream not end what a newer one says', async () => {
    const { ear } = await openEar();
    const [older, newer] = [listening(1), listening(2)];
    ear.hear(older.turn, SECOND, false);
    ear.hear(newer.turn, SECOND, false);
    ear.startNow();
    ear.cut(older.turn);
    expect(newer.turn.state).toBe('hearing');
    ear.cut(newer.turn);
    expect(newer.turn.state).toBe('answering');
  });

  it('says whether a turn that leaves had it', async () => {
    const { ear } = await openEar();
    const [older, newer] = [listening(1), listening(2)];
    ear.hear(older.turn, SECOND, false);
    ear.hear(newer.turn, SECOND, false);
    expect([ear.leave(older.turn), ear.leave(newer.turn), ear.leave(newer.turn)]).toEqual([false, true, false]);
  });

  it('takes no notice of a bot that reports speech while no turn is heard', async () => {
    const { ear } = await openEar();
    const { turn } = listening();
    ear.hear(turn, SECOND, false);
    ear.leave(turn);
    ear.startNow();
    expect(turn.state).toBe('listening');
  });

  it('frees its listener when it is closed, and makes another for a later frame', async () => {
    const { ear, made } = await openEar();
    const { turn } = listening();
    ear.hear(turn, SECOND, false);
    ear.startNow();
    ear.close();
    expect(made.map(({ isHearing }) => isHearing)).toEqual([false]);
    ear.hear(turn, SECOND, false);
    expect(made).toHaveLength(2);
  });

  it('has heard nothing where there was no memory for a listener', () => {
    const ear = new Ear({
      onFrame: undefined,
      isSelfEndpointing: false,
      create: () => {
        throw new AppError('overloaded', 'no memory for a detector');
      },
    });
    const { turn } = listening();
    expect(() => {
      ear.hear(turn, SECOND, false);
    }).toThrow('no memory');
    ear.cut(turn);
    expect([ear.takeUtterance().durationMs, ear.utteranceSoFar().durationMs, ear.leave(turn)]).toEqual([0, 0, true]);
  });
});
