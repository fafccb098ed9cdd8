// Checks of the answers to keys, silence and noise, of a caller who interrupts, and of the end of a call.
import { isTerminalEvent } from '../../../caller/answer.ts';
import type { Check } from '../../check.ts';
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
import { eachTurn, NOTHING } from '../../shape-check.ts';
import { HANG_UP_MS } from '../socket-acts.ts';
import type { SocketTurn } from '../socket-call.ts';
import type { SocketLab } from '../socket-probe.ts';
import { eachMessage, socketShape } from '../socket-shape.ts';

/** Farewells shorter than this do not show when a socket is closed, ms. */
const MIN_FAREWELL_MS = 600;
/** A reply shorter than this is over before a key is pressed, ms. */
const MIN_CUT_MS = 500;

/** Whether the server still accepted a turn after the call was over. */
function isBehindEnd(turn: SocketTurn, turns: readonly SocketTurn[]): boolean {
  const end = turns.findIndex(({ terminal }) => terminal !== undefined);
  return end !== -1 && turns.indexOf(turn) > end;
}

export const INPUT_CHECKS: readonly Check<SocketLab>[] = [
  socketShape({
    id: 'first-key-unanswered',
    rules: ['W-26'],
    title: 'START_OF_DTMF gets no reply.',
    otherwise: NO_KEYS,
    inspect: eachTurn(({ kind, hasPrompt, final }) => {
      if (kind !== 'dtmf_start') return NOTHING;
      return hasPrompt || final !== undefined ? 'START_OF_DTMF was replied to' : undefined;
    }),
  }),
  keysAnswered({ id: 'keys-answered', rules: ['W-26'], title: 'Keys get a reply.' }, 'got one'),
  oddKeysAnswered({
    id: 'other-keys-replied-to',
    rules: ['W-26'],
    title: 'Keys get a reply also when they are none that the bot knows.',
  }),
  silenceAnswered({
    id: 'report-of-silence-answered',
    rules: ['W-26'],
    title: 'NO_INPUT is answered by a prompt or by the end of the call.',
  }),
  keysOverReplyAnswered(
    { id: 'keys-over-prompt-answered', rules: ['W-26'], title: 'Keys that are pressed while a prompt plays that may be cut get a reply.' },
    MIN_CUT_MS,
    'did',
  ),
  noiseNotAnnounced({
    id: 'only-speech-reported',
    rules: ['G-36', 'W-23'],
    title: 'Silence and line noise are not reported as START_OF_INPUT.',
  }),
  bargeInAnnounced({
    id: 'interruption-heard',
    rules: ['W-27'],
    title: 'A caller who speaks into a prompt that may be cut is announced by START_OF_INPUT.',
  }),
  interruptedReplyStops(
    { id: 'interrupted-reply-stops', rules: ['W-27'], title: 'Behind START_OF_INPUT nothing more of the old reply is heard.' },
    'no reply was heard that may be cut and is sent while it plays',
    'START_OF_INPUT',
  ),
  socketShape({
    id: 'no-barge-in-message',
    rules: ['W-27'],
    title: 'There is no message BARGE_IN.',
    otherwise: 'the server said nothing',
    inspect: eachMessage(({ json }) => (json?.['type'] === 'BARGE_IN' ? 'it is a BARGE_IN' : undefined)),
  }),
  hangUpUnanswered({ id: 'hang-up-unanswered', rules: ['W-28'], title: 'SESSION_END from the platform gets no prompt.' }),
  socketShape({
    id: 'hang-up-closes',
    rules: ['W-28'],
    title: 'A server whose caller has hung up closes the socket when the platform does not.',
    level: 'advice',
    // The contract does not say who closes.
    otherwise: 'no call was still open to be hung up',
    inspect: ({ name, turns, call: { socket } }) => {
      if (name !== 'hang-up' || turns.at(-1)?.kind !== 'session_end') return NOTHING;
      return socket.closing?.isByServer === true ? undefined : `the socket was still open ${String(HANG_UP_MS)} ms behind SESSION_END`;
    },
  }),
  socketShape({
    id: 'normal-end-is-1000',
    rules: ['W-44'],
    title: 'A socket that the server closes behind SESSION_END or a terminal event is closed with 1000.',
    otherwise: 'the server closed no socket by itself',
    inspect: ({ turns, call: { socket } }) => {
      const isEnded = turns.some(({ kind, terminal }) => kind === 'session_end' || terminal !== undefined);
      if (!isEnded || socket.closing?.isByServer !== true) return NOTHING;
      // What is sent after the end is out of order, and the socket closes for that reason.
      if (turns.some((turn) => isBehindEnd(turn, turns))) return NOTHING;
      return socket.closing.code === 1000 ? undefined : `the socket was closed with ${String(socket.closing.code)}`;
    },
  }),
  socketShape({
    id: 'close-answered',
    rules: ['W-29'],
    title: 'The platform’s close is answered with 1000.',
    otherwise: 'every socket was closed by the server',
    inspect: ({ call: { socket }, turns }) => {
      if (turns.length === 0 || socket.closing?.isByServer === true) return NOTHING;
      if (socket.closing === undefined) return 'the close was not answered';
      return socket.closing.code === 1000 ? undefined : `the close was answered with ${String(socket.closing.code)}`;
    },
  }),
  socketShape({
    id: 'end-on-final-answer',
    rules: ['W-29'],
    title: 'The server ends a call by one terminal event, on a FINAL.',
    otherwise: NO_END,
    inspect: ({ turns, call: { socket } }) => {
      const terminal = turns.map((turn) => turn.terminal).find((found) => found !== undefined);
      if (terminal === undefined) return NOTHING;
      if (terminal.answer.type !== 'final') return 'the terminal event came on an answer that is no FINAL';
      const events = socket.received.filter((message) => isTerminalEvent(message.answer?.event));
      return events.length === 1 ? undefined : `${String(events.length)} terminal events came`;
    },
  }),
  farewellUncuttable({
    id: 'last-words-not-cut',
    rules: ['W-29'],
    title: 'The platform plays the farewell: no prompt before or beside a terminal event may be cut.',
  }),
  socketShape({
    id: 'last-words-heard-out',
    rules: ['W-29'],
    title: 'The server does not close the socket while the platform plays the farewell.',
    otherwise: 'no call ended behind a farewell: name keys upon which one does with --end-press',
    inspect: ({ turns, call: { socket } }) => {
      const ending = turns.find(({ terminal }) => terminal !== undefined);
      const from = ending?.answers[0]?.atMs;
      if (ending === undefined || from === undefined || turns.at(-1) !== ending) return NOTHING;
      const farewellMs = playLeftMs(ending.answers, from);
      if (farewellMs < MIN_FAREWELL_MS) return NOTHING;
      // Neither side knows exactly when the platform begins to play.
      if (socket.closing?.isByServer !== true || socket.closing.atMs - from >= farewellMs / 2) return undefined;
      return `the socket was closed ${String(Math.round(socket.closing.atMs - from))} ms after ${String(Math.round(farewellMs))} ms of farewell began`;
    },
  }),
  silentAfterEnd(
    { id: 'silent-behind-the-end', rules: ['W-29'], title: 'Behind a terminal event nothing is said any more.' },
    'no call was ended by the server while the caller was silent',
  ),
];
