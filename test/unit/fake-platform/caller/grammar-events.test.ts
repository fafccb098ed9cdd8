import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import { EVENT_INPUT } from '../../../../src/contract/numbers.ts';
import type { Step } from '../../../../src/fake-platform/caller/script.ts';
import { callScripted, wavReply } from '../../../support/call-lab.ts';
import { event, FakeCall, press, prompt, REACTION_MS, say, welcomed } from '../../../support/fake-line.ts';

const PARAMETERS: JsonObject = { points: 3, paid: true };

function sendEvent(interruptMs?: number): Step {
  return { kind: 'send_event', name: 'bonus', parameters: PARAMETERS, ...(interruptMs === undefined ? {} : { interruptMs }) };
}

describe('an event of the flow', () => {
  it('G-72 goes with its name and parameters on an RPC of its own, after the silent ear was half-closed', () => {
    const call = welcomed({ script: [sendEvent()] });
    call.clock.advance(1000 + REACTION_MS);
    const [, ear, own] = call.turns;
    expect(ear?.isHalfClosed).toBe(true);
    expect(own?.sent).toEqual([{ kind: 'custom_event', name: 'bonus', parameters: PARAMETERS }]);
    expect(own?.isHalfClosed).toBe(true);
  });

  it('G-72 comes in the middle of a prompt, which plays on, and its reply is heard behind it and can be cut', () => {
    const call = new FakeCall({ script: [sendEvent(300), say(300, 1200)] });
    call.turn(1).answer({ prompts: [prompt(1000, true)] });
    call.turn(1).complete();
    call.clock.advance(300);
    expect(call.turn(3).kinds).toEqual(['custom_event']);
    call.turn(3).answer({ prompts: [prompt(1000, true)] });
    call.turn(3).complete();
    // Whoever interrupts now does so on an RPC behind that of the event.
    call.clock.advance(1000 + 1200 - 300 + 100);
    call.turn(4).answer(event('start_of_input'));
    expect(call.turn(4).kinds).toContain('speech');
  });

  it('G-72 comes while the caller speaks: the ear goes on, and what is said is heard', () => {
    const call = welcomed({ script: [say(1000)], flowEvents: [{ atMs: 1600, name: 'bonus', parameters: PARAMETERS }] });
    call.clock.advance(1400);
    call.turn(2).answer(event('start_of_input'));
    call.clock.advance(200);
    expect(call.turn(3).kinds).toEqual(['custom_event']);
    expect(call.turn(2).isHalfClosed).toBe(false);
    const before = call.turn(2).sent.length;
    call.clock.advance(100);
    expect(call.turn(2).sent).toHaveLength(before + 5);
  });

  it('G-72 may be completed without a reply: nothing is found, and the next step follows', () => {
    const call = welcomed({ script: [sendEvent(), press('1')] }, { mode: 'dtmf' });
    call.clock.advance(1000 + REACTION_MS);
    call.turn(2).complete();
    call.clock.advance(REACTION_MS);
    expect(call.turn(3).kinds).toEqual(['dtmf_start']);
  });

  it('G-72 stands on the wire as the flow has set it', async () => {
    const { server } = await callScripted(
      async (turn) => {
        await turn.halfClosed();
        turn.send(wavReply(100));
        turn.complete();
      },
      { script: [sendEvent()] },
    );
    const sent = server.turns.flatMap(({ received }) => received.map(({ message }) => message.event_input));
    expect(sent.find((input) => input?.event_type === EVENT_INPUT.CUSTOM_EVENT)).toMatchObject({
      name: 'bonus',
      parameters: { fields: { points: { numberValue: 3 }, paid: { boolValue: true } } },
    });
  });
});

describe('the input mode', () => {
  it('G-81 means voice and keys when the server sets none', () => {
    const call = welcomed({ script: [press('1')] }, { mode: undefined });
    call.clock.advance(1000 + REACTION_MS);
    expect(call.turns.map(({ kinds }) => kinds[0])).toEqual(['session_start', 'audio_format', 'dtmf_start']);
  });

  it('G-35 takes no keys when the server listens for speech only', () => {
    const call = welcomed({ script: [press('1')] }, { mode: 'voice' });
    call.clock.advance(1000 + REACTION_MS);
    expect(call.turns.map(({ kinds }) => kinds[0])).toEqual(['session_start', 'audio_format']);
  });
});
