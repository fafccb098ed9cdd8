// Checks of input that is unusual but legal, or from a later version of the contract.
import { status } from '@grpc/grpc-js';
import type { Key } from '../../caller/key.ts';
import { LINE_RATE_HZ } from '../../../speech/audio-format.ts';
import { SILENT_FRAME } from '../../caller/microphone.ts';
import type { Runs } from '../catalog.ts';
import { endingText, eventInput, type Input, type RpcTurn } from '../rpc-call.ts';
import type { RpcLab } from '../rpc-probe.ts';

/** A number that no event, no key and no audio format has. */
const UNKNOWN_NUMBER = 99;
/** Keys other than digits (G-66). */
const ODD_KEYS: readonly Key[] = ['0', '*', '#', 'A', 'B', 'C', 'D'];
/** An encoded message with the unknown fields 2046, a text, and 2047, a number. */
const UNKNOWN_FIELDS = Uint8Array.of(0xf2, 0x7f, 0x03, 0x6e, 0x65, 0x77, 0xf8, 0x7f, 0x01);

/** Whether an unknown event, key or audio format was refused as unknown. */
function isRefused({ rpc }: RpcTurn): boolean {
  return rpc.ending?.code === status.INVALID_ARGUMENT;
}

export const ROBUSTNESS_CHECKS: Runs<RpcLab> = {
  'no-digits-survived': async (lab) => {
    await lab.demandKeysWork();
    const call = await lab.readyFor('keys');
    const { endProblem } = await call.press([]);
    if (endProblem !== undefined) lab.fail(`the RPC of an empty collection of digits ${endProblem}`);
    await call.hangUp();
  },
  'every-key-taken': async (lab) => {
    await lab.demandKeysWork();
    for (const key of ODD_KEYS) {
      const { call } = await lab.begun();
      if (!call.isAskedFor('keys')) lab.skip('the bot asks for no keys');
      const { endProblem, isOver, hasPrompt, terminal } = await call.press([key]);
      // The key was accepted when its answer has a prompt and is so long that the RPC is still open.
      const isTaken = !isOver && hasPrompt;
      if (endProblem !== undefined && !isTaken) lab.fail(`the RPC of key ${key} ${endProblem}`);
      if (terminal === undefined) await call.hangUp();
    }
  },
  'unknown-event-survived': async (lab) => {
    const call = await lab.ready();
    const unknown = await call.turn('custom_event', { event_input: { event_type: UNKNOWN_NUMBER } });
    const broken = isRefused(unknown) ? undefined : unknown.endProblem;
    if (broken !== undefined) lab.fail(`the RPC of an event with an unknown number ${broken}`);
    await call.hangUp();
  },
  'unknown-key-survived': async (lab) => {
    const call = await lab.ready();
    const inputs: Readonly<Record<string, Input>> = {
      ...(call.isAskedFor('keys') ? { 'a key': { dtmf_input: { dtmf_events: [UNKNOWN_NUMBER] } } } : {}),
      'an audio format': { audio_input: { caller_audio: SILENT_FRAME, encoding: UNKNOWN_NUMBER, sample_rate_hertz: LINE_RATE_HZ } },
    };
    for (const [name, input] of Object.entries(inputs)) {
      const unknown = await call.turn('custom_event', input);
      const broken = isRefused(unknown) ? undefined : unknown.endProblem;
      if (broken !== undefined) lab.fail(`the RPC of ${name} with an unknown number ${broken}`);
      if (unknown.terminal !== undefined) return;
    }
    await call.hangUp();
  },
  'unknown-fields-survived': async (lab) => {
    const connection = lab.probe.connect();
    const call = lab.probe.call({}, connection);
    const start = connection.encode(call.message(eventInput('SESSION_START')));
    const rpc = call
      .open()
      .send(Buffer.concat([start, UNKNOWN_FIELDS]))
      .halfClose();
    await rpc.settled(lab.suspect.timing.answerMs);
    if (rpc.final === undefined) lab.fail(`a SESSION_START with unknown fields got no FINAL, and its RPC ${endingText(rpc.ending)}`);
    await call.hangUp();
  },
};
