// Checks of the answer to each kind of input: speech, keys, silence, the end of a call.
import type { Answer } from '../../caller/answer.ts';
import type { Runs } from '../catalog.ts';
import { isNotice } from '../heard.ts';
import { isPlaytimeUnknown, type RpcTurn } from '../rpc-call.ts';
import type { RpcLab, RpcRecord } from '../rpc-probe.ts';
import { eachOf, eachTurn, NOTHING, turnsOf } from '../shape-check.ts';
import { hangUpUnanswered, keysAnswered, NO_KEYS, oddKeysAnswered, silenceAnswered } from './shared-inputs.ts';

/** Whether the caller spoke in this turn although nobody here can know when the prompt before was over (G-37). */
function mayHaveSpokenTooEarly(turn: RpcTurn, { turns }: RpcRecord): boolean {
  const before = turns[turns.indexOf(turn) - 1];
  return before !== undefined && isPlaytimeUnknown(before);
}

const startsOf = ({ rpc }: RpcTurn) => rpc.answers.filter(({ event }) => event?.kind === 'start_of_input');
const NO_SPEECH = 'no call was spoken to at a moment when the bot was known to listen';
const NOT_HEARD = 'the server reported no start of speech';
const NO_GOING_ON = 'no FINAL was seen that goes on with a call';

/** Inspects every FINAL after which the call continues. */
function eachGoingOn(otherwise: string, inspect: (final: Answer) => string | undefined): (lab: RpcLab) => Promise<void> {
  return eachTurn(otherwise, (turn: RpcTurn, call: RpcRecord) => {
    const final = turn.rpc.final?.answer;
    const isOrdinary = turn.kind !== 'session_end' && turn.kind !== 'dtmf_start' && turnsOf(call.turns, turn.kind).includes(turn);
    // A terminal event in another response of the turn ends the call, too.
    return final === undefined || !isOrdinary || turn.terminal !== undefined ? NOTHING : inspect(final);
  });
}

export const INPUT_CHECKS: Runs<RpcLab> = {
  'speech-announced-once': eachOf('speech', NO_SPEECH, (turn, call) => {
    const { answers } = turn.rpc;
    const end = answers.findIndex(({ event }) => event?.kind === 'end_of_input');
    const starts = startsOf(turn).filter((answer) => end === -1 || answers.indexOf(answer) < end);
    if (startsOf(turn).length === 0) {
      if (mayHaveSpokenTooEarly(turn, call)) return NOTHING;
      const earlier = turnsOf(call.turns, 'speech').slice(0, turnsOf(call.turns, 'speech').indexOf(turn));
      const isOther = earlier.some((each) => startsOf(each).length > 0);
      const before = isOther ? ', and the same words were announced before in this call' : '';
      return answers.length === 0 ? `speech was not answered at all${before}` : `START_OF_INPUT did not come${before}`;
    }
    if (starts.length > 1) return `START_OF_INPUT came ${String(starts.length)} times for one utterance`;
    return startsOf(turn).every(isNotice) ? undefined : 'START_OF_INPUT came beside a prompt';
  }),
  'speech-start-is-final': eachOf('speech', NOT_HEARD, (turn) => {
    const starts = startsOf(turn);
    if (starts.length === 0) return NOTHING;
    return starts.every(({ type }) => type === 'final') ? undefined : 'START_OF_INPUT is no FINAL';
  }),
  'speech-end-then-reply': eachOf('speech', NOT_HEARD, (turn) => {
    if (startsOf(turn).length === 0) return NOTHING;
    const { answers } = turn.rpc;
    const start = answers.findIndex(({ event }) => event?.kind === 'start_of_input');
    const end = answers.findIndex(({ event }) => event?.kind === 'end_of_input');
    const reply = answers.findIndex((answer) => !isNotice(answer));
    if (end === -1) return 'END_OF_INPUT did not come';
    if (end < start) return 'END_OF_INPUT came before START_OF_INPUT';
    if (reply === -1) return `no reply came after the end of speech, and the RPC ${turn.howItEnded}`;
    return reply < end ? 'the reply began before END_OF_INPUT' : undefined;
  }),
  'first-key-without-answer': eachOf('dtmf_start', NO_KEYS, (turn) => {
    if (turn.rpc.answers.length > 0) return 'START_OF_DTMF was answered with a response';
    return turn.rpc.isCompleted ? undefined : `the RPC of START_OF_DTMF ${turn.howItEnded}`;
  }),
  'digits-answered': keysAnswered('were answered'),
  'other-keys-answered': oddKeysAnswered,
  'silence-asked-about': silenceAnswered,
  'hang-up-without-prompt': hangUpUnanswered,
  'custom-event-has-name': eachTurn('the server sent no CUSTOM_EVENT', ({ rpc }) => {
    const events = rpc.answers.flatMap(({ event }) => (event?.kind === 'custom_event' ? [event] : []));
    if (events.length === 0) return NOTHING;
    return events.every(({ name }) => name !== '') ? undefined : 'a CUSTOM_EVENT has no name';
  }),
  'settings-on-every-final': eachGoingOn(NO_GOING_ON, ({ config }) => (config === undefined ? 'a FINAL has no input settings' : undefined)),
  'mode-on-every-final': eachGoingOn(NO_GOING_ON, ({ mode }) => (mode === undefined ? 'a FINAL has no input mode' : undefined)),
  'times-not-negative': eachTurn('no input settings were seen', ({ rpc }) => {
    const configs = rpc.answers.flatMap(({ config }) => config ?? []);
    if (configs.length === 0) return NOTHING;
    const isNegative = configs.some(({ interDigitMs, digits, noInputMs }) => Math.min(interDigitMs, digits, noInputMs) < 0);
    return isNegative ? 'a time or length of the input settings is negative' : undefined;
  }),
};
