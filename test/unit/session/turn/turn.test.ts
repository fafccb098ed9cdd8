// One turn alone: what it makes of what its caller, its session and its wire do, and in which order it tells them.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { answeringTurn, forwardedTurn, hearingTurn, loneTurn } from '../../../support/lone-turn.ts';

const AUDIO = { kind: 'audio', audio: new Uint8Array(160) } as const;
const SOUND = { mulaw: new Uint8Array(80), durationMs: 10 };
const PROMPT = { kind: 'prompt', prompt: { audio: SOUND, text: 'Hi.', bargeIn: true } } as const;
const LATE = new AppError('slow_reader', 'the client did not read');

describe('a turn', () => {
  it('goes from waiting over listening and hearing to answering, and is done when it was finished', () => {
    const { turn } = loneTurn();
    const states = [turn.state];
    for (const step of [
      () => {
        turn.push(AUDIO);
      },
      () => {
        turn.heard('speech_started');
      },
      () => {
        turn.heard('speech_ended');
      },
      () => {
        turn.finish('replied');
      },
    ]) {
      step();
      states.push(turn.state);
    }
    expect(states).toEqual(['waiting', 'listening', 'hearing', 'answering', 'done']);
  });

  it('counts as replying only while an answer is wanted of it', () => {
    const { turn } = hearingTurn();
    const replying = [turn.isReplying];
    turn.heard('speech_ended');
    replying.push(turn.isReplying);
    turn.interrupt();
    replying.push(turn.isReplying);
    expect(replying).toEqual([false, true, false]);
    expect([loneTurn().turn.isReplying, answeringTurn().turn.isReplying]).toEqual([false, true]);
  });

  it('takes the next input of its caller until it answers one', () => {
    const { turn } = hearingTurn();
    const takes = [loneTurn().turn.takesInput, loneTurn([AUDIO]).turn.takesInput, turn.takesInput];
    turn.heard('speech_ended');
    takes.push(turn.takesInput);
    turn.finish('replied');
    expect([...takes, turn.takesInput]).toEqual([true, true, true, false, false]);
  });

  it('goes back to the server that forwarded it while its caller has said nothing, and is superseded here', () => {
    const { turn, facts, sink } = forwardedTurn([AUDIO], true);
    expect(turn.mayGiveBack).toBe(true);
    turn.giveBack();
    turn.giveBack();
    // Its stream is the other server's now.
    expect([facts, sink.end, turn.mayGiveBack]).toEqual([['listen', 'closed superseded'], 'open', false]);
  });

  it('is completed when it cannot go back: nobody forwarded it, or that server takes it back no more', () => {
    const direct = loneTurn([AUDIO]);
    const kept = forwardedTurn([AUDIO], false);
    for (const { turn } of [direct, kept]) turn.giveBack();
    expect([direct.turn.mayGiveBack, direct.facts.at(-1), direct.sink.end]).toEqual([false, 'closed nothing_said', 'complete']);
    expect([kept.facts.at(-1), kept.sink.end]).toEqual(['closed nothing_said', 'complete']);
  });

  it('stays where it is once its caller has spoken or pressed a key', () => {
    const spoken = forwardedTurn([AUDIO], true);
    spoken.turn.heard('speech_started');
    const pressed = forwardedTurn([{ kind: 'dtmf', digits: '1' }], true);
    expect([spoken.turn.mayGiveBack, pressed.turn.mayGiveBack]).toEqual([false, false]);
  });

  it('G-75 reports a hang-up once, also when it comes on a stream that is over', () => {
    const { turn, facts } = loneTurn([{ kind: 'session_end' }]);
    turn.finish('hang_up', 'hang_up');
    turn.push({ kind: 'session_end' });
    expect(facts).toEqual(['hung_up', 'closed hang_up']);
  });

  it('suspects the end of speech only while it hears some', () => {
    const { turn, facts } = hearingTurn();
    turn.heard('speech_paused');
    turn.heard('speech_resumed');
    turn.heard('speech_ended');
    turn.heard('speech_paused');
    expect(facts.filter((line) => line.startsWith('end_suspected'))).toEqual(['end_suspected true', 'end_suspected false']);
  });

  it('G-61 completes as one on which nothing was said when it is closed after the first key alone', () => {
    const { turn, sink, facts } = loneTurn([{ kind: 'dtmf_start' }]);
    turn.halfClose();
    expect(facts).toEqual(['key_started beside it', 'closed nothing_said']);
    expect([sink.kinds, sink.end]).toEqual([[], 'complete']);
  });

  it('G-61 drops its own reply for a first key, and only a reply', () => {
    const { turn, facts } = answeringTurn();
    turn.push({ kind: 'dtmf_start' });
    expect(facts).toEqual(['input_complete dtmf', 'key_started over its own reply']);
    turn.finish('interrupted');
    turn.push({ kind: 'dtmf_start' });
    expect(facts).toHaveLength(3);
  });

  it('reports a second input once, however often a client repeats itself', () => {
    const { turn, facts } = answeringTurn();
    for (let times = 0; times < 3; times += 1) turn.push({ kind: 'no_input' });
    expect(facts).toEqual(['input_complete dtmf', 'input_refused']);
  });
});

describe('the end of a turn', () => {
  it.each(['complete', 'aborted', 'failed'] as const)('G-13 comes once, when it was %s first', (first) => {
    const { turn, sink, facts } = answeringTurn();
    if (first === 'complete') turn.finish('replied');
    else if (first === 'aborted') turn.abort('hang_up');
    else turn.fail(LATE);
    turn.abort('hang_up');
    turn.fail(LATE);
    turn.finish('replied');
    expect(facts).toEqual([
      'input_complete dtmf',
      { complete: 'closed replied', aborted: 'closed hang_up', failed: 'closed failed' }[first],
    ]);
    expect(sink.end).toBe({ complete: 'complete', aborted: 'open', failed: LATE }[first]);
  });

  it('aborts a bot that still thinks, with the reason', () => {
    const whys = [
      (turn: ReturnType<typeof answeringTurn>['turn']) => turn.interrupt(),
      (turn: ReturnType<typeof answeringTurn>['turn']) => {
        turn.finish('replied');
      },
      (turn: ReturnType<typeof answeringTurn>['turn']) => {
        turn.fail(LATE);
      },
      (turn: ReturnType<typeof answeringTurn>['turn']) => {
        turn.abort('hang_up');
      },
    ].map((why) => {
      const { turn } = answeringTurn();
      const { signal } = turn.wanted;
      why(turn);
      return signal.reason as unknown;
    });
    expect(whys).toEqual(['barge_in', 'superseded', 'deadline', 'hang_up']);
  });

  it('G-14 leaves nothing to be written, and nobody waits until it is read', () => {
    const { turn, sink } = answeringTurn();
    turn.finish('replied');
    expect(turn.write(PROMPT)).toBe(true);
    expect(sink.isSuperseded).toBe(true);
  });

  it('is not taken back when we take the turn over to end the call', () => {
    const { turn } = answeringTurn();
    expect(turn.takeOver()).toBe(true);
    turn.finish('replied');
    expect([turn.takeOver(), turn.state]).toEqual([false, 'done']);
    const idle = loneTurn().turn;
    expect([idle.takeOver(), idle.state]).toEqual([false, 'answering']);
    // Its farewell answers nothing, so there is no reply that could be cut (G-52).
    expect([idle.interrupt(), idle.wanted.isAborted]).toEqual([false, false]);
    expect(idle.takeOver()).toBe(true);
  });
});

describe('what was said on a turn', () => {
  it('counts from its first prompt on, and not from a report on the caller', () => {
    const { turn } = answeringTurn();
    turn.write({ kind: 'input_started' });
    expect(turn.hasSpoken).toBe(false);
    turn.write(PROMPT);
    expect(turn.hasSpoken).toBe(true);
  });

  it('protects a welcome from interruptions until its first prompt, which a report or a filler is not', () => {
    const { turn } = loneTurn([{ kind: 'session_start', name: '', parameters: {} }]);
    turn.write({ kind: 'input_started' });
    turn.write(PROMPT, false);
    expect(turn.interrupt()).toBe(false);
    expect(turn.isWelcomeDue).toBe(true);
    turn.write(PROMPT);
    expect(turn.isWelcomeDue).toBe(false);
    expect(turn.interrupt()).toBe(true);
  });

  it('waits for a welcome no longer than it lasts, and only at the start', () => {
    const { turn } = loneTurn([{ kind: 'session_start', name: '', parameters: {} }]);
    turn.finish('replied');
    expect(turn.isWelcomeDue).toBe(false);
    expect(answeringTurn().turn.isWelcomeDue).toBe(false);
  });
});
