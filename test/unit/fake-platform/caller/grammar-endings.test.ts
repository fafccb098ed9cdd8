import { describe, expect, it } from 'vitest';
import { FakeCall, config, event, findingNames, piece, prompt, say, welcomed, REACTION_MS } from '../../../support/fake-line.ts';

describe('the end of a call', () => {
  it('G-74 hangs up after the reply to the last step with SESSION_END and half-close', async () => {
    const call = welcomed({});
    call.clock.advance(1000 + REACTION_MS);
    expect(call.turn(2).isHalfClosed).toBe(true);
    expect(call.turn(3).kinds).toEqual(['session_end']);
    expect(call.turn(3).isHalfClosed).toBe(true);
    call.turn(2).complete();
    call.turn(3).answer({});
    call.turn(3).complete();
    expect((await call.over).outcome).toBe('hung_up');
    expect(call.clock.pendingTimers).toBe(0);
  });

  it.each([
    ['before the welcome', 0, 1],
    ['in the middle of a prompt', 500, 1],
    ['while the ear listens', 1100, 2],
    ['while the caller speaks', 1300, 2],
  ])('G-74 hangs up %s', async (_, hangUpAtMs, openTurns) => {
    const call = new FakeCall({ script: [say(1000)], hangUpAtMs });
    if (hangUpAtMs > 0) {
      call.turn(1).answer({ prompts: [prompt(1000)] });
      call.turn(1).complete();
    }
    call.clock.advance(hangUpAtMs);
    expect(call.turns).toHaveLength(openTurns + 1);
    expect(call.turns.at(-1)?.kinds).toEqual(['session_end']);
    if (hangUpAtMs === 0) expect(call.turn(1).isCancelled).toBe(true);
    call.turns.at(-1)?.complete();
    const result = await call.over;
    expect(result.outcome).toBe('hung_up');
    expect(result.heard.length).toBe(hangUpAtMs * 8);
    expect(call.clock.pendingTimers).toBe(0);
  });

  it('hangs up at a step, also in the middle of a prompt', () => {
    const call = welcomed({ script: [{ kind: 'hang_up', interruptMs: 300 }] });
    call.clock.advance(299);
    expect(call.turns).toHaveLength(1);
    call.clock.advance(1);
    expect(call.turn(2).kinds).toEqual(['session_end']);
  });

  it.each([
    ['transfer', 'transferred'],
    ['session_end', 'ended'],
  ] as const)('G-76, G-77 ends the call after %s when its prompt has been heard', async (kind, outcome) => {
    const call = new FakeCall({ script: [say(100)] });
    call.turn(1).answer({ prompts: [prompt(2000)], ...event(kind) });
    call.turn(1).complete();
    call.clock.advance(1999);
    expect(call.result).toBeUndefined();
    call.clock.advance(1);
    const result = await call.over;
    expect(result).toMatchObject({ ok: true, outcome, durationMs: 2000, findings: [] });
    expect(call.turns).toHaveLength(1);
    expect(call.clock.pendingTimers).toBe(0);
  });

  it.each([{ script: [] }, { script: [{ kind: 'hang_up' } as const] }, { script: [say(300)] }])(
    'G-76 hears the farewell out when it was about to act (%#)',
    async ({ script }) => {
      const call = welcomed({ script });
      call.clock.advance(1000 + REACTION_MS / 2);
      call.turn(2).answer({ prompts: [prompt(2000)], ...event('session_end') });
      call.turn(2).complete();
      call.clock.advance(2000);
      const result = await call.over;
      expect(result).toMatchObject({ ok: true, outcome: 'ended', durationMs: 3000 + REACTION_MS / 2, steps: [] });
      expect(call.turns).toHaveLength(2);
      expect(call.clock.pendingTimers).toBe(0);
    },
  );

  it('waits for prompts that play before a late terminal event (G-7A)', async () => {
    const call = new FakeCall({ limits: { answerMs: 3000 } });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(8000)] });
    call.clock.advance(8500);
    call.turn(1).answer(event('session_end'));
    call.turn(1).complete();
    expect((await call.over).outcome).toBe('ended');
  });

  it('reports a server that does not complete SESSION_END and ends the call all the same', async () => {
    const call = new FakeCall({ hangUpAtMs: 0 });
    call.clock.advance(5000);
    const result = await call.over;
    expect(result.outcome).toBe('hung_up');
    expect(findingNames(call)).toEqual(['G-13 not_completed']);
    expect(call.turn(2).isCancelled).toBe(true);
    expect(call.clock.pendingTimers).toBe(0);
  });

  it('waits for a server in real time, however fast the call goes', async () => {
    const call = new FakeCall({ hangUpAtMs: 0, pace: 20 });
    call.clock.advance(4900);
    expect(call.turn(2).isCancelled).toBe(false);
    call.turn(2).complete();
    expect(await call.over).toMatchObject({ outcome: 'hung_up', findings: [], pace: 20, durationMs: 98_000 });
    const limits = { callMs: 3000, answerMs: 2000 };
    const [silent, endless] = [new FakeCall({ pace: 20, limits }), new FakeCall({ pace: 20, limits: { ...limits, answerMs: 9000 } })];
    silent.clock.advance(1999);
    endless.clock.advance(2999);
    expect([silent.turns.length, endless.turns.length]).toEqual([1, 1]);
    silent.clock.advance(1);
    endless.clock.advance(1);
    for (const given of [silent, endless]) given.turn(2).complete();
    await Promise.all([silent.over, endless.over]);
    expect([silent, endless].flatMap(findingNames)).toEqual(['no_answer', 'call_limit']);
  });

  it('ends with SESSION_END and the outcome interrupted when it is stopped from outside', async () => {
    const stop = new AbortController();
    const call = welcomed({ script: [say(1000)], signal: stop.signal });
    call.clock.advance(1500);
    stop.abort();
    expect(call.turns.at(-1)?.kinds).toEqual(['session_end']);
    call.turns.at(-1)?.complete();
    expect(await call.over).toMatchObject({ ok: false, outcome: 'interrupted' });
    expect(call.clock.pendingTimers).toBe(0);
  });

  it('opens nothing when it was stopped before it began', async () => {
    const call = new FakeCall({ signal: AbortSignal.abort() });
    expect(await call.over).toMatchObject({ ok: false, outcome: 'interrupted' });
    expect(call.turns).toHaveLength(0);
  });
});

describe('a server that does not keep its part', () => {
  it('fails the call when nothing answers within the limit, and hangs up', async () => {
    const call = new FakeCall({ limits: { answerMs: 4000 } });
    call.clock.advance(4000);
    expect(call.turn(1).isCancelled).toBe(true);
    expect(call.turn(2).kinds).toEqual(['session_end']);
    call.turn(2).complete();
    const result = await call.over;
    expect(result).toMatchObject({ ok: false, outcome: 'failed' });
    expect(result.findings).toMatchObject([{ code: 'no_answer', fatal: true, turn: 1, atMs: 4000 }]);
  });

  it.each([
    [true, 'the end of speech'],
    [false, 'any speech'],
  ])('fails the call when speech is not answered (start reported: %s)', async (isHeard, missing) => {
    const call = welcomed({ script: [say(500)], limits: { answerMs: 3000 } });
    call.clock.advance(1500);
    if (isHeard) call.turn(2).answer(event('start_of_input'));
    call.clock.advance(4000);
    call.turns.at(-1)?.complete();
    const result = await call.over;
    expect(result.outcome).toBe('failed');
    expect(result.findings[0]).toMatchObject({ code: 'no_answer', turn: 2 });
    expect(result.findings[0]?.message).toContain(missing);
  });

  it('lets NO_INPUT go on with the call when the server never hears the caller', () => {
    const call = welcomed({ script: [say(500)], limits: { answerMs: 3000 } }, { config: config({ noInputMs: 8000 }) });
    call.clock.advance(9000);
    expect(call.turn(3).kinds).toEqual(['no_input']);
    expect(call.result).toBeUndefined();
  });

  it('G-13 goes on without a completion after the closing FINAL', () => {
    const call = new FakeCall({ script: [say(500)], limits: { answerMs: 3000 } });
    call.turn(1).answer({ prompts: [prompt(1000)] });
    call.clock.advance(7000);
    expect(call.turn(1).isCancelled).toBe(true);
    expect(call.turns.length).toBeGreaterThan(1);
  });

  it('ends the whole call at its limit', async () => {
    const call = welcomed({ script: [{ kind: 'wait', waitMs: 600_000 }], limits: { callMs: 30_000 } });
    call.clock.advance(30_000);
    call.turns.at(-1)?.complete();
    const result = await call.over;
    expect(result).toMatchObject({ ok: false, outcome: 'failed', durationMs: 30_000 });
    expect(result.findings).toMatchObject([{ code: 'call_limit', fatal: true }]);
  });

  it('gives up on a server that completes every listening RPC at once', async () => {
    const call = welcomed({ script: [say(500)] });
    call.clock.advance(1000);
    for (let number = 2; number <= 4; number += 1) call.turn(number).complete();
    call.turns.at(-1)?.complete();
    const result = await call.over;
    expect(result.findings.map(({ code }) => code)).toEqual([
      'unasked_completion',
      'unasked_completion',
      'unasked_completion',
      'closed_early',
    ]);
    expect(result.outcome).toBe('failed');
  });

  it('fails the call when an RPC breaks', async () => {
    const call = welcomed({ script: [say(500)] });
    call.clock.advance(1100);
    call.turn(2).break('closed_early');
    const result = await call.over;
    expect(result.outcome).toBe('failed');
    expect(result.findings).toMatchObject([{ code: 'closed_early', fatal: true, turn: 2 }]);
    expect(call.clock.pendingTimers).toBe(0);
  });

  it('G-53 does not fail the call when the RPC it interrupted breaks', () => {
    const call = new FakeCall({ script: [say(300, 400)] });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
    call.clock.advance(600);
    call.turn(2).answer(event('start_of_input'));
    call.turn(1).break('rpc_failed');
    call.clock.advance(500);
    expect(call.result).toBeUndefined();
  });

  it('stops a server that sends hours of prompts ahead', async () => {
    const call = new FakeCall();
    const tenMinutes = prompt(600_000);
    call.turn(1).answer({ prompts: [tenMinutes, tenMinutes, tenMinutes, tenMinutes] });
    call.turns.at(-1)?.complete();
    const result = await call.over;
    expect(result.findings.at(-1)).toMatchObject({ code: 'too_much_audio', fatal: true });
  });
});
