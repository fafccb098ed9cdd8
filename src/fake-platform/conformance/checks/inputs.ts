// Checks of the answer to each kind of input: speech, keys, silence, the end of a call.
import type { Answer } from '../../caller/answer.ts';
import type { Check } from '../check.ts';
import { isNotice } from '../heard.ts';
import { isPlaytimeUnknown, type RpcTurn } from '../rpc-call.ts';
import { rpcShape, type RpcLab, type RpcRecord } from '../rpc-probe.ts';
import { eachOf, eachTurn, NOTHING, turnsOf, type Inspection } from '../shape-check.ts';
import { hangUpUnanswered, keysAnswered, NO_KEYS, oddKeysAnswered, silenceAnswered } from './shared-inputs.ts';

/** Whether somebody spoke before anybody here can know that the prompt before was over (G-37). */
function mayHaveSpokenTooEarly(turn: RpcTurn, { turns }: RpcRecord): boolean {
  const before = turns[turns.indexOf(turn) - 1];
  return before !== undefined && isPlaytimeUnknown(before);
}

const startsOf = ({ rpc }: RpcTurn) => rpc.answers.filter(({ event }) => event?.kind === 'start_of_input');
const NO_SPEECH = 'no call was spoken to at a moment when the bot was known to listen';
const NOT_HEARD = 'the server reported no start of speech';
const NO_GOING_ON = 'no FINAL was seen that goes on with a call';

/** Inspects every FINAL after which the call continues. */
function eachGoingOn(inspect: (final: Answer) => string | undefined): Inspection<RpcRecord> {
  return eachTurn((turn: RpcTurn, call: RpcRecord) => {
    const final = turn.rpc.final?.answer;
    const isOrdinary = turn.kind !== 'session_end' && turn.kind !== 'dtmf_start' && turnsOf(call.turns, turn.kind).includes(turn);
    // A call that a terminal event in another response of the turn ends does not continue.
    return final === undefined || !isOrdinary || turn.terminal !== undefined ? NOTHING : inspect(final);
  });
}

export const INPUT_CHECKS: readonly Check<RpcLab>[] = [
  rpcShape({
    id: 'speech-announced-once',
    rules: ['G-36'],
    title: 'Every utterance is announced by START_OF_INPUT, once and in a response of its own.',
    needs: ['speech'],
    otherwise: NO_SPEECH,
    inspect: eachOf('speech', (turn, call) => {
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
  }),
  rpcShape({
    id: 'speech-start-is-final',
    rules: ['G-39'],
    title: 'START_OF_INPUT is a FINAL: as a CHUNK it would stop the caller’s audio.',
    needs: ['speech'],
    otherwise: NOT_HEARD,
    inspect: eachOf('speech', (turn) => {
      const starts = startsOf(turn);
      if (starts.length === 0) return NOTHING;
      return starts.every(({ type }) => type === 'final') ? undefined : 'START_OF_INPUT is no FINAL';
    }),
  }),
  rpcShape({
    id: 'speech-end-then-reply',
    rules: ['G-38'],
    title: 'The end of speech is reported by END_OF_INPUT, then comes the reply.',
    needs: ['speech'],
    otherwise: NOT_HEARD,
    inspect: eachOf('speech', (turn) => {
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
  }),
  rpcShape({
    id: 'first-key-without-answer',
    rules: ['G-61'],
    title: 'START_OF_DTMF is answered by completion alone.',
    otherwise: NO_KEYS,
    inspect: eachOf('dtmf_start', (turn) => {
      if (turn.rpc.answers.length > 0) return 'START_OF_DTMF was answered with a response';
      return turn.rpc.isCompleted ? undefined : `the RPC of START_OF_DTMF ${turn.howItEnded}`;
    }),
  }),
  keysAnswered(
    { id: 'digits-answered', rules: ['G-63'], title: 'Digits are answered by a prompt or an event, with a FINAL and completion.' },
    'were answered',
  ),
  oddKeysAnswered({
    id: 'other-keys-answered',
    rules: ['G-63'],
    title: 'Keys are answered also when they are none that the bot knows.',
  }),
  silenceAnswered({
    id: 'silence-asked-about',
    rules: ['G-71'],
    title: 'NO_INPUT is answered by a prompt or by the end of the call.',
  }),
  hangUpUnanswered({
    id: 'hang-up-without-prompt',
    rules: ['G-75'],
    title: 'SESSION_END from the platform is answered without a prompt, and completed.',
  }),
  rpcShape({
    id: 'custom-event-has-name',
    rules: ['G-73'],
    title: 'A CUSTOM_EVENT for the flow has a name.',
    otherwise: 'the server sent no CUSTOM_EVENT',
    inspect: eachTurn(({ rpc }) => {
      const events = rpc.answers.flatMap(({ event }) => (event?.kind === 'custom_event' ? [event] : []));
      if (events.length === 0) return NOTHING;
      return events.every(({ name }) => name !== '') ? undefined : 'a CUSTOM_EVENT has no name';
    }),
  }),
  rpcShape({
    id: 'settings-on-every-final',
    rules: ['G-80'],
    title: 'Every FINAL that does not end the call carries input settings.',
    otherwise: NO_GOING_ON,
    inspect: eachGoingOn(({ config }) => (config === undefined ? 'a FINAL has no input settings' : undefined)),
  }),
  rpcShape({
    id: 'mode-on-every-final',
    rules: ['G-80', 'G-81'],
    title: 'Every FINAL that does not end the call carries an input mode; without one the caller may speak and press keys.',
    level: 'advice',
    otherwise: NO_GOING_ON,
    inspect: eachGoingOn(({ mode }) => (mode === undefined ? 'a FINAL has no input mode' : undefined)),
  }),
  rpcShape({
    id: 'times-not-negative',
    rules: ['G-82'],
    title: 'No time or length of the input settings is below 0; 0 is how silence is never reported.',
    otherwise: 'no input settings were seen',
    inspect: eachTurn(({ rpc }) => {
      const configs = rpc.answers.flatMap(({ config }) => config ?? []);
      if (configs.length === 0) return NOTHING;
      const isNegative = configs.some(({ interDigitMs, digits, noInputMs }) => Math.min(interDigitMs, digits, noInputMs) < 0);
      return isNegative ? 'a time or length of the input settings is negative' : undefined;
    }),
  }),
];
