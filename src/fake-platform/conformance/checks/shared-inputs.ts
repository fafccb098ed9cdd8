// Functions of checks that exist for both transports: the answers to keys, silence, noise and a hang-up, and how the server ends
// a call. Know no wire.
import type { Key } from '../../caller/key.ts';
import { isHeard } from '../heard.ts';
import type { Lab } from '../lab.ts';
import { QUIET_LINES } from '../quiet-line.ts';
import { eachCall, eachOf, eachTurn, NOTHING, turnsOf } from '../shape-check.ts';

/** Keys on which some servers fail: those that calculate with digits instead of looking them up, or know only the keys of a menu. */
const ODD_KEYS: readonly Key[] = ['0', '5', '*'];
/** How long to wait for a wrong report of speech after the noise, ms. */
const LATE_ANSWER_MS = 500;
export const NO_KEYS = 'no call came as far as keys that the bot asks for';
export const NO_END = 'the server ended no call: name keys upon which it does with --end-press';

type Run = (lab: Lab) => Promise<void>;

/** Keys get an answer. @param answered - what the server did with the same keys before, as part of a sentence. */
export function keysAnswered(answered: string): Run {
  return eachOf('dtmf', NO_KEYS, (turn, { turns }) => {
    const why = turn.keysProblem('');
    const pressed = turnsOf(turns, 'dtmf');
    const isOther = pressed.slice(0, pressed.indexOf(turn)).some((each) => each.keysProblem('') === undefined);
    return why !== undefined && isOther ? `${why}, and the same keys ${answered} before in this call` : why;
  });
}

/** Keys get an answer even when the bot knows none of them. */
export async function oddKeysAnswered(lab: Lab): Promise<void> {
  await lab.demandKeysWork();
  for (const key of ODD_KEYS) {
    const call = await lab.readyFor('keys');
    // A key that ends a collection leaves no digits when it is pressed alone (G-65).
    if (call.turns[0]?.final?.answer.config?.terminator !== key) {
      const turn = await call.press([key]);
      // A key that is refused breaks another rule (G-66).
      const why = turn.isBroken ? undefined : turn.keysProblem(`key ${key}`);
      if (why !== undefined) lab.fail(why);
      if (turn.terminal !== undefined) continue;
    }
    await call.hangUp();
  }
}

/** A report of silence gets a prompt or ends the call. */
export const silenceAnswered: Run = eachOf(
  'no_input',
  'no call came as far as silence that the bot wants to hear of',
  ({ hasPrompt, terminal, howItEnded }) => {
    if (hasPrompt || terminal !== undefined) return undefined;
    return `NO_INPUT got neither a prompt nor a terminal event${howItEnded === '' ? '' : `, and the RPC ${howItEnded}`}`;
  },
);

/** Silence and line noise are not reported as speech. */
export async function noiseNotAnnounced(lab: Lab): Promise<void> {
  for (const { what, mulaw } of QUIET_LINES) {
    const call = await lab.readyFor('speech');
    lab.note(`nobody speaks: ${what}`);
    const turn = call.listen();
    const isOver = (): boolean => turn.hasStart || turn.isOver;
    await call.stream(turn, mulaw, isOver);
    await call.until(turn, isOver, LATE_ANSWER_MS);
    await call.closeTurns(turn);
    if (turn.hasStart) lab.fail(`START_OF_INPUT came where nothing but ${what} was sent`);
    if (turn.terminal === undefined) await call.hangUp();
  }
}

/** A hang-up gets no prompt. */
export const hangUpUnanswered: Run = eachOf('session_end', 'no call was still open to be hung up', ({ hasPrompt, endProblem }) => {
  if (hasPrompt) return 'SESSION_END was answered with a prompt';
  return endProblem === undefined ? undefined : `the RPC of SESSION_END ${endProblem}`;
});

/** The caller cannot interrupt a farewell. */
export const farewellUncuttable: Run = eachTurn(NO_END, ({ terminal, answers }) => {
  if (terminal === undefined) return NOTHING;
  if (terminal.answer.prompts.some(({ bargeIn }) => bargeIn)) return 'a prompt beside a terminal event has barge-in enabled';
  return answers.some(({ answer }) => answer.prompts.some((prompt) => isHeard(prompt) && prompt.bargeIn))
    ? 'the farewell before a terminal event has barge-in enabled'
    : undefined;
});

/** No prompt comes after a terminal event. @param otherwise - why there was nothing to examine. */
export function silentAfterEnd(otherwise: string): Run {
  return eachCall(otherwise, ({ turns }) => {
    const end = turns.findIndex(({ terminal }) => terminal !== undefined);
    const later = end === -1 ? [] : turns.slice(end + 1);
    if (later.length === 0) return NOTHING;
    const broken = later.find(({ hasPrompt }) => hasPrompt);
    return broken && `${broken.label} got a prompt after the call had ended`;
  });
}
