// Turns that are lost behind the FINAL that closes their reply, on a clock that stands still: all that is due on them has come.
import { describe, expect, it } from 'vitest';
import { CallClock } from '../../../../src/fake-platform/caller/call-clock.ts';
import type { HeldCallOptions } from '../../../../src/fake-platform/caller/caller.ts';
import type { LineEnd } from '../../../../src/fake-platform/lines/line.ts';
import { repeatingLine } from '../../../../src/fake-platform/lines/repeating-line.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  answerOf,
  config,
  event,
  FakeCall,
  FakeTurn,
  findingNames,
  finished,
  press,
  prompt,
  REACTION_MS,
  say,
  welcomed,
} from '../../../support/fake-line.ts';

const PAUSES_MS = [100, 400, 1600];
const WELCOME_MS = 1000;
const NOTHING_LOST = { findings: [], turnsRepeated: 0, turnsReopened: 0, turnsLost: 0 };

/** A call whose caller has pressed one key, and whose third RPC carries it. */
function pressed(options: Omit<HeldCallOptions, 'clock'> = {}): FakeCall {
  const call = welcomed({ repeatsLostTurns: true, script: [press('1')], ...options }, { mode: 'dtmf', config: config({ digits: 1 }) });
  call.clock.advance(WELCOME_MS + REACTION_MS);
  call.turn(2).complete();
  expect(call.turn(3).kinds).toEqual(['dtmf']);
  return call;
}

describe('a turn that is lost behind its closing FINAL', () => {
  it('is not repeated: the reply is whole, and its texts are those that stood beside it', async () => {
    const call = pressed();
    call.turn(3).answer({ prompts: [{ ...prompt(500), text: 'One.' }], mode: 'dtmf' });
    call.turn(3).break('closed_early', 'cut');
    const result = await finished(call);
    expect(result).toMatchObject({ outcome: 'hung_up', ...NOTHING_LOST });
    expect(result.replies.at(-1)).toMatchObject({ kind: 'dtmf', audioMs: 500, texts: ['One.'], wasHeard: true });
    expect(call.turns.map(({ kinds }) => kinds[0])).toEqual(['session_start', 'dtmf_start', 'dtmf', 'session_end']);
  });

  it('lets the caller go on at once', () => {
    const call = new FakeCall({ repeatsLostTurns: true });
    call.turn(1).answer({ prompts: [prompt(WELCOME_MS)] });
    call.turn(1).break('closed_early', 'cut');
    call.clock.advance(WELCOME_MS);
    expect(call.turn(2).kinds[0]).toBe('audio_format');
  });

  it('ends the call where that was what the FINAL said', async () => {
    const call = pressed();
    call.turn(3).answer({ prompts: [prompt(500)], ...event('session_end') });
    call.turn(3).break('closed_early', 'cut');
    expect(await finished(call)).toMatchObject({ outcome: 'ended', ...NOTHING_LOST });
    expect(call.turns).toHaveLength(3);
  });

  it('is not lost for good when it was repeated as often as it may be', async () => {
    const call = pressed();
    for (const [index, pauseMs] of PAUSES_MS.entries()) {
      call.turn(3 + index).break('closed_early', 'cut');
      call.clock.advance(pauseMs);
    }
    call.turn(6).answer({ prompts: [prompt(500)], mode: 'dtmf' });
    call.turn(6).break('closed_early', 'cut');
    expect(await finished(call)).toMatchObject({ outcome: 'hung_up', ...NOTHING_LOST, turnsRepeated: 1 });
    expect(call.turn(7).kinds).toEqual(['session_end']);
  });

  it('is not lost for good when more was said on it than is held', async () => {
    const call = welcomed({ repeatsLostTurns: true, script: [say(62_000)], limits: { callMs: 200_000, answerMs: 100_000 } });
    call.clock.advance(WELCOME_MS + REACTION_MS + 62_500);
    call.turn(2).answer(event('start_of_input'));
    call.turn(2).answer({ prompts: [prompt(500)] });
    call.turn(2).break('closed_early', 'cut');
    expect(await finished(call)).toMatchObject({ outcome: 'hung_up', ...NOTHING_LOST });
  });

  it.each(['start_of_input', 'end_of_input'] as const)('is repeated when that was no more than %s', (notice) => {
    const call = welcomed({ repeatsLostTurns: true, script: [say(400)] });
    call.clock.advance(WELCOME_MS + REACTION_MS + 500);
    call.turn(2).answer(event(notice));
    call.turn(2).break('closed_early', 'cut');
    call.clock.advance(100);
    expect(call.turn(3).kinds[0]).toBe('audio_format');
  });

  it('is a broken one unless repeating is asked for', async () => {
    const call = pressed({ repeatsLostTurns: false });
    call.turn(3).answer({ prompts: [prompt(500)], mode: 'dtmf' });
    call.turn(3).break('closed_early', 'cut');
    expect(await finished(call)).toMatchObject({ outcome: 'failed', turnsLost: 1 });
    expect(findingNames(call)).toEqual(['closed_early']);
  });

  it('is a broken one when the server itself has decided so', async () => {
    const call = pressed();
    call.turn(3).answer({ prompts: [prompt(500)], mode: 'dtmf' });
    call.turn(3).break('rpc_failed');
    expect(await finished(call)).toMatchObject({ outcome: 'failed', turnsLost: 0 });
    expect(findingNames(call)).toEqual(['rpc_failed']);
  });

  it.each([
    ['completed', 'gone', false],
    ['broken', 'given up by the caller', true],
  ] as const)('is reported as %s when its server is %s', (kind, _, isGivenUp) => {
    const turns: FakeTurn[] = [];
    const line = {
      open: (listener: ConstructorParameters<typeof FakeTurn>[0]) => {
        const turn = new FakeTurn(listener);
        turns.push(turn);
        return turn;
      },
      close: () => undefined,
    };
    const ends: LineEnd[] = [];
    const clock = new FakeClock();
    const turn = repeatingLine(line, { clock: new CallClock(clock), repeatsLostTurns: true, pace: 1 }).open({
      answered: () => undefined,
      ended: (end) => ends.push(end),
    });
    turns[0]?.answer(answerOf({ prompts: [prompt(100)] }));
    if (isGivenUp) turn.cancel();
    turns[0]?.break('closed_early', 'cut');
    expect(ends.map((end) => end.kind)).toEqual([kind]);
    expect([turns.length, clock.pendingTimers]).toEqual([1, 0]);
  });
});
