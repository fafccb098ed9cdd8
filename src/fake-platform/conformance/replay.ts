// Repeats a call up to a reply that may be interrupted, and speaks into it. Judges nothing.
import { LEAD_MS, type ProbeCall, type ProbeTurn } from './call.ts';
import { cuttableMs, heardFromMs, type CuttableReply } from './cuttable-reply.ts';
import type { Lab } from './lab.ts';
import type { Probe } from './probe.ts';
import { silenceOf } from './quiet-line.ts';

/** A call whose reply has begun: `older` carries it. */
export interface Replayed<Turn extends ProbeTurn, Call extends ProbeCall<Turn>> {
  readonly call: Call;
  readonly older: Turn;
}

/** A call in which somebody speaks into a reply, on `newer`. */
export interface SpokenInto<Turn extends ProbeTurn, Call extends ProbeCall<Turn>> extends Replayed<Turn, Call> {
  readonly newer: Turn;
  /** When the listening turn was opened, monotonic, ms. */
  readonly fromMs: number;
}

/** Repeats the call until the reply has begun; the check does not apply when it does not come. */
export async function replayed<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  lab: Lab<Turn, Call, Probe<Turn, Call>>,
  { agentId, before, turn, name }: CuttableReply<Turn>,
): Promise<Replayed<Turn, Call>> {
  const { press } = lab.suspect;
  lab.note(`a call as far as ${name}`);
  const call = lab.probe.call({ agentId });
  for (const { kind } of before) {
    const again = await (kind === 'speech' ? call.say(lab.speech) : call.take(kind, press));
    if (call.isOver || again.isBroken || again.terminal !== undefined) lab.skip(`the call did not come as far as ${name} again`);
    await call.heardOut(again);
  }
  const older = await call.untilReplied(turn.kind, lab.suspect);
  if (!older.hasPrompt) lab.skip(`${name} did not come again`);
  return { call, older };
}

/** Speaks into a reply until the server reports speech or the reply is over. */
export async function speakInto<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  lab: Lab<Turn, Call, Probe<Turn, Call>>,
  reply: CuttableReply<Turn>,
): Promise<SpokenInto<Turn, Call>> {
  const { clock, timing } = lab.suspect;
  const { call, older } = await replayed(lab, reply);
  const untilMs = heardFromMs(older) + cuttableMs(reply.turn);
  const fromMs = clock.monotonicMs();
  const leftMs = Math.max(0, untilMs - fromMs) * timing.pace;
  const newer = call.listen();
  // The platform sends silence before a voice (G-50), from which a detector learns the line.
  const line = Buffer.concat([silenceOf(LEAD_MS), lab.speech, silenceOf(leftMs)]);
  await call.stream(newer, line, () => newer.hasStart || newer.isOver || clock.monotonicMs() > untilMs);
  if (newer.isBroken) lab.skip('the second RPC was refused');
  return { call, older, newer, fromMs };
}
