// Checks of RPCs of one call that overlap, and of what is cut (contract, section 2.6).
import {
  isBroken,
  isHeard,
  eventInput,
  frameInputs,
  hasPrompt,
  MULAW_FORMAT,
  playMs,
  SILENCE,
  type Input,
  type ProbeCall,
} from '../probe-call.ts';
import type { Check } from '../check.ts';
import type { CheckLab } from '../lab.ts';
import type { CallRecord } from '../survey.ts';
import { statusName, type WireRpc } from '../wire.ts';
import { hasStart } from './speech.ts';

/** A welcome that can be cut must play this long, ms. */
const MIN_CUTTABLE_MS = 1000;
/** How long a reply that is cut may still come, ms: what was on its way (G-53). */
const STOP_MS = 500;
/** Silence before speech, frames. */
const LEAD_FRAMES = 20;
/** Silence after speech in which its announcement may still come, at the pace of real time: half a second. */
const AFTER_SPEECH_FRAMES = 25;
/** Moments of silence before something happens on a listening RPC. */
const QUIET: readonly Input[] = [MULAW_FORMAT, SILENCE, SILENCE, SILENCE, SILENCE, SILENCE];

/** The welcome on its RPC while a second RPC already listens. */
async function overlapping(lab: CheckLab): Promise<{ readonly call: ProbeCall; readonly older: WireRpc; readonly newer: WireRpc }> {
  const call = lab.call();
  const older = call.open(eventInput('SESSION_START'));
  const newer = call.open(...QUIET);
  await call.wait(100);
  older.halfClose();
  await older.settled(lab.suspect.timing.answerMs);
  return { call, older, newer };
}

/** How long a welcome plays if all of it may be cut, ms; otherwise 0. */
function cuttableMs({ turns }: CallRecord): number {
  const prompts = turns[0]?.rpc.answers.flatMap((answer) => answer.prompts.filter(isHeard)) ?? [];
  return prompts.every(({ bargeIn }) => bargeIn) ? prompts.reduce((ms, prompt) => ms + playMs(prompt), 0) : 0;
}

/** How long the RPC of a welcome stayed open while it was streamed, ms. */
function streamedMs({ turns }: CallRecord): number {
  const received = turns[0]?.rpc.received ?? [];
  return (received.at(-1)?.atMs ?? 0) - (received[0]?.atMs ?? 0);
}

/** Speaks into a welcome while it plays. */
async function speakInto(
  lab: CheckLab,
  agentId: string,
): Promise<{ readonly call: ProbeCall; readonly older: WireRpc; readonly newer: WireRpc }> {
  await lab.demandHeard();
  const call = lab.call({ agentId });
  const older = call.open(eventInput('SESSION_START')).halfClose();
  await older.until(() => older.ending !== undefined || older.received.length > 0, lab.suspect.timing.answerMs);
  const newer = call.open(MULAW_FORMAT);
  // The platform sends silence before a voice (G-50), by which an ear learns the line.
  const lead = Array<Input>(LEAD_FRAMES).fill(SILENCE);
  const line = [...lead, ...frameInputs(lab.speech), ...Array<Input>(AFTER_SPEECH_FRAMES * lab.suspect.timing.pace).fill(SILENCE)];
  await call.stream(newer, line, () => hasStart(newer) || newer.ending !== undefined);
  if (isBroken(newer)) lab.skip('the second RPC was refused');
  return { call, older, newer };
}

/** An agent that does what a check needs; the check does not apply without one. */
async function agentBy(lab: CheckLab, measure: (record: CallRecord) => number, wanted: string): Promise<string> {
  const best = [...(await lab.welcomes())].sort((one, other) => measure(other) - measure(one))[0];
  return best === undefined || measure(best) < MIN_CUTTABLE_MS ? lab.skip(`no agent on the list has ${wanted}`) : best.agentId;
}

export const OVERLAP_CHECKS: readonly Check[] = [
  {
    id: 'overlap-taken',
    rules: ['G-50'],
    title: 'A second RPC of a call is taken while the first is still open.',
    needs: ['call'],
    run: async (lab) => {
      const { call, older, newer } = await overlapping(lab);
      const refused = [older, newer].find(isBroken);
      if (refused?.ending !== undefined) lab.fail(`of two RPCs that overlap one ended with ${statusName(refused.ending.code)}`);
      newer.halfClose();
      await newer.settled(lab.suspect.timing.answerMs);
      await call.end();
    },
  },
  {
    id: 'answers-on-own-rpc',
    rules: ['G-57'],
    title: 'What answers one RPC is never written to another.',
    needs: ['call'],
    run: async (lab) => {
      const { call, older, newer } = await overlapping(lab);
      if (isBroken(newer) || isBroken(older)) lab.skip('two RPCs may not overlap');
      newer.halfClose();
      await newer.settled(lab.suspect.timing.answerMs);
      if (hasPrompt(newer)) lab.fail('the welcome came on the RPC that listens and not on the one of SESSION_START');
      await call.end();
    },
  },
  {
    id: 'barge-in-heard',
    rules: ['G-52'],
    title: 'A caller who speaks into a prompt that may be cut is announced on the newer RPC.',
    needs: ['call', 'speech'],
    run: async (lab) => {
      const agentId = await agentBy(lab, cuttableMs, 'a welcome of a second that may be cut');
      const { call, older, newer } = await speakInto(lab, agentId);
      const isHeardThere = hasStart(newer);
      if (!isHeardThere)
        lab.fail(hasStart(older) ? 'START_OF_INPUT came on the older RPC' : 'the caller was not heard while the prompt played');
      newer.halfClose();
      await Promise.all([older, newer].map((rpc) => rpc.settled(lab.suspect.timing.answerMs)));
      await call.end();
    },
  },
  {
    id: 'cut-reply-stops',
    rules: ['G-53'],
    title: 'A reply that is cut stops at once, and its RPC is completed with OK.',
    needs: ['call', 'speech'],
    run: async (lab) => {
      const agentId = await agentBy(
        lab,
        (record) => Math.min(streamedMs(record), cuttableMs(record)),
        'a welcome that is streamed while it plays',
      );
      const { call, older, newer } = await speakInto(lab, agentId);
      if (!hasStart(newer)) lab.skip('the caller was not heard while the prompt played');
      const cutAtMs = lab.suspect.clock.monotonicMs();
      newer.halfClose();
      await Promise.all([older, newer].map((rpc) => rpc.settled(lab.suspect.timing.answerMs)));
      if (older.ending !== undefined && !older.isCompleted) lab.fail(`the RPC that was cut ended with ${statusName(older.ending.code)}`);
      const late = older.received.filter(
        ({ answer, atMs }) => atMs - cutAtMs > STOP_MS && answer.prompts.some(({ audio }) => audio.length > 0),
      );
      if (late.length > 0) lab.fail(`${String(late.length)} pieces of the reply came more than ${String(STOP_MS)} ms after it was cut`);
      await call.end();
    },
  },
  {
    id: 'first-key-on-listening-rpc',
    rules: ['G-54'],
    title: 'A key that is pressed on a listening RPC ends that RPC without a prompt.',
    needs: ['call'],
    run: async (lab) => {
      const call = await lab.ready();
      const rpc = call.open(...QUIET);
      await call.wait(60);
      rpc.send(call.message(eventInput('START_OF_DTMF'))).halfClose();
      await rpc.settled(lab.suspect.timing.answerMs);
      if (hasPrompt(rpc)) lab.fail('START_OF_DTMF on a listening RPC was answered with a prompt');
      await call.end();
    },
  },
];
