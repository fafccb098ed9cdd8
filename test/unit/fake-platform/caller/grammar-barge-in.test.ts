import { describe, expect, it } from 'vitest';
import {
  audioFrames,
  config,
  event,
  FakeCall,
  findingNames,
  piece,
  press,
  prompt,
  REACTION_MS,
  say,
  welcomed,
} from '../../../support/fake-line.ts';

describe('interrupting a prompt', () => {
  it('G-50 opens RPC n+1 while the prompt still plays and before RPC n is complete', () => {
    const call = new FakeCall({ script: [say(200, 300)] });
    call.turn(1).answer({ prompts: [prompt(1000, true)] });
    expect(call.turns).toHaveLength(2);
    call.clock.advance(200);
    expect(call.turn(2).kinds).toEqual(['audio_format', 'probe', 'silence']);
    call.clock.advance(200);
    expect(call.turn(2).kinds).toEqual(['audio_format', 'probe', 'silence', 'speech']);
  });

  it('G-51 drops what the caller says during a prompt without barge-in and opens the ear when playback ends', () => {
    const call = welcomed({ script: [say(400, 800)] });
    call.clock.advance(999);
    expect(call.turns).toHaveLength(1);
    call.clock.advance(301);
    // 200 of 400 ms fall into the prompt and are lost; the rest goes on the new RPC.
    const speech = audioFrames(call.turn(2)).filter((frame) => frame.some((code) => code !== 0xff));
    expect(speech.length).toBeGreaterThanOrEqual(9);
    expect(speech.length).toBeLessThanOrEqual(11);
  });

  it('G-51 goes on when everything the caller said was dropped', async () => {
    const call = welcomed({ script: [say(300, 100)] });
    call.clock.advance(1000 + REACTION_MS);
    expect(call.turns.at(-1)?.kinds).toEqual(['session_end']);
    call.turn(2).complete();
    call.turn(3).complete();
    const result = await call.over;
    expect(result.outcome).toBe('hung_up');
    expect(result.timeline.find(({ what }) => what === 'drops_speech')).toMatchObject({ who: 'platform', detail: '300 ms' });
  });

  it('G-51 drops keys pressed during a prompt without barge-in', () => {
    const call = welcomed({ script: [press('1', 200)] });
    call.clock.advance(500);
    expect(call.turns).toHaveLength(1);
  });

  it('G-51 sends silence on an ear that is already open while a prompt without barge-in plays', () => {
    const call = new FakeCall({ script: [say(1000, 300)] });
    call.turn(1).answer({ prompts: [prompt(500, true), prompt(5000, false)] });
    call.turn(1).complete();
    call.clock.advance(500);
    const before = call.turn(2).sent.length;
    call.clock.advance(400);
    const during = call.turn(2).sent.slice(before + 1);
    expect(during.length).toBeGreaterThan(15);
    expect(during.every((input) => input.kind === 'audio' && input.audio.every((code) => code === 0xff))).toBe(true);
  });

  it('G-52 drops the unheard prompts of the older RPC when START_OF_INPUT comes, also those still on their way', async () => {
    const call = new FakeCall({ script: [say(300, 400)] });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
    call.clock.advance(600);
    call.turn(2).answer(event('start_of_input'));
    call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
    call.turn(1).answer({});
    call.turn(1).complete(['First.', 'Second.', 'Third.']);
    call.clock.advance(400);
    call.turn(2).answer(event('end_of_input'));
    call.turn(2).answer({ type: 'chunk', prompts: [piece(200)] });
    call.turn(2).answer({});
    call.turn(2).complete();
    call.clock.advance(200 + REACTION_MS);
    call.turns.at(-2)?.complete();
    call.turns.at(-1)?.complete();
    const { heard, replies, heardTexts } = await call.over;
    const loud = (fromMs: number, toMs: number): boolean => heard.subarray(fromMs * 8, toMs * 8).some((sample) => sample !== 0);
    expect(heardTexts).toEqual(['First.']);
    expect([loud(0, 600), loud(600, 1000), loud(1000, 1200), loud(1200, 1400)]).toEqual([true, false, true, false]);
    expect(replies.map(({ turn, isInterrupted }) => [turn, isInterrupted])).toEqual([
      [1, true],
      [2, false],
    ]);
  });

  it('G-37 reports START_OF_INPUT during a prompt without barge-in and plays it on', () => {
    const call = new FakeCall({ script: [say(300, 400)], limits: { callMs: 3000 } });
    call.turn(1).answer({ prompts: [prompt(500, true), prompt(1000, false)] });
    call.turn(1).complete();
    call.clock.advance(800);
    call.turn(2).answer(event('start_of_input'));
    call.clock.advance(600);
    expect(call.turns).toHaveLength(2);
    call.clock.advance(2000);
    call.turns.at(-1)?.complete();
    return call.over.then((result) => {
      expect(findingNames(call)).toContain('G-37 input_start_not_allowed');
      expect(result.heard.subarray(1400 * 8, 1490 * 8).some((sample) => sample !== 0)).toBe(true);
    });
  });

  it('half-closes an early ear when the reply then asks for keys only', () => {
    const call = new FakeCall({ script: [press('1')] });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
    expect(call.turns).toHaveLength(2);
    call.turn(1).answer({ mode: 'dtmf' });
    expect(call.turn(2).isHalfClosed).toBe(true);
  });

  it('G-52 does not wait for the RPC that was interrupted, nor for what it asks for', () => {
    const call = new FakeCall({ script: [say(300, 400), press('1')] });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(5000, true)] });
    call.clock.advance(600);
    call.turn(2).answer(event('start_of_input'));
    call.clock.advance(400);
    call.turn(2).answer(event('end_of_input'));
    call.turn(2).answer({ prompts: [prompt(100)], mode: 'dtmf', config: config({ digits: 1 }) });
    call.turn(2).complete();
    call.turn(1).answer({ mode: 'voice', config: config() });
    call.clock.advance(100 + REACTION_MS);
    expect(call.turn(3).kinds).toEqual(['dtmf_start']);
    call.turn(3).complete();
    expect(call.turn(4).kinds).toEqual(['dtmf']);
  });

  it('does not take the end of the older RPC for the reply to the caller', () => {
    const call = new FakeCall({ script: [say(300, 400), press('1')] });
    call.turn(1).answer({ prompts: [prompt(5000, true)] });
    call.clock.advance(550);
    call.turn(1).complete();
    call.clock.advance(50);
    call.turn(2).answer(event('start_of_input'));
    call.clock.advance(3000);
    expect(call.turns).toHaveLength(2);
    expect(call.turn(2).kinds).not.toContain('dtmf_start');
  });
});
