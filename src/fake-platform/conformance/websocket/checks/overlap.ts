// Checks of a caller who speaks into a prompt (contract, section 3.5).
import type { AnswerPrompt } from '../../../answer.ts';
import type { Check } from '../../check.ts';
import { agentBy, BUSY, cuttablePlayMs, interruptionMs, STOP_MS, watchingStalls } from '../../interrupting.ts';
import { LEAD_MS } from '../../probe-call.ts';
import { eventOf, silenceOf, type SocketCall } from '../socket-call.ts';
import type { SocketLab } from '../socket-lab.ts';
import type { SocketRecord } from '../socket-survey.ts';
import { eachMessage, socketShape } from '../socket-shape.ts';

/** How long it is watched what still comes of a reply that is cut, ms. */
const WATCHED_MS = 1500;
/** Longest silence behind speech while its announcement is waited for, ms of audio. */
const AFTER_SPEECH_MS = 60_000;

/** How long a welcome plays if all of it may be cut, ms; otherwise 0. */
function cuttableMs({ turns }: SocketRecord): number {
  return cuttablePlayMs(turns[0]?.answers.flatMap(({ answer }) => answer.prompts) ?? []);
}

/** For how long a welcome that may be cut was sent while it played, ms. */
function streamedMs(record: SocketRecord): number {
  const answers = record.turns[0]?.answers ?? [];
  return Math.min(cuttableMs(record), (answers.at(-1)?.atMs ?? 0) - (answers[0]?.atMs ?? 0));
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
