import { describe, expect, it } from 'vitest';
import type { PlatformInput } from '../../../../src/fake-platform/lines/line.ts';
import { tone } from '../../../support/call-lab.ts';
import { FakeCall, audioFrames, event, press, prompt, say, welcomed, REACTION_MS } from '../../../support/fake-line.ts';

describe('the start of a call', () => {
  it('G-20 opens with SESSION_START and half-closes at once, without audio', () => {
    const call = new FakeCall();
    expect(call.turns).toHaveLength(1);
    expect(call.turn(1).kinds).toEqual(['session_start']);
    expect(call.turn(1).isHalfClosed).toBe(true);
  });

  it('G-24 sends what the flow set with SESSION_START', () => {
    const call = new FakeCall({ sessionStart: { name: 'custom_param', parameters: { tier: 'gold' } } });
    expect(call.turn(1).sent).toEqual<PlatformInput[]>([{ kind: 'session_start', name: 'custom_param', parameters: { tier: 'gold' } }]);
  });

  it('G-22 plays several prompts in list order before the caller may act', () => {
    const call = new FakeCall({ script: [press('1')] });
    call.turn(1).answer({ prompts: [prompt(300), prompt(500)] });
    call.turn(1).complete();
    call.clock.advance(799);
    expect(call.turns).toHaveLength(1);
    call.clock.advance(1 + REACTION_MS);
    expect(call.turns.map((turn) => turn.kinds[0])).toEqual(['session_start', 'audio_format', 'dtmf_start']);
  });

  it('G-23 opens the first listening RPC when the welcome has been heard and its RPC is complete', () => {
    const call = new FakeCall({ script: [say(100)] });
    call.turn(1).answer({ prompts: [prompt(1000)] });
    call.clock.advance(1500);
    expect(call.turns).toHaveLength(1);
    call.turn(1).complete();
    expect(call.turns).toHaveLength(2);
  });
});

describe('the audio of the caller', () => {
  it('G-32, G-33 begins with the format alone and three probes of 3 bytes, and no later RPC names a format', () => {
    const call = welcomed({ script: [say(100), say(100)] });
    call.clock.advance(1000);
    expect(
      call
        .turn(2)
        .sent.slice(0, 4)
        .map((input) => (input.kind === 'audio' ? input.audio.length : input.kind)),
    ).toEqual(['audio_format', 3, 3, 3]);
    call.clock.advance(500);
    call.turn(2).answer(event('end_of_input'));
    call.turn(2).answer({ prompts: [prompt(100)] });
    call.turn(2).complete();
    call.clock.advance(500);
    expect(call.turn(3).kinds).toEqual(['silence', 'speech', 'silence']);
  });

  it('G-30, G-35 sends a frame of 160 bytes every 20 ms, silence until the caller speaks', () => {
    const call = welcomed({ script: [say(100)] });
    call.clock.advance(1000);
    const before = audioFrames(call.turn(2)).length;
    call.clock.advance(1000);
    const frames = audioFrames(call.turn(2));
    expect(frames.length - before).toBe(50);
    expect(new Set(frames.map((frame) => frame.length))).toEqual(new Set([160]));
    expect(call.turn(2).kinds).toEqual(['audio_format', 'probe', 'silence', 'speech', 'silence']);
    const speech = frames.filter((frame) => frame.some((code) => code !== 0xff));
    expect(Buffer.concat(speech)).toEqual(Buffer.from(tone(100)));
  });

  it('G-35 opens no RPC before a key is pressed when the server takes keys only', () => {
    const call = welcomed({ script: [{ kind: 'wait', waitMs: 60_000 }, press('1')] }, { mode: 'dtmf' });
    call.clock.advance(61_000);
    expect(call.turns).toHaveLength(1);
    call.clock.advance(1000);
    expect(call.turn(2).kinds).toEqual(['dtmf_start']);
  });

  it('G-38 stops audio at once and half-closes when the server reports the end of input', () => {
    const call = welcomed({ script: [say(400)] });
    call.clock.advance(1000 + REACTION_MS + 200);
    call.turn(2).answer(event('start_of_input'));
    call.clock.advance(100);
    expect(call.turn(2).isHalfClosed).toBe(false);
    call.turn(2).answer(event('end_of_input'));
    const sent = call.turn(2).sent.length;
    expect(call.turn(2).isHalfClosed).toBe(true);
    call.clock.advance(1000);
    expect(call.turn(2).sent).toHaveLength(sent);
    expect(call.turns).toHaveLength(2);
  });

  it('takes a reply without a report of the end of speech as the end of speech', () => {
    const call = welcomed({ script: [say(200)] });
    call.clock.advance(1600);
    call.turn(2).answer({ prompts: [prompt(100)] });
    expect(call.turn(2).isHalfClosed).toBe(true);
  });

  it('G-39 stops audio without half-closing when START_OF_INPUT comes as CHUNK', () => {
    const call = welcomed({ script: [say(400)], limits: { answerMs: 2000 } });
    call.clock.advance(1400);
    call.turn(2).answer({ type: 'chunk', ...event('start_of_input') });
    const sent = call.turn(2).sent.length;
    call.clock.advance(500);
    expect(call.turn(2).sent).toHaveLength(sent);
    expect(call.turn(2).isHalfClosed).toBe(false);
  });
});
