// Checks of what keys and silence are answered with, and of how a call ends (contract, sections 3.5 and 3.7).
import { isTerminalEvent } from '../../../caller/answer.ts';
import type { Key } from '../../../caller/key.ts';
import type { TimedAnswer } from '../../call.ts';
import type { Check } from '../../check.ts';
import { isHeard, playLeftMs } from '../../heard.ts';
import { NOTHING, type Look } from '../../shape-check.ts';
import type { SocketTurn } from '../socket-call.ts';
import { stateText, type SocketLab } from '../socket-lab.ts';
import { HANG_UP_MS, type SocketRecord } from '../socket-survey.ts';
import { eachTurn, socketShape } from '../socket-shape.ts';

/** Last words shorter than this tell nothing of when a socket is closed, ms. */
const MIN_FAREWELL_MS = 600;
/** Keys that are in few menus. */
const ODD_KEYS: readonly Key[] = ['0', '5', '*'];
const NO_KEYS = 'no call came as far as keys that the bot asks for';
const NO_END = 'the server ended no call: name keys upon which it does with --end-press';

/** The answer that ended a call, if any. */
function terminalOf({ turns }: SocketRecord): TimedAnswer | undefined {
  return turns.map(({ terminal }) => terminal).find((terminal) => terminal !== undefined);
}

/** Looks at the answer that ended a call. */
function eachTerminal(look: (terminal: TimedAnswer, call: SocketRecord) => string | typeof NOTHING | undefined): Look<SocketRecord> {
  return (call) => {
    const terminal = terminalOf(call);
    return terminal === undefined ? NOTHING : look(terminal, call);
  };
}

/** Whether a turn was taken when the call was over. */
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
    look: eachTurn(({ kind, hasPrompt, final }) => {
      if (kind !== 'dtmf_start') return NOTHING;
      return hasPrompt || final !== undefined ? 'START_OF_DTMF was replied to' : undefined;
    }),
  }),
  socketShape({
    id: 'keys-answered',
    rules: ['W-26'],
    title: 'Keys get a reply.',
    otherwise: NO_KEYS,
    look: eachTurn((turn, { turns }) => {
      if (turn.kind !== 'dtmf') return NOTHING;
      if (turn.isAnswered) return undefined;
      const isOther = turns.slice(0, turns.indexOf(turn)).some(({ kind, isAnswered }) => kind === 'dtmf' && isAnswered);
      return `keys got no reply${isOther ? ', and the same keys got one before in this call' : ''}`;
    }),
  }),
  {
    id: 'other-keys-replied-to',
    rules: ['W-26'],
    title: 'Keys get a reply also when they are none that the bot knows.',
    needs: ['call'],
    run: async (lab) => {
      await lab.demandKeysWork();
      for (const key of ODD_KEYS) {
        const call = await lab.ready();
        if (!call.isAskedFor('keys')) lab.skip('the bot asks for no keys');
        // Alone, the key that ends a collection leaves it without digits.
        const isEnd = call.turns[0]?.final?.answer.config?.terminator === key;
        if (!isEnd && !(await call.press([key])).isAnswered) lab.fail(`key ${key} got no reply, and the socket ${stateText(call.socket)}`);
        await call.hangUp();
      }
    },
  },
  socketShape({
    id: 'report-of-silence-answered',
    rules: ['W-26'],
    title: 'NO_INPUT is answered by a prompt or by the end of the call.',
    otherwise: 'no call came as far as silence that the bot wants to hear of',
    look: eachTurn((turn, { turns }) => {
      if (turn.kind !== 'no_input' || isBehindEnd(turn, turns)) return NOTHING;
      const { hasPrompt, terminal } = turn;
      return hasPrompt || terminal !== undefined ? undefined : 'NO_INPUT got neither a prompt nor a terminal event';
    }),
  }),
  socketShape({
    id: 'hang-up-unanswered',
    rules: ['W-28'],
    title: 'SESSION_END from the platform gets no prompt.',
    otherwise: 'no call was still open to be hung up',
    look: eachTurn(({ kind, hasPrompt }) => {
      if (kind !== 'session_end') return NOTHING;
      return hasPrompt ? 'SESSION_END was answered with a prompt' : undefined;
    }),
  }),
  socketShape({
    id: 'hang-up-closes',
    rules: ['W-28'],
    title: 'A server whose caller has hung up closes the socket when the platform does not.',
    level: 'advice',
    // Who closes is not said.
    otherwise: 'no call was still open to be hung up',
    look: ({ name, turns, socket }) => {
      if (name !== 'hang-up' || turns.at(-1)?.kind !== 'session_end') return NOTHING;
      return socket.closing?.isByServer === true ? undefined : `the socket was still open ${String(HANG_UP_MS)} ms behind SESSION_END`;
    },
  }),
  socketShape({
    id: 'normal-end-is-1000',
    rules: ['W-44'],
    title: 'A socket that the server closes behind SESSION_END or a terminal event is closed with 1000.',
    otherwise: 'the server closed no socket by itself',
    look: ({ turns, socket }) => {
      const isEnded = turns.some(({ kind, terminal }) => kind === 'session_end' || terminal !== undefined);
      if (!isEnded || socket.closing?.isByServer !== true) return NOTHING;
      // What is sent behind the end is out of order, and closed as such.
      if (turns.some((turn) => isBehindEnd(turn, turns))) return NOTHING;
      return socket.closing.code === 1000 ? undefined : `the socket was closed with ${String(socket.closing.code)}`;
    },
  }),
  socketShape({
    id: 'close-answered',
    rules: ['W-29'],
    title: 'The platform’s close is answered with 1000.',
    otherwise: 'every socket was closed by the server',
    look: ({ socket, turns }) => {
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
    look: eachTerminal(({ answer }, { socket }) => {
      if (answer.type !== 'final') return 'the terminal event came on an answer that is no FINAL';
      const events = socket.received.filter((message) => isTerminalEvent(message.answer?.event));
      return events.length === 1 ? undefined : `${String(events.length)} terminal events came`;
    }),
  }),
  socketShape({
    id: 'last-words-not-cut',
    rules: ['W-29'],
    title: 'The platform plays the last words: no prompt before or beside a terminal event may be cut.',
    level: 'advice',
    otherwise: NO_END,
    look: eachTurn(({ terminal, answers }) => {
      if (terminal === undefined) return NOTHING;
      return answers.some(({ answer }) => answer.prompts.some((prompt) => isHeard(prompt) && prompt.bargeIn))
        ? 'the last words have barge-in enabled'
        : terminal.answer.prompts.some(({ bargeIn }) => bargeIn)
          ? 'a prompt beside a terminal event has barge-in enabled'
          : undefined;
    }),
  }),
  socketShape({
    id: 'last-words-heard-out',
    rules: ['W-29'],
    title: 'The server does not close the socket while the platform plays the last words.',
    otherwise: 'no call ended behind last words: name keys upon which one does with --end-press',
    look: ({ turns, socket }) => {
      const ending = turns.find(({ terminal }) => terminal !== undefined);
      const from = ending?.answers[0]?.atMs;
      if (ending === undefined || from === undefined || turns.at(-1) !== ending) return NOTHING;
      const farewellMs = playLeftMs(ending.answers, from);
      if (farewellMs < MIN_FAREWELL_MS) return NOTHING;
      // Neither side knows to the moment when the platform begins to play.
      if (socket.closing?.isByServer !== true || socket.closing.atMs - from >= farewellMs / 2) return undefined;
      return `the socket was closed ${String(Math.round(socket.closing.atMs - from))} ms after ${String(Math.round(farewellMs))} ms of last words began`;
    },
  }),
  socketShape({
    id: 'silent-behind-the-end',
    rules: ['W-29'],
    title: 'Behind a terminal event nothing is said any more.',
    otherwise: 'no call was ended by the server while the caller was silent',
    look: ({ turns }) => {
      const end = turns.findIndex(({ terminal }) => terminal !== undefined);
      const later = end === -1 ? [] : turns.slice(end + 1);
      if (later.length === 0) return NOTHING;
      return later.some(({ hasPrompt }) => hasPrompt) ? 'a prompt came behind the terminal event' : undefined;
    },
  }),
];
