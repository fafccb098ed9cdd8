import { describe, expect, it } from 'vitest';
import { FakeCall, config, event, press, prompt, say, welcomed, REACTION_MS } from '../../../support/fake-line.ts';

describe('keys', () => {
  it('G-60, G-62 sends START_OF_DTMF on its own RPC, collects the digits and sends them on one RPC', () => {
    const call = welcomed({ script: [press('1234')] });
    call.clock.advance(1000 + REACTION_MS);
    const [, ear, start] = call.turns;
    expect(ear?.isHalfClosed).toBe(true);
    expect(start?.kinds).toEqual(['dtmf_start']);
    expect(start?.isHalfClosed).toBe(true);
    ear?.complete();
    start?.complete();
    call.clock.advance(599);
    expect(call.turns).toHaveLength(3);
    call.clock.advance(1);
    expect(call.turn(4).sent).toEqual([{ kind: 'dtmf', keys: ['1', '2', '3', '4'] }]);
    expect(call.turn(4).isHalfClosed).toBe(true);
  });

  it('G-62 ends the collection when the time between digits has passed', () => {
    const call = welcomed({ script: [press('12')] }, { config: config({ interDigitMs: 1500 }), mode: 'dtmf' });
    call.clock.advance(1000 + REACTION_MS);
    call.turn(2).complete();
    call.clock.advance(200 + 1499);
    expect(call.turns).toHaveLength(2);
    call.clock.advance(1);
    expect(call.turn(3).sent).toEqual([{ kind: 'dtmf', keys: ['1', '2'] }]);
  });

  it.each([
    [false, ['1', '2']],
    [true, ['1', '2', '#']],
  ])('G-62, G-67 ends the collection at the terminator (sent: %s)', (terminatorIncluded, keys) => {
    const call = welcomed(
      { script: [press('12#')], habits: { terminatorIncluded } },
      { config: config({ terminator: '#' }), mode: 'dtmf' },
    );
    call.clock.advance(1000 + REACTION_MS);
    call.turn(2).complete();
    call.clock.advance(400);
    expect(call.turn(3).sent).toEqual([{ kind: 'dtmf', keys }]);
  });

  it('sends the digits only when START_OF_DTMF was completed', () => {
    const call = welcomed({ script: [press('1')] }, { config: config({ digits: 1 }), mode: 'dtmf' });
    call.clock.advance(1500);
    expect(call.turns).toHaveLength(2);
    call.turn(2).complete();
    expect(call.turn(3).sent).toEqual([{ kind: 'dtmf', keys: ['1'] }]);
  });

  it('G-64 can send the digit of a menu directly', () => {
    const call = welcomed({ script: [press('3')], habits: { singleDigitDirect: true } }, { config: config({ digits: 1 }), mode: 'dtmf' });
    call.clock.advance(1000 + REACTION_MS);
    expect(call.turn(2).sent).toEqual([{ kind: 'dtmf', keys: ['3'] }]);
  });

  it('G-54 sends START_OF_DTMF on the open audio RPC when the key interrupts a prompt, then the digits on the next', async () => {
    const call = new FakeCall({ script: [press('12', 500)] });
    call.turn(1).answer({ prompts: [prompt(3000, true)], config: config({ digits: 2 }) });
    call.clock.advance(600);
    expect(call.turn(2).kinds).toEqual(['audio_format', 'probe', 'silence', 'dtmf_start']);
    expect(call.turn(2).isHalfClosed).toBe(true);
    call.turn(1).complete();
    call.turn(2).complete();
    call.clock.advance(200);
    expect(call.turns).toHaveLength(3);
    expect(call.turn(3).sent).toEqual([{ kind: 'dtmf', keys: ['1', '2'] }]);
    call.turn(3).answer({});
    call.turn(3).complete();
    call.clock.advance(REACTION_MS);
    call.turns.at(-1)?.complete();
    const { heard, findings } = await call.over;
    expect(heard.subarray(0, 490 * 8).some((sample) => sample !== 0)).toBe(true);
    expect(heard.subarray(510 * 8).some((sample) => sample !== 0)).toBe(false);
    expect(findings).toEqual([]);
  });

  it('drops keys when the server listens for speech only', () => {
    const call = welcomed({ script: [press('1')] }, { mode: 'voice' });
    call.clock.advance(1000 + REACTION_MS);
    expect(call.turns.some((turn) => turn.kinds.includes('dtmf_start'))).toBe(false);
  });

  it('drops keys that come after the entry is complete', () => {
    const call = welcomed({ script: [press('12345')] }, { config: config({ digits: 2 }), mode: 'dtmf' });
    call.clock.advance(1000 + REACTION_MS);
    call.turn(2).complete();
    call.clock.advance(1000);
    expect(call.turns.map((turn) => turn.kinds[0])).toEqual(['session_start', 'dtmf_start', 'dtmf']);
  });
});

describe('silence', () => {
  it('G-70 half-closes the silent RPC and reports NO_INPUT on its own when the configured time has passed', () => {
    const call = welcomed({ script: [{ kind: 'wait', waitMs: 20_000 }] }, { config: config({ noInputMs: 5000 }) });
    call.clock.advance(1000 + 4999);
    expect(call.turns).toHaveLength(2);
    expect(call.turn(2).isHalfClosed).toBe(false);
    call.clock.advance(1);
    expect(call.turn(2).isHalfClosed).toBe(true);
    expect(call.turn(3).kinds).toEqual(['no_input']);
    expect(call.turn(3).isHalfClosed).toBe(true);
  });

  it('G-70 reports again after the reply, also in a call that takes keys only', () => {
    const call = welcomed({ script: [{ kind: 'wait', waitMs: 60_000 }] }, { config: config({ noInputMs: 5000 }), mode: 'dtmf' });
    for (const number of [2, 3]) {
      call.clock.advance(6000);
      expect(call.turn(number).kinds).toEqual(['no_input']);
      call.turn(number).answer({ prompts: [prompt(1000)], config: config({ noInputMs: 5000 }), mode: 'dtmf' });
      call.turn(number).complete();
    }
  });

  it('G-82 never reports silence when the time is 0', () => {
    const call = welcomed({ script: [{ kind: 'wait', waitMs: 60_000 }] }, { config: config({ noInputMs: 0 }) });
    call.clock.advance(60_000);
    expect(call.turns).toHaveLength(2);
  });

  it('G-70 does not report silence once the server has heard speech', () => {
    const call = welcomed({ script: [say(8000)] }, { config: config({ noInputMs: 5000 }) });
    call.clock.advance(2000);
    call.turn(2).answer(event('start_of_input'));
    call.clock.advance(7000);
    expect(call.turns).toHaveLength(2);
  });
});
