// How long is waited for callers to go on, by what they were asked for and by whose setting it is.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import type { Listen } from '../../../../src/dialog/reply.ts';
import { listeningPatience } from '../../../../src/session/turn/caller-audio.ts';
import type { SpeechPatience } from '../../../../src/speech/patience.ts';
import { TEST_SETTINGS } from '../../../support/engine.ts';

const OPERATOR = { ...TEST_SETTINGS, digitSilenceMs: 1500, patience: { ...TEST_SETTINGS.patience, endSilenceMs: 600, resumeGraceMs: 200 } };

/** The silence that ends an input of this listen, in both its parts, ms. */
function silence(listen: Omit<Listen, 'kind'>, speech: Partial<SpeechPatience> = {}, settings = OPERATOR) {
  const ask = () => go(null, say('Your code?').listen());
  const asking = bot<null>({ id: 'asking', name: 'Asking', version: 1, speech, session_start: ask, otherwise: ask });
  const { endSilenceMs, resumeGraceMs } = { ...settings.patience, ...listeningPatience({ kind: 'listen', ...listen }, asking, settings) };
  return [endSilenceMs, resumeGraceMs];
}

describe('how long the engine waits for a caller to go on', () => {
  it.each([
    ['as the operator has set where nothing is said about it', {}, {}, [600, 200]],
    ['as the operator has set for a single digit', { digits: 1 }, {}, [600, 200]],
    ['as the operator has set where digits can only be pressed', { digits: 4, accept: 'keys' }, {}, [600, 200]],
    ['longer while digits are read out', { digits: 4 }, {}, [1300, 200]],
    ['longer while two digits are read out', { digits: 2, accept: 'speech' }, {}, [1300, 200]],
    ['as its bot wants', {}, { endSilenceMs: 900 }, [900, 200]],
    ['longer than its bot wants while digits are read out', { digits: 4 }, { endSilenceMs: 900, resumeGraceMs: 100 }, [1400, 100]],
    ['as its bot wants where that is longer', { digits: 4 }, { endSilenceMs: 3000, resumeGraceMs: 0 }, [3000, 0]],
    ['as this one reply wants, whatever else is set', { digits: 4, speech: { endSilenceMs: 300 } }, { endSilenceMs: 900 }, [300, 200]],
  ] as const)('is %s', (_how, listen, speech, expected) => {
    expect(silence(listen, speech)).toEqual(expected);
  });

  it('is not shorter for digits where the operator is more patient with everything', () => {
    expect(silence({ digits: 4 }, {}, { ...OPERATOR, digitSilenceMs: 500 })).toEqual([600, 200]);
  });
});
