import { describe, expect, it } from 'vitest';
import { MessageLog } from '../../../../src/fake-platform/softphone/message-log.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { config, event, FakeCall, finished, piece, press } from '../../../support/fake-line.ts';

describe('the log of the messages of a call', () => {
  it('has every message once, sound in a row as one, findings beside the message, and when the sounds of replies came', async () => {
    const clock = new FakeClock();
    const log = new MessageLog(clock);
    const options = { script: [press('5')], overLine: log.over.bind(log), onFinding: log.found.bind(log) };
    const call = new FakeCall(options, clock);
    await clock.advanceAsync(100);
    call.turn(1).answer({ type: 'chunk', prompts: [piece(200)] });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(200)] });
    call.turn(1).answer({ config: config({ digits: 1 }) });
    call.turn(1).answer({ config: config({ digits: 1 }) });
    call.turn(1).complete();
    await clock.advanceAsync(1000);
    call.turn(2).answer(event('session_end'));
    const { findings } = await finished(call);
    expect(findings.map(({ code }) => code)).toContain('second_final');
    const told = log.entries.map(({ turn, from, name, bytes, detail }) => [turn, from, name, bytes ?? detail]);
    expect(told.slice(0, 6)).toEqual([
      [1, 'platform', 'session_start', undefined],
      [1, 'platform', 'half-close', undefined],
      [1, 'server', 'chunk', 3200],
      [1, 'server', 'final', undefined],
      [1, 'server', 'final', undefined],
      [1, 'server', 'completed', undefined],
    ]);
    expect(told).toContainEqual([3, 'platform', 'dtmf_start', undefined]);
    expect(log.entries.find(({ findings: found }) => found !== undefined)).toMatchObject({
      name: 'final',
      findings: [{ code: 'second_final' }],
    });
    expect(log.firstSounds).toEqual([log.startedAtMs + 100]);
  });
});
