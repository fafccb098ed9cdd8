// Functions of checks that exist for both transports: what happens to a reply that the caller interrupts. Each check covers
// the welcome and other replies that may be interrupted. Know no wire.
import type { ProbeCall, ProbeTurn, TimedAnswer } from '../call.ts';
import {
  BUSY,
  CAME_OTHERWISE,
  cuttableMs,
  interruptionMs,
  repliesBy,
  replayed,
  speakInto,
  STOP_MS,
  streamedMs,
  watchingStalls,
  withEach,
  type CuttableReply,
} from '../cuttable-reply.ts';
import type { Lab } from '../lab.ts';

/** A reply whose sending takes less than this is over before anything else happens in its call, ms. */
const MIN_STREAMED_MS = 300;
/** Added to the length of replies that are streamed while they play, ms, so that these replies are chosen first. */
export const STREAMED_FIRST_MS = 1_000_000;
export const NOT_CUTTABLE = 'no reply was heard that may be cut';

/** The server reports a caller who speaks into a reply. */
export async function bargeInAnnounced(lab: Lab): Promise<void> {
  await lab.demandHeard();
  const leastMs = interruptionMs(lab);
  const tooShort = `no reply was heard that may be cut and plays for ${String(Math.ceil(leastMs / 1000))} s`;
  await withEach(lab, await repliesBy(lab, cuttableMs, leastMs), tooShort, (reply) =>
    watchingStalls(async (isBusy) => {
      const { call, older, newer, fromMs } = await speakInto(lab, reply);
      if (!newer.hasStart) {
        if ((older.start?.atMs ?? 0) > fromMs)
          lab.fail(`the caller spoke on ${newer.line} into ${reply.name}, and START_OF_INPUT came on ${older.line}`);
        if (isBusy()) lab.skip(BUSY);
        await call.settled(older);
        if (cuttableMs(older) === 0) lab.skip(`${reply.name} ${CAME_OTHERWISE}`);
        lab.fail(`no START_OF_INPUT came while ${reply.name} played, and in a silent line the same words got one`);
      }
      await call.closeTurns(newer, older);
      await call.hangUp();
    }),
  );
}

/**
 * A reply stops when somebody speaks into it.
 *
 * @param otherwise - why the check does not apply where no reply is streamed.
 * @param cut - what stopped the reply, as part of a sentence.
 */
export function interruptedReplyStops(otherwise: string, cut: string): (lab: Lab) => Promise<void> {
  return async (lab) => {
    await lab.demandHeard();
    await withEach(lab, await repliesBy(lab, streamedMs, interruptionMs(lab)), otherwise, (reply) =>
      watchingStalls(async (isBusy) => {
        const { call, older, newer } = await speakInto(lab, reply);
        const cutAtMs = newer.start?.atMs ?? lab.skip(isBusy() ? BUSY : `no START_OF_INPUT came while ${reply.name} played`);
        const rest = await call.restOfCut(older, newer);
        if (!older.isCompleted) lab.fail(`the RPC of ${reply.name}, which was cut, ${older.howItEnded}`);
        demandQuiet(lab, rest, cutAtMs, isBusy, `${reply.name} came more than ${String(STOP_MS)} ms after ${cut}`);
        await call.hangUp();
      }),
    );
  };
}

/**
 * Keys that are pressed while a reply plays get an answer.
 *
 * @param leastMs - shortest reply into which a key can be pressed.
 * @param answered - what the server did with the same keys after the reply, as part of a sentence.
 */
export function keysOverReplyAnswered(leastMs: number, answered: string): (lab: Lab) => Promise<void> {
  return async (lab) => {
    await lab.demandKeysWork();
    const { press } = lab.suspect;
    await withEach(lab, await repliesBy(lab, streamedFirstMs, leastMs), NOT_CUTTABLE, async (reply) => {
      const { call, older } = await replayed(lab, reply);
      demandKeysAsked(lab, call, reply);
      await call.take('dtmf_start');
      await call.closeTurns(older);
      const pressed = await call.press(press);
      const why = pressed.keysProblem(`keys that were pressed over ${reply.name}`);
      if (why !== undefined) {
        lab.note(`the same keys behind ${reply.name}`);
        const again = await replayed(lab, reply);
        await again.call.settled(again.older);
        await again.call.heardOut(again.older);
        if ((await again.call.press(press)).keysProblem('') !== undefined)
          lab.skip(`these keys are not answered behind ${reply.name} either`);
        lab.fail(`${why}; behind it they ${answered}`);
      }
      if (pressed.terminal === undefined) await call.hangUp();
    });
  };
}

/** Fails when sound of a reply came too late after the interruption. @param what - follows the number of pieces in a sentence. */
export function demandQuiet(lab: Lab, answers: readonly TimedAnswer[], cutAtMs: number, isBusy: () => boolean, what: string): void {
  const late = answers.filter(({ answer, atMs }) => atMs - cutAtMs > STOP_MS && answer.prompts.some(({ audio }) => audio.length > 0));
  if (late.length > 0 && isBusy()) lab.skip(BUSY);
  if (late.length > 0) lab.fail(`${String(late.length)} pieces of ${what}`);
}

/** The measure by which replies are chosen, ms: their length; replies that are streamed while they play come before all others. */
export function streamedFirstMs(turn: ProbeTurn): number {
  const ms = streamedMs(turn);
  return ms < MIN_STREAMED_MS ? cuttableMs(turn) : STREAMED_FIRST_MS + ms;
}

/** Requires that the bot asks for keys both while a reply plays and after it. */
export function demandKeysAsked(lab: Lab, call: ProbeCall, { turn }: CuttableReply<ProbeTurn>): void {
  if (!call.isAskedFor('keys') || turn.final?.answer.mode === 'voice') lab.skip('the bot asks for no keys');
}
