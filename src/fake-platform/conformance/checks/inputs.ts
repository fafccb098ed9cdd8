// Checks of what each kind of input is answered with: speech, keys, silence, the end of a call (contract, sections 2.4 to 2.9).
import type { Answer, ServerEventKind } from '../../caller/answer.ts';
import type { Key } from '../../caller/key.ts';
import type { Check } from '../check.ts';
import { isHeard, isNotice } from '../heard.ts';
import { endingText, hasPrompt, isBroken, isPlaytimeUnknown, terminalOf, type TurnRecord } from '../rpc-call.ts';
import { NOTHING, shapeCheck, type Look } from '../shape-check.ts';
import type { CallRecord } from '../rpc-survey.ts';
import type { WireRpc } from '../wire.ts';
import { eachTurn } from './replies.ts';

/** The turns of a kind before the end of the call. */
function turnsOf({ turns }: CallRecord, kind: TurnRecord['kind']): readonly TurnRecord[] {
  const end = turns.findIndex(({ rpc }) => terminalOf(rpc) !== undefined);
  return (end === -1 ? turns : turns.slice(0, end + 1)).filter((turn) => turn.kind === kind);
}

/** Looks at every turn of a kind before the end of the call. */
function eachOf(kind: TurnRecord['kind'], look: (turn: TurnRecord, call: CallRecord) => string | typeof NOTHING | undefined) {
  return eachTurn((turn, call) => (turnsOf(call, kind).includes(turn) ? look(turn, call) : NOTHING));
}

/** How an RPC ended, for sentences. */
function howItEnded({ rpc }: TurnRecord): string {
  return endingText(rpc.ending);
}

/** Whether somebody spoke before anybody here can tell that the prompt before was over (G-37). */
function mayHaveSpokenTooEarly(turn: TurnRecord, { turns }: CallRecord): boolean {
  const before = turns[turns.indexOf(turn) - 1];
  return before !== undefined && isPlaytimeUnknown(before);
}

const startsOf = ({ rpc }: TurnRecord) => rpc.answers.filter(({ event }) => event?.kind === 'start_of_input');
const NO_SPEECH = 'no call was spoken to at a moment when the bot was known to listen';
const NO_KEYS = 'no call came as far as keys that the bot asks for';
const NOT_HEARD = 'the server reported no start of speech';

/** Events that tell of the caller's voice, and answer nothing. */
const NOTICES: readonly ServerEventKind[] = ['start_of_input', 'end_of_input'];
/** Keys that trip a server which counts where it should look up, or knows the keys of its menu alone. */
const ODD_KEYS: readonly Key[] = ['0', '5', '*'];

const NO_GOING_ON = 'no FINAL was seen that goes on with a call';

/** Looks at every FINAL that goes on with a call. */
function eachGoingOn(look: (final: Answer) => string | undefined): Look {
  return eachTurn((turn, call) => {
    const final = turn.rpc.final?.answer;
    const isOrdinary = turn.kind !== 'session_end' && turn.kind !== 'dtmf_start' && turnsOf(call, turn.kind).includes(turn);
    // A call that ends by a terminal event in another response of the turn goes on with nothing.
    return final === undefined || !isOrdinary || terminalOf(turn.rpc) !== undefined ? NOTHING : look(final);
  });
}

/** Why keys count as unanswered: a sentence; undefined when they were answered. */
export function whyKeysUnanswered(rpc: WireRpc): string | undefined {
  if (rpc.final === undefined && !rpc.answers.some((answer) => answer.prompts.some(isHeard)))
    return `no FINAL came, and the RPC ${endingText(rpc.ending)}`;
  const isAnswered = hasPrompt(rpc) || rpc.answers.some((answer) => answer.event !== undefined && !NOTICES.includes(answer.event.kind));
  return isAnswered ? undefined : 'the answer has neither a prompt nor an event but those of speech';
}

export const INPUT_CHECKS: readonly Check[] = [
  shapeCheck({
    id: 'speech-announced-once',
    rules: ['G-36'],
    title: 'Every utterance is announced by START_OF_INPUT, once and in a response of its own.',
    needs: ['speech'],
    otherwise: NO_SPEECH,
    look: eachOf('speech', (turn, call) => {
      const { answers } = turn.rpc;
      const end = answers.findIndex(({ event }) => event?.kind === 'end_of_input');
      const starts = startsOf(turn).filter((answer) => end === -1 || answers.indexOf(answer) < end);
      if (startsOf(turn).length === 0) {
        if (mayHaveSpokenTooEarly(turn, call)) return NOTHING;
        const earlier = turnsOf(call, 'speech').slice(0, turnsOf(call, 'speech').indexOf(turn));
        const isOther = earlier.some((each) => startsOf(each).length > 0);
        const before = isOther ? ', and the same words were announced before in this call' : '';
        return answers.length === 0 ? `speech was not answered at all${before}` : `START_OF_INPUT did not come${before}`;
      }
      if (starts.length > 1) return `START_OF_INPUT came ${String(starts.length)} times for one utterance`;
      return startsOf(turn).every(isNotice) ? undefined : 'START_OF_INPUT came beside a prompt';
    }),
  }),
  shapeCheck({
    id: 'speech-start-is-final',
    rules: ['G-39'],
    title: 'START_OF_INPUT is a FINAL: as a CHUNK it would stop the caller’s audio.',
    needs: ['speech'],
    otherwise: NOT_HEARD,
    look: eachOf('speech', (turn) => {
      const starts = startsOf(turn);
      if (starts.length === 0) return NOTHING;
      return starts.every(({ type }) => type === 'final') ? undefined : 'START_OF_INPUT is no FINAL';
    }),
  }),
  shapeCheck({
    id: 'speech-end-then-reply',
    rules: ['G-38'],
    title: 'The end of speech is reported by END_OF_INPUT, then comes the reply.',
    needs: ['speech'],
    otherwise: NOT_HEARD,
    look: eachOf('speech', (turn) => {
      if (startsOf(turn).length === 0) return NOTHING;
      const { answers } = turn.rpc;
      const start = answers.findIndex(({ event }) => event?.kind === 'start_of_input');
      const end = answers.findIndex(({ event }) => event?.kind === 'end_of_input');
      const reply = answers.findIndex((answer) => !isNotice(answer));
      if (end === -1) return 'END_OF_INPUT did not come';
      if (end < start) return 'END_OF_INPUT came before START_OF_INPUT';
      if (reply === -1) return `no reply came after the end of speech, and the RPC ${howItEnded(turn)}`;
      return reply < end ? 'the reply began before END_OF_INPUT' : undefined;
    }),
  }),
  shapeCheck({
    id: 'first-key-without-answer',
    rules: ['G-61'],
    title: 'START_OF_DTMF is answered by completion alone.',
    otherwise: NO_KEYS,
    look: eachOf('dtmf_start', (turn) => {
      if (turn.rpc.answers.length > 0) return 'START_OF_DTMF was answered with a response';
      return turn.rpc.isCompleted ? undefined : `the RPC of START_OF_DTMF ${howItEnded(turn)}`;
    }),
  }),
  shapeCheck({
    id: 'digits-answered',
    rules: ['G-63'],
    title: 'Digits are answered by a prompt or an event, with a FINAL and completion.',
    otherwise: NO_KEYS,
    look: eachOf('dtmf', (turn, call) => {
      const why = whyKeysUnanswered(turn.rpc);
      const before = turnsOf(call, 'dtmf').slice(0, turnsOf(call, 'dtmf').indexOf(turn));
      const isOther = why !== undefined && before.some(({ rpc }) => whyKeysUnanswered(rpc) === undefined);
      return isOther ? `${why}, and the same keys were answered before in this call` : why;
    }),
  }),
  {
    id: 'other-keys-answered',
    rules: ['G-63'],
    title: 'Keys are answered also when they are none that the bot knows.',
    needs: ['call'],
    run: async (lab) => {
      await lab.demandKeysWork();
      for (const key of ODD_KEYS) {
        const call = await lab.ready();
        if (!call.isAskedFor('keys')) lab.skip('the bot asks for no keys');
        // Alone, the key that ends a collection leaves it without digits (G-65).
        if (call.turns[0]?.rpc.final?.answer.config?.terminator !== key) {
          const { rpc } = await call.press([key]);
          // A key that is refused is another breach (G-66).
          const why = isBroken(rpc) ? undefined : whyKeysUnanswered(rpc);
          if (why !== undefined) lab.fail(`key ${key}: ${why}`);
          if (terminalOf(rpc) !== undefined) continue;
        }
        await call.hangUp();
      }
    },
  },
  shapeCheck({
    id: 'silence-asked-about',
    rules: ['G-71'],
    title: 'NO_INPUT is answered by a prompt or by the end of the call.',
    otherwise: 'no call came as far as silence that the bot wants to hear of',
    look: eachOf('no_input', (turn) => {
      if (hasPrompt(turn.rpc) || terminalOf(turn.rpc) !== undefined) return undefined;
      return `NO_INPUT got neither a prompt nor a terminal event, and the RPC ${howItEnded(turn)}`;
    }),
  }),
  shapeCheck({
    id: 'custom-event-has-name',
    rules: ['G-73'],
    title: 'A CUSTOM_EVENT for the flow has a name.',
    otherwise: 'the server sent no CUSTOM_EVENT',
    look: eachTurn(({ rpc }) => {
      const events = rpc.answers.flatMap(({ event }) => (event?.kind === 'custom_event' ? [event] : []));
      if (events.length === 0) return NOTHING;
      return events.every(({ name }) => name !== '') ? undefined : 'a CUSTOM_EVENT has no name';
    }),
  }),
  shapeCheck({
    id: 'hang-up-without-prompt',
    rules: ['G-75'],
    title: 'SESSION_END from the platform is answered without a prompt, and completed.',
    otherwise: 'no call was still open to be hung up',
    look: eachOf('session_end', (turn) => {
      if (hasPrompt(turn.rpc)) return 'SESSION_END was answered with a prompt';
      // A FINAL behind which the RPC stays open is another breach (G-13).
      return turn.rpc.isCompleted || turn.rpc.final !== undefined ? undefined : `the RPC of SESSION_END ${howItEnded(turn)}`;
    }),
  }),
  shapeCheck({
    id: 'settings-on-every-final',
    rules: ['G-80'],
    title: 'Every FINAL that does not end the call carries input settings.',
    otherwise: NO_GOING_ON,
    look: eachGoingOn(({ config }) => (config === undefined ? 'a FINAL has no input settings' : undefined)),
  }),
  shapeCheck({
    id: 'mode-on-every-final',
    rules: ['G-80', 'G-81'],
    title: 'Every FINAL that does not end the call carries an input mode; without one the caller may speak and press keys.',
    level: 'advice',
    otherwise: NO_GOING_ON,
    look: eachGoingOn(({ mode }) => (mode === undefined ? 'a FINAL has no input mode' : undefined)),
  }),
  shapeCheck({
    id: 'times-not-negative',
    rules: ['G-82'],
    title: 'No time or length of the input settings is below 0; 0 is how silence is never reported.',
    otherwise: 'no input settings were seen',
    look: eachTurn(({ rpc }) => {
      const configs = rpc.answers.flatMap(({ config }) => config ?? []);
      if (configs.length === 0) return NOTHING;
      const isNegative = configs.some(({ interDigitMs, digits, noInputMs }) => Math.min(interDigitMs, digits, noInputMs) < 0);
      return isNegative ? 'a time or length of the input settings is negative' : undefined;
    }),
  }),
];
