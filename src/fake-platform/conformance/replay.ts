// Takes a call once more as far as a reply that may be cut, and speaks into it: the second RPC of a call that overlaps the first
// (contract, section 2.6). Judges nothing.
import { FRAME_MS } from '../../speech/audio-format.ts';
import { LEAD_MS } from './call.ts';
import { cuttableMs, heardFromMs, type CuttableReply } from './cuttable-reply.ts';
import type { CheckLab } from './lab.ts';
import {
  frameInputs,
  hasPrompt,
  hasStart,
  inputOf,
  isBroken,
  MULAW_FORMAT,
  SILENCE,
  terminalOf,
  type Input,
  type RpcCall,
  TurnRecord,
} from './rpc-call.ts';
import type { WireRpc } from './wire.ts';

/** A reply of a call over RPCs. */
export type Reply = CuttableReply<TurnRecord>;

/** A call whose reply has begun: `older` carries it. */
export interface Replayed {
  readonly call: RpcCall;
  readonly older: WireRpc;
}

/** Two RPCs of one call. */
export interface Pair extends Replayed {
  readonly newer: WireRpc;
}

/** Silence behind speech while its announcement is waited for, frames: more than any reply is long. */
const AFTER_SPEECH_FRAMES = 3000;

/** Takes the call once more until the reply has begun; the check does not apply when it does not come. */
export async function replayed(lab: CheckLab, { agentId, before, turn, name }: Reply): Promise<Replayed> {
  const { press, timing } = lab.suspect;
  lab.note(`a call as far as ${name}`);
  const call = lab.call({ agentId });
  for (const { kind } of before) {
    const again = await (kind === 'speech' ? call.speak(lab.spoken) : call.turn(kind, inputOf(kind, press)));
    if (isBroken(again.rpc) || terminalOf(again.rpc) !== undefined) lab.skip(`the call did not come as far as ${name} again`);
    await call.heardOut(again);
  }
  const older = call.open();
  if (turn.kind === 'speech') await call.say(older, lab.spoken);
  else older.send(call.message(inputOf(turn.kind, press)));
  older.halfClose();
  await older.until(() => older.ending !== undefined || hasPrompt(older), timing.answerMs);
  if (!hasPrompt(older)) lab.skip(`${name} did not come again`);
  return { call, older };
}

/** Speaks into a reply until that is announced or the reply is over. */
export async function speakInto(lab: CheckLab, reply: Reply): Promise<Pair> {
  const { clock, timing } = lab.suspect;
  const { call, older } = await replayed(lab, reply);
  const untilMs = heardFromMs(new TurnRecord(reply.turn.kind, older)) + cuttableMs(reply.turn);
  const newer = call.open(MULAW_FORMAT);
  // The platform sends silence before a voice (G-50), by which an ear learns the line.
  const lead = Array<Input>(LEAD_MS / FRAME_MS).fill(SILENCE);
  const line = [...lead, ...frameInputs(lab.speech), ...Array<Input>(AFTER_SPEECH_FRAMES * timing.pace).fill(SILENCE)];
  await call.stream(newer, line, () => hasStart(newer) || newer.ending !== undefined || clock.monotonicMs() > untilMs);
  if (isBroken(newer)) lab.skip('the second RPC was refused');
  return { call, older, newer };
}
