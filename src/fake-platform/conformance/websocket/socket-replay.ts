// Takes a call on a socket once more as far as a reply that may be cut, and speaks into it. Judges nothing.
import type { JsonObject } from '../../../base/json.ts';
import { cuttableMs, heardFromMs, type CuttableReply } from '../cuttable-reply.ts';
import { LEAD_MS } from '../call.ts';
import { inputOf, silenceOf, type SocketCall, type SocketTurn } from './socket-call.ts';
import type { SocketLab } from './socket-lab.ts';

/** A reply of a call on a socket. */
export type SocketReply = CuttableReply<SocketTurn>;

/** Longest silence behind speech while its announcement is waited for, ms of audio. */
const AFTER_SPEECH_MS = 60_000;

/** What came of a caller who spoke into a reply. */
export interface SpokenInto {
  readonly call: SocketCall;
  /** The reply as it came this time. */
  readonly turn: SocketTurn;
  /** Messages that had come before the caller spoke. */
  readonly from: number;
  /** When the server announced the speech, by the clock, ms; undefined when it did not. */
  readonly startedAtMs: number | undefined;
}

/** Takes the call once more until the reply has begun; the check does not apply when it does not come. */
export async function replayed(lab: SocketLab, { agentId, before, turn, name }: SocketReply): Promise<[SocketCall, SocketTurn]> {
  const { press, timing } = lab.suspect;
  lab.note(`a call as far as ${name}`);
  const call = lab.call({ agentId });
  await call.socket.upgraded();
  for (const { kind } of before) {
    const again = await (kind === 'speech'
      ? call.speak(lab.speech)
      : kind === 'dtmf_start'
        ? call.firstKey()
        : call.turn(kind, inputOf(kind, press)));
    if (call.socket.isOver || again.terminal !== undefined) lab.skip(`the call did not come as far as ${name} again`);
    await call.heardOut(again);
  }
  const inputs: readonly JsonObject[] = turn.kind === 'speech' ? [] : [inputOf(turn.kind, press)];
  const again = call.open(turn.kind, ...inputs);
  const isBegun = (): boolean => again.hasPrompt;
  if (turn.kind === 'speech') await call.stream(Buffer.concat([silenceOf(LEAD_MS), lab.speech, silenceOf(AFTER_SPEECH_MS)]), isBegun);
  await call.socket.until(() => call.socket.isOver || isBegun(), timing.answerMs);
  if (!isBegun()) lab.skip(`${name} did not come again`);
  return [call, again];
}

/** Speaks into a reply until that is announced, or the reply is over. */
export async function speakInto(lab: SocketLab, reply: SocketReply): Promise<SpokenInto> {
  const { clock } = lab.suspect;
  const [call, turn] = await replayed(lab, reply);
  const untilMs = heardFromMs(turn) + cuttableMs(reply.turn);
  const from = call.socket.received.length;
  const startedAtMs = (): number | undefined =>
    call.socket.received.slice(from).find(({ answer }) => answer?.event?.kind === 'start_of_input')?.atMs;
  const isEnough = (): boolean => startedAtMs() !== undefined || clock.monotonicMs() > untilMs;
  await call.stream(Buffer.concat([silenceOf(LEAD_MS), lab.speech, silenceOf(AFTER_SPEECH_MS)]), isEnough);
  return { call, turn, from, startedAtMs: startedAtMs() };
}
