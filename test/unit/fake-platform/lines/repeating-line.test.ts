// Turns that were lost, on a clock that stands still: what is said again, when, and what counts.
import { describe, expect, it } from 'vitest';
import { CallClock } from '../../../../src/fake-platform/caller/call-clock.ts';
import type { HeldCallOptions } from '../../../../src/fake-platform/caller/caller.ts';
import { repeatingLine } from '../../../../src/fake-platform/lines/repeating-line.ts';
import { SOCKET_RULES } from '../../../../src/fake-platform/lines/wire-rules.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  audioFrames,
  config,
  event,
  FakeCall,
  type FakeTurn,
  findingNames,
  finished,
  piece,
  press,
  prompt,
  REACTION_MS,
  say,
  welcomed,
} from '../../../support/fake-line.ts';

const FIRST_PAUSE_MS = 100;
const WELCOME_MS = 1000;

type Options = Omit<HeldCallOptions, 'clock'>;

/** A call whose lost turns are said again, at the moment its first ear opens: the second RPC. */
function listening(options: Options): FakeCall {
  const call = welcomed({ repeatsLostTurns: true, ...options });
  call.clock.advance(WELCOME_MS);
  return call;
}

/** A call whose caller has pressed two keys, and whose third RPC carries them. */
function pressed(options: Options = {}): FakeCall {
  const keys = { mode: 'dtmf', config: config({ digits: 2 }) } as const;
  const call = welcomed({ repeatsLostTurns: true, script: [press('12')], ...options }, keys);
  call.clock.advance(WELCOME_MS + REACTION_MS);
  call.turn(2).complete();
  call.clock.advance(200);
  expect(call.turn(3).kinds).toEqual(['dtmf']);
  return call;
}

function speech(turn: FakeTurn): readonly Uint8Array[] {
  return audioFrames(turn).filter((frame) => frame.some((code) => code !== 0xff));
}

describe('speech that is lost', () => {
  it('is said again from its beginning, in real time, and what the caller says meanwhile follows', async () => {
    const call = listening({ script: [say(1000)] });
    call.clock.advance(REACTION_MS + 500);
    call.turn(2).answer(event('start_of_input'));
    call.turn(2).break('closed_early', 'cut');
    call.clock.advance(FIRST_PAUSE_MS - 1);
    expect(call.turns).toHaveLength(2);
    call.clock.advance(1);
    const before = audioFrames(call.turn(3)).length;
    call.clock.advance(200);
    expect(audioFrames(call.turn(3)).length - before).toBe(10);
    call.clock.advance(2000);
    expect(call.turn(3).kinds).toEqual(['audio_format', 'probe', 'silence', 'speech', 'silence']);
    expect(speech(call.turn(3))).toHaveLength(50);
    expect(speech(call.turn(3)).slice(0, 20)).toEqual(speech(call.turn(2)).slice(0, 20));
    call.turn(3).answer(event('start_of_input'));
    call.turn(3).answer(event('end_of_input'));
    expect(call.turn(3).isHalfClosed).toBe(true);
    call.turn(3).answer({ prompts: [prompt(300)] });
    call.turn(3).complete();
    const result = await finished(call);
    expect(result).toMatchObject({ outcome: 'hung_up', findings: [], turnsRepeated: 1, turnsReopened: 0, turnsLost: 0 });
    expect(result.replies.map(({ kind, turn }) => [turn, kind])).toEqual([
      [1, 'session_start'],
      [2, 'speech'],
    ]);
  });

  it('is not said further once the server has heard its end again', () => {
    const call = listening({ script: [say(1000)] });
    call.clock.advance(REACTION_MS + 1500);
    call.turn(2).answer(event('end_of_input'));
    call.turn(2).break('closed_early', 'cut');
    call.clock.advance(FIRST_PAUSE_MS + 500);
    expect([call.turn(3).isHalfClosed, audioFrames(call.turn(3)).length]).toEqual([false, 26]);
    call.turn(3).answer(event('end_of_input'));
    call.clock.advance(1000);
    expect([call.turn(3).isHalfClosed, audioFrames(call.turn(3)).length]).toEqual([true, 26]);
  });

  it('is half-closed behind its last frame when it was half-closed before', () => {
    const call = listening({ script: [say(400)] });
    call.clock.advance(REACTION_MS + 500);
    call.turn(2).answer(event('end_of_input'));
    call.turn(2).break('closed_early', 'cut');
    call.clock.advance(FIRST_PAUSE_MS + 1000);
    expect(speech(call.turn(3))).toHaveLength(20);
    expect(call.turn(3).isHalfClosed).toBe(true);
  });

  it('has as much time to be said again as it takes, and no answer afterwards fails the call', async () => {
    const call = listening({ script: [say(8000)], limits: { answerMs: 3000 } });
    call.clock.advance(REACTION_MS + 8500);
    call.turn(2).answer(event('end_of_input'));
    call.turn(2).break('closed_early', 'cut');
    call.clock.advance(FIRST_PAUSE_MS + 8000);
    expect(call.result).toBeUndefined();
    expect((await finished(call)).findings.map(({ code }) => code)).toEqual(['no_answer']);
  });

  it('of more than a minute is lost for good', async () => {
    const call = listening({ script: [say(62_000)], limits: { callMs: 200_000, answerMs: 100_000 } });
    call.clock.advance(REACTION_MS + 61_000);
    call.turn(2).break('closed_early', 'cut');
    expect(await finished(call)).toMatchObject({ outcome: 'failed', turnsRepeated: 0, turnsLost: 1 });
  });
});

describe('keys that are lost', () => {
  it('are sent again; what was heard of the reply was heard, what was not is dropped, and the wait goes on', async () => {
    const call = pressed();
    const sentMs = WELCOME_MS + REACTION_MS + 200;
    call.turn(3).answer({ type: 'chunk', prompts: [piece(1000)] });
    call.turn(3).answer({ type: 'chunk', prompts: [piece(1000)] });
    call.clock.advance(300);
    call.turn(3).break('closed_early', 'cut');
    call.clock.advance(FIRST_PAUSE_MS);
    expect(call.turn(4).kinds).toEqual(['dtmf']);
    expect(call.turn(4).isHalfClosed).toBe(true);
    call.clock.advance(400);
    call.turn(4).answer({ prompts: [prompt(500)], mode: 'dtmf' });
    call.turn(4).complete();
    const result = await finished(call);
    // The mode was the first server's choice.
    expect(findingNames(call)).toEqual(['G-40 mode_switched']);
    expect(result).toMatchObject({ outcome: 'hung_up', turnsRepeated: 1, turnsReopened: 0, turnsLost: 0 });
    expect(result.replies.at(-1)).toMatchObject({ kind: 'dtmf', audioMs: 500, prompts: 1, latencyMs: 800, maxGapMs: 0 });
    const heardMs = (from: number, to: number): boolean => result.heard.subarray(from * 8, to * 8).some((sample) => sample !== 0);
    expect([heardMs(sentMs, sentMs + 300), heardMs(sentMs + 300, sentMs + 800), heardMs(sentMs + 800, sentMs + 1300)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('are lost for good after three repetitions, each after a longer pause', async () => {
    const call = pressed();
    for (const [index, pauseMs] of [100, 400, 1600].entries()) {
      call.turn(3 + index).break('closed_early', 'cut');
      call.clock.advance(pauseMs - 1);
      expect(call.turns).toHaveLength(3 + index);
      call.clock.advance(1);
      expect(call.turn(4 + index).kinds).toEqual(['dtmf']);
    }
    call.turn(6).break('closed_early', 'cut');
    const result = await finished(call);
    expect(result).toMatchObject({ outcome: 'failed', turnsRepeated: 1, turnsReopened: 0, turnsLost: 1 });
    expect(findingNames(call)).toEqual(['closed_early']);
  });

  it('wait in real time, however fast the call goes', () => {
    const call = welcomed({ repeatsLostTurns: true, pace: 20, script: [press('1')] }, { mode: 'dtmf', config: config({ digits: 1 }) });
    call.clock.advance((WELCOME_MS + REACTION_MS) / 20);
    call.turn(2).break('closed_early', 'cut');
    call.clock.advance(FIRST_PAUSE_MS - 1);
    expect(call.turns).toHaveLength(2);
    call.clock.advance(1);
    expect(call.turn(3).kinds).toEqual(['dtmf_start']);
  });
});

describe('a turn on which the caller has said nothing', () => {
  it('is opened again and is at once where the caller is: no silence is said again', async () => {
    const call = listening({ script: [{ kind: 'wait', waitMs: 5000 }] });
    call.clock.advance(1000);
    call.turn(2).break('closed_early', 'cut');
    call.clock.advance(FIRST_PAUSE_MS + 200);
    expect(call.turn(3).kinds).toEqual(['audio_format', 'probe', 'silence']);
    expect(audioFrames(call.turn(3)).length).toBeLessThanOrEqual(16);
    const before = audioFrames(call.turn(3)).length;
    call.clock.advance(200);
    expect(audioFrames(call.turn(3)).length - before).toBe(10);
    const result = await finished(call);
    expect(result).toMatchObject({ outcome: 'hung_up', findings: [], turnsRepeated: 0, turnsReopened: 1, turnsLost: 0 });
  });

  it('is left alone when its caller has hung up meanwhile', async () => {
    const call = listening({ hangUpAtMs: WELCOME_MS + 100 });
    call.clock.advance(50);
    call.turn(2).break('closed_early', 'cut');
    call.clock.advance(50);
    expect(call.turn(3).kinds).toEqual(['session_end']);
    call.clock.advance(FIRST_PAUSE_MS);
    expect(await finished(call)).toMatchObject({ outcome: 'hung_up', findings: [], turnsLost: 0 });
    expect(call.turns).toHaveLength(3);
  });
});

describe('a turn of which nothing is wanted any more', () => {
  it('is not repeated when the caller has hung up, but SESSION_END is', async () => {
    const call = listening({});
    call.clock.advance(REACTION_MS);
    expect(call.turn(3).kinds).toEqual(['session_end']);
    call.turn(2).break('closed_early', 'cut');
    call.turn(3).break('closed_early', 'cut');
    call.clock.advance(FIRST_PAUSE_MS);
    expect(call.turns.map(({ kinds }) => kinds[0])).toEqual(['session_start', 'audio_format', 'session_end', 'session_end']);
    expect(await finished(call)).toMatchObject({ outcome: 'hung_up', findings: [], turnsRepeated: 1, turnsLost: 0 });
  });

  it('is not opened any more when the call is over before', async () => {
    const stop = new AbortController();
    const call = pressed({ signal: stop.signal });
    call.turn(3).break('closed_early', 'cut');
    stop.abort();
    expect((await finished(call)).outcome).toBe('interrupted');
    expect(call.turns.map(({ kinds }) => kinds[0])).toEqual(['session_start', 'dtmf_start', 'dtmf', 'session_end']);
  });
});

describe('what is repeated', () => {
  it('is nothing that the server itself has decided', async () => {
    const call = pressed();
    call.turn(3).break('rpc_failed');
    expect(await finished(call)).toMatchObject({ outcome: 'failed', turnsRepeated: 0, turnsLost: 0 });
  });

  it('is nothing that was cut unless it is asked for', async () => {
    const call = pressed({ repeatsLostTurns: false });
    call.turn(3).break('closed_early', 'cut');
    expect(await finished(call)).toMatchObject({ outcome: 'failed', turnsRepeated: 0, turnsLost: 1 });
  });

  it.each([true, false])('is always what was refused before anything looked at it (asked for: %s)', async (repeatsLostTurns) => {
    const call = pressed({ repeatsLostTurns });
    call.turn(3).break('overloaded', 'refused');
    call.clock.advance(FIRST_PAUSE_MS);
    call.turn(4).answer({ prompts: [prompt(100)], mode: 'dtmf' });
    call.turn(4).complete();
    expect(await finished(call)).toMatchObject({ outcome: 'hung_up', findings: [], turnsRepeated: 0, turnsReopened: 1 });
  });

  it('is nothing on a line whose turns are lost with their call', () => {
    const line = { rules: SOCKET_RULES, open: () => new FakeCall().turn(1), close: () => undefined };
    const clock = new CallClock(new FakeClock());
    expect(repeatingLine(line, { clock, repeatsLostTurns: true, pace: 1 })).toBe(line);
  });
});
