// PARTIAL answers as the platform plays them: what a later reply cancels, and what plays on (field 9).
import { expect, it } from 'vitest';
import { readServerEnvelope } from '../../../../src/contract/envelope.ts';
import { loadContract, RESPONSE_TYPE, type MediaResponse } from '../../../../src/contract/grpc.ts';
import { answerFromWire } from '../../../../src/fake-platform/lines/from-wire.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { answerFromEnvelope } from '../../../../src/fake-platform/lines/socket/from-envelope.ts';
import { event, FakeCall, prompt, say } from '../../../support/fake-line.ts';

const loud = (heard: Int16Array, fromMs: number, toMs: number): boolean =>
  heard.subarray(fromMs * 8, toMs * 8).some((sample) => sample !== 0);

/** A call that got 2 s of PARTIAL, and 300 ms later a FINAL with 200 ms. */
async function cutShort(playsOn: boolean): Promise<Int16Array> {
  const call = new FakeCall({ allowPartial: true, hangUpAtMs: 4000 });
  call.turn(1).answer({ type: 'partial', prompts: [prompt(2000)], playsOn });
  call.clock.advance(300);
  call.turn(1).answer({ prompts: [prompt(200)] });
  call.turn(1).complete();
  call.clock.advance(4000);
  for (const turn of call.turns) if (turn !== call.turns[0]) turn.complete();
  return (await call.over).heard;
}

it('G-45 a PARTIAL that still plays is cancelled by a later reply', async () => {
  const heard = await cutShort(false);
  expect([loud(heard, 0, 490), loud(heard, 520, 2200)]).toEqual([true, false]);
});

it('G-45 W-15 a PARTIAL that says so plays on, and the later reply comes behind it', async () => {
  const heard = await cutShort(true);
  expect([loud(heard, 600, 1990), loud(heard, 2010, 2190), loud(heard, 2220, 3000)]).toEqual([true, true, false]);
});

it('G-45 a report about speech is no reply, and cancels no PARTIAL', async () => {
  const call = new FakeCall({ allowPartial: true, script: [say(200, 100)], hangUpAtMs: 3000 });
  call.turn(1).answer({ type: 'partial', prompts: [prompt(2000, true)] });
  call.clock.advance(600);
  call.turn(2).answer(event('end_of_input'));
  call.clock.advance(3000);
  for (const turn of call.turns) turn.complete();
  const { heard, timeline } = await call.over;
  expect(loud(heard, 700, 1990)).toBe(true);
  expect(timeline.map(({ what }) => what)).not.toContain('cancels_partial');
});

it('W-15 both wires carry whether a PARTIAL plays on, and no server has to say', () => {
  const { ProcessCallerInput } = loadContract(loadProfile('fake')).media.definition;
  const overRpc = (response: MediaResponse): boolean | undefined =>
    answerFromWire(ProcessCallerInput.responseDeserialize(ProcessCallerInput.responseSerialize(response))).playsOn;
  expect([overRpc({ response_type: RESPONSE_TYPE.PARTIAL, disable_prompt_cancellation: true }), overRpc({})]).toEqual([true, undefined]);
  const overSocket = (more: object): boolean | undefined => {
    const head = { type: 'VOICE_VA_RESPONSE', seq: 1, ts: '2026-01-01T00:00:00Z', conversation_id: 'c' };
    const envelope = readServerEnvelope(JSON.stringify({ ...head, payload: { response_type: 'PARTIAL', ...more } }));
    return envelope.type === 'VOICE_VA_RESPONSE' ? answerFromEnvelope(envelope.payload, 5000).playsOn : undefined;
  };
  expect([{ disable_prompt_cancellation: true }, { disable_prompt_cancellation: null }, {}].map(overSocket)).toEqual([
    true,
    undefined,
    undefined,
  ]);
});
