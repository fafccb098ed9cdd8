// Checks of a caller who speaks into a prompt (contract, section 3.5). Each looks at the welcome and at other replies that may be cut.
import type { AnswerPrompt } from '../../../caller/answer.ts';
import type { Check } from '../../check.ts';
import { cuttableMs, repliesBy, streamedMs, withEach } from '../../cuttable-reply.ts';
import { BUSY, CAME_OTHERWISE, interruptionMs, STOP_MS, watchingStalls } from '../../interrupting.ts';
import type { SocketLab } from '../socket-lab.ts';
import { replayed, speakInto } from '../socket-replay.ts';
import { eachMessage, socketShape } from '../socket-shape.ts';

/** How long it is watched what still comes of a reply that is cut, ms. */
const WATCHED_MS = 1500;

/** A reply shorter than this is over before a key is pressed, ms. */
const MIN_CUT_MS = 500;

/** Whether sound behind START_OF_INPUT is what was cut. What may not be cut is none of it: last words, with which a bot may end the call. */
function isOfOldReply({ audio, bargeIn }: AnswerPrompt): boolean {
  return audio.length > 0 && bargeIn;
}

export const OVERLAP_CHECKS: readonly Check<SocketLab>[] = [
  {
    id: 'interruption-heard',
    rules: ['W-27'],
    title: 'A caller who speaks into a prompt that may be cut is announced by START_OF_INPUT.',
    needs: ['call', 'speech'],
    run: async (lab) => {
      await lab.demandHeard();
      const leastMs = interruptionMs(lab);
      const tooShort = `no reply was heard that may be cut and plays for ${String(Math.ceil(leastMs / 1000))} s`;
      await withEach(lab, await repliesBy(lab, cuttableMs, leastMs), tooShort, (reply) =>
        watchingStalls(async (isBusy) => {
          const { call, turn, startedAtMs } = await speakInto(lab, reply);
          if (startedAtMs === undefined) {
            if (isBusy()) lab.skip(BUSY);
            await call.answered(turn);
            if (cuttableMs(turn) === 0) lab.skip(`${reply.name} ${CAME_OTHERWISE}`);
            lab.fail(`no START_OF_INPUT came while ${reply.name} played, and in a silent line the same words got one`);
          }
          await call.hangUp();
        }),
      );
    },
  },
  {
    id: 'interrupted-reply-stops',
    rules: ['W-27'],
    title: 'Behind START_OF_INPUT nothing more of the old reply is heard.',
    needs: ['call', 'speech'],
    run: async (lab) => {
      await lab.demandHeard();
      const replies = await repliesBy(lab, streamedMs, interruptionMs(lab));
      await withEach(lab, replies, 'no reply was heard that may be cut and is sent while it plays', (reply) =>
        watchingStalls(async (isBusy) => {
          const { call, startedAtMs, from } = await speakInto(lab, reply);
          const cutAtMs = startedAtMs ?? lab.skip(isBusy() ? BUSY : `no START_OF_INPUT came while ${reply.name} played`);
          const later = () => call.socket.received.slice(from);
          const isHeardOut = (): boolean => later().some(({ answer }) => answer?.event?.kind === 'end_of_input');
          await call.socket.until(() => call.socket.isOver || isHeardOut(), WATCHED_MS);
          const end = later().findIndex(({ answer }) => answer?.event?.kind === 'end_of_input');
          const late = later()
            .slice(0, end === -1 ? undefined : end)
            .filter(({ answer, atMs }) => atMs - cutAtMs > STOP_MS && answer?.prompts.some(isOfOldReply) === true);
          if (late.length > 0 && isBusy()) lab.skip(BUSY);
          if (late.length > 0)
            lab.fail(`${String(late.length)} pieces of ${reply.name} came more than ${String(STOP_MS)} ms after START_OF_INPUT`);
          await call.hangUp();
        }),
      );
    },
  },
  {
    id: 'keys-over-prompt-answered',
    rules: ['W-26'],
    title: 'Keys that are pressed while a prompt plays that may be cut get a reply.',
    needs: ['call'],
    run: async (lab) => {
      await lab.demandKeysWork();
      await withEach(lab, await repliesBy(lab, cuttableMs, MIN_CUT_MS), 'no reply was heard that may be cut', async (reply) => {
        const [call] = await replayed(lab, reply);
        if (!call.isAskedFor('keys')) lab.skip('the bot asks for no keys');
        await call.firstKey();
        if (!(await call.press(lab.suspect.press)).isAnswered) {
          lab.note(`the same keys behind ${reply.name}`);
          const [control, again] = await replayed(lab, reply);
          await control.answered(again);
          await control.heardOut(again);
          if (!(await control.press(lab.suspect.press)).isAnswered) lab.skip(`these keys get no reply behind ${reply.name} either`);
          lab.fail(`keys that were pressed over ${reply.name} got no reply; behind it they did`);
        }
        await call.hangUp();
      });
    },
  },
  socketShape({
    id: 'no-barge-in-message',
    rules: ['W-27'],
    title: 'There is no message BARGE_IN.',
    otherwise: 'the server said nothing',
    look: eachMessage(({ json }) => (json?.['type'] === 'BARGE_IN' ? 'it is a BARGE_IN' : undefined)),
  }),
];
