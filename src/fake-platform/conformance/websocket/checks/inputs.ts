// Checks of the answers to keys, silence and noise, of a caller who interrupts, and of the end of a call.
import { isTerminalEvent } from '../../../caller/answer.ts';
import type { Runs } from '../../catalog.ts';
import {
  farewellUncuttable,
  hangUpUnanswered,
  keysAnswered,
  NO_END,
  NO_KEYS,
  noiseNotAnnounced,
  oddKeysAnswered,
  silenceAnswered,
  silentAfterEnd,
} from '../../checks/shared-inputs.ts';
import { bargeInAnnounced, interruptedReplyStops, keysOverReplyAnswered } from '../../checks/shared-overlap.ts';
import { playLeftMs } from '../../heard.ts';
import { eachTurn, NOTHING, eachCall } from '../../shape-check.ts';
import type { SocketTurn } from '../socket-call.ts';
import { type SocketLab, HANG_UP_MS } from '../socket-probe.ts';
import { eachMessage } from '../misdeeds.ts';

/** Farewells shorter than this do not show whether the socket was closed too early, ms. */
const MIN_FAREWELL_MS = 600;
/** A reply shorter than this is over before a key is pressed, ms. */
const MIN_CUT_MS = 500;

/** Whether the server still accepted a turn after the call was over. */
function isBehindEnd(turn: SocketTurn, turns: readonly SocketTurn[]): boolean {
  const end = turns.findIndex(({ terminal }) => terminal !== undefined);
  return end !== -1 && turns.indexOf(turn) > end;
}

export const INPUT_CHECKS: Runs<SocketLab> = {
  'first-key-unanswered': eachTurn(NO_KEYS, ({ kind, hasPrompt, final }) => {
    if (kind !== 'dtmf_start') return NOTHING;
    return hasPrompt || final !== undefined ? 'START_OF_DTMF was replied to' : undefined;
  }),
  'keys-answered': keysAnswered('got one'),
  'other-keys-replied-to': oddKeysAnswered,
  'report-of-silence-answered': silenceAnswered,
  'keys-over-prompt-answered': keysOverReplyAnswered(MIN_CUT_MS, 'did'),
  'only-speech-reported': noiseNotAnnounced,
  'interruption-heard': bargeInAnnounced,
  'interrupted-reply-stops': interruptedReplyStops('no reply was heard that may be cut and is sent while it plays', 'START_OF_INPUT'),
  'no-barge-in-message': eachMessage('the server said nothing', ({ json }) =>
    json?.['type'] === 'BARGE_IN' ? 'it is a BARGE_IN' : undefined,
  ),
  'hang-up-unanswered': hangUpUnanswered,
  // The contract does not say who closes the socket.
  'hang-up-closes': eachCall('no call was still open to be hung up', ({ name, turns, call: { socket } }) => {
    if (name !== 'hang-up' || turns.at(-1)?.kind !== 'session_end') return NOTHING;
    return socket.closing?.isByServer === true ? undefined : `the socket was still open ${String(HANG_UP_MS)} ms behind SESSION_END`;
  }),
  'normal-end-is-1000': eachCall('the server closed no socket by itself', ({ turns, call: { socket } }) => {
    const isEnded = turns.some(({ kind, terminal }) => kind === 'session_end' || terminal !== undefined);
    if (!isEnded || socket.closing?.isByServer !== true) return NOTHING;
    // A turn after the end is out of order, and the server may have closed the socket for that reason.
    if (turns.some((turn) => isBehindEnd(turn, turns))) return NOTHING;
    return socket.closing.code === 1000 ? undefined : `the socket was closed with ${String(socket.closing.code)}`;
  }),
  'close-answered': eachCall('every socket was closed by the server', ({ call: { socket }, turns }) => {
    if (turns.length === 0 || socket.closing?.isByServer === true) return NOTHING;
    if (socket.closing === undefined) return 'the close was not answered';
    return socket.closing.code === 1000 ? undefined : `the close was answered with ${String(socket.closing.code)}`;
  }),
  'end-on-final-answer': eachCall(NO_END, ({ turns, call: { socket } }) => {
    const terminal = turns.map((turn) => turn.terminal).find((found) => found !== undefined);
    if (terminal === undefined) return NOTHING;
    if (terminal.answer.type !== 'final') return 'the terminal event came on an answer that is no FINAL';
    const events = socket.received.filter((message) => isTerminalEvent(message.answer?.event));
    return events.length === 1 ? undefined : `${String(events.length)} terminal events came`;
  }),
  'last-words-not-cut': farewellUncuttable,
  'last-words-heard-out': eachCall(
    'no call ended behind a farewell: name keys upon which one does with --end-press',
    ({ turns, call: { socket } }) => {
      const ending = turns.find(({ terminal }) => terminal !== undefined);
      const from = ending?.answers[0]?.atMs;
      if (ending === undefined || from === undefined || turns.at(-1) !== ending) return NOTHING;
      const farewellMs = playLeftMs(ending.answers, from);
      if (farewellMs < MIN_FAREWELL_MS) return NOTHING;
      // Half is enough: neither side knows exactly when the platform begins to play.
      if (socket.closing?.isByServer !== true || socket.closing.atMs - from >= farewellMs / 2) return undefined;
      return `the socket was closed ${String(Math.round(socket.closing.atMs - from))} ms after ${String(Math.round(farewellMs))} ms of farewell began`;
    },
  ),
  'silent-behind-the-end': silentAfterEnd('no call was ended by the server while the caller was silent'),
};
