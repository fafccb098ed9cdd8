// Checks of a caller who speaks into a prompt (contract, section 3.5).
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { MULAW_BYTES_PER_MS } from '../../../../speech/audio-format.ts';
import type { AnswerPrompt } from '../../../answer.ts';
import type { Check } from '../../check.ts';
import { isHeard, playMs } from '../../heard.ts';
import { LEAD_MS } from '../../probe-call.ts';
import { eventOf, silenceOf, type SocketCall } from '../socket-call.ts';
import type { SocketLab } from '../socket-lab.ts';
import type { SocketRecord } from '../socket-survey.ts';
import { eachMessage, socketShape } from '../socket-shape.ts';

/** How much of a welcome must be left when somebody has spoken into it, ms. */
const SPARE_MS = 1000;
/** How long a reply that is cut may still come, ms: what was on its way; and how long it is watched. */
const [STOP_MS, WATCHED_MS] = [500, 1500];
/** Longest silence behind speech while its announcement is waited for, ms of audio. */
const AFTER_SPEECH_MS = 60_000;
/** When this process itself slept for longer, it says nothing of moments, ms. */
const MAX_STALL_MS = 200;
const BUSY = 'this machine was too busy to tell moments apart';

/** How long a welcome plays if all of it may be cut, ms; otherwise 0. */
function cuttableMs({ turns }: SocketRecord): number {
  const prompts = turns[0]?.answers.flatMap(({ answer }) => answer.prompts.filter(isHeard)) ?? [];
  return prompts.every(({ bargeIn }) => bargeIn) ? prompts.reduce((ms, prompt) => ms + playMs(prompt), 0) : 0;
}

/** For how long a welcome that may be cut was sent while it played, ms. */
function streamedMs(record: SocketRecord): number {
  const answers = record.turns[0]?.answers ?? [];
  return Math.min(cuttableMs(record), (answers.at(-1)?.atMs ?? 0) - (answers[0]?.atMs ?? 0));
}

/** How long it takes to speak into a welcome, with time to spare, ms of real time. */
function interruptionMs({ speech, suspect }: SocketLab): number {
  return (LEAD_MS + speech.length / MULAW_BYTES_PER_MS) / suspect.timing.pace + SPARE_MS;
}

/** The agent whose welcome is longest by a measure; the check does not apply when that is too short. */
async function agentBy(lab: SocketLab, measure: (record: SocketRecord) => number, leastMs: number, wanted: string): Promise<string> {
  const best = [...(await lab.welcomes())].sort((one, other) => measure(other) - measure(one))[0];
  return best === undefined || measure(best) < leastMs ? lab.skip(`no agent on the list has ${wanted}`) : best.agentId;
}

/** Demands that plain speech is heard by this bot; the check does not apply otherwise. */
async function demandHeard(lab: SocketLab): Promise<void> {
  const heard = (await lab.calls()).find(({ name }) => name === 'speech')?.turns.find(({ kind }) => kind === 'speech');
  if (heard?.answers.some(({ answer }) => answer.event?.kind === 'start_of_input') !== true)
    lab.skip('this bot reported no start of speech when it was spoken to');
}

/** When the server announced speech, by the clock, ms; undefined while it did not. */
function startedAtMs({ socket }: SocketCall): number | undefined {
  return socket.received.find(({ answer }) => answer?.event?.kind === 'start_of_input')?.atMs;
}

/** Whether sound behind START_OF_INPUT is what was cut. What may not be cut is none of it: last words, with which a bot may end the call. */
function isOfOldReply({ audio, bargeIn }: AnswerPrompt): boolean {
  return audio.length > 0 && bargeIn;
}

/** Speaks into the welcome of an agent until that is announced, or the welcome is over. */
async function speakInto(lab: SocketLab, agentId: string): Promise<SocketCall> {
  const { clock, timing } = lab.suspect;
  const limitMs = Math.max(...(await lab.welcomes()).filter((record) => record.agentId === agentId).map(cuttableMs));
  const call = lab.call({ agentId });
  await call.socket.upgraded();
  const welcome = call.open('session_start', eventOf('SESSION_START'));
  await call.socket.until(() => call.socket.isOver || welcome.answers.length > 0, timing.answerMs);
  const fromMs = welcome.answers[0]?.atMs ?? lab.skip('the welcome did not come');
  const isEnough = (): boolean => startedAtMs(call) !== undefined || clock.monotonicMs() > fromMs + limitMs;
  await call.stream(Buffer.concat([silenceOf(LEAD_MS), lab.speech, silenceOf(AFTER_SPEECH_MS)]), isEnough);
  return call;
}

/** Does this while watching how long this process sleeps in between. */
async function watchingStalls(work: (isBusy: () => boolean) => Promise<void>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  try {
    await work(() => delay.max / 1e6 > MAX_STALL_MS);
  } finally {
    delay.disable();
  }
}

export const OVERLAP_CHECKS: readonly Check<SocketLab>[] = [
  {
    id: 'interruption-heard',
    rules: ['W-27'],
    title: 'A caller who speaks into a prompt that may be cut is announced by START_OF_INPUT.',
    needs: ['call', 'speech'],
    run: (lab) =>
      watchingStalls(async (isBusy) => {
        await demandHeard(lab);
        const leastMs = interruptionMs(lab);
        const agentId = await agentBy(lab, cuttableMs, leastMs, `a welcome of ${String(Math.ceil(leastMs / 1000))} s that may be cut`);
        const call = await speakInto(lab, agentId);
        if (startedAtMs(call) === undefined) {
          if (isBusy()) lab.skip(BUSY);
          lab.fail('the caller was not heard while the prompt played');
        }
        await call.hangUp();
      }),
  },
  {
    id: 'interrupted-reply-stops',
    rules: ['W-27'],
    title: 'Behind START_OF_INPUT nothing more of the old reply is heard.',
    needs: ['call', 'speech'],
    run: (lab) =>
      watchingStalls(async (isBusy) => {
        await demandHeard(lab);
        const agentId = await agentBy(lab, streamedMs, interruptionMs(lab), 'a welcome that may be cut and is sent while it plays');
        const call = await speakInto(lab, agentId);
        const cutAtMs = startedAtMs(call) ?? lab.skip(isBusy() ? BUSY : 'the caller was not heard while the prompt played');
        const { received } = call.socket;
        const isHeardOut = (): boolean => received.some(({ answer }) => answer?.event?.kind === 'end_of_input');
        await call.socket.until(() => call.socket.isOver || isHeardOut(), WATCHED_MS);
        const end = received.findIndex(({ answer }) => answer?.event?.kind === 'end_of_input');
        const late = received
          .slice(0, end === -1 ? undefined : end)
          .filter(({ answer, atMs }) => atMs - cutAtMs > STOP_MS && answer?.prompts.some(isOfOldReply) === true);
        if (late.length > 0 && isBusy()) lab.skip(BUSY);
        if (late.length > 0)
          lab.fail(`${String(late.length)} pieces of the reply came more than ${String(STOP_MS)} ms after START_OF_INPUT`);
        await call.hangUp();
      }),
  },
  socketShape({
    id: 'no-barge-in-message',
    rules: ['W-27'],
    title: 'There is no message BARGE_IN.',
    otherwise: 'the server said nothing',
    look: eachMessage(({ json }) => (json?.['type'] === 'BARGE_IN' ? 'it is a BARGE_IN' : undefined)),
  }),
];
