// Checks of RPCs of one call that overlap, and of what is cut (contract, section 2.6). Each looks at the welcome and at other
// replies that may be cut.
import type { Check } from '../check.ts';
import { cuttableMs, repliesBy, streamedMs, withEach } from '../cuttable-reply.ts';
import { BUSY, CAME_OTHERWISE, interruptionMs, SPARE_MS, STOP_MS, watchingStalls } from '../interrupting.ts';
import type { CheckLab } from '../lab.ts';
import {
  endingText,
  eventInput,
  hasPrompt,
  hasStart,
  isBroken,
  MULAW_FORMAT,
  SILENCE,
  terminalOf,
  whyUnanswered,
  type Input,
  type RpcCall,
  TurnRecord,
} from '../rpc-call.ts';
import { replayed, speakInto, type Pair, type Reply } from '../replay.ts';
import type { WireRpc } from '../wire.ts';
import { whyKeysUnanswered } from './inputs.ts';

/** A reply that is streamed for less than this is over before a second RPC is open, ms. */
const MIN_STREAMED_MS = 300;
/** Puts replies that are streamed while they play before all others, however long those are, ms. */
const STREAMED_FIRST_MS = 1_000_000;
/** Moments of silence before something happens on a listening RPC. */
const QUIET: readonly Input[] = [MULAW_FORMAT, SILENCE, SILENCE, SILENCE, SILENCE, SILENCE];
const NOT_CUTTABLE = 'no reply was heard that may be cut';
const NOT_STREAMED = 'no reply was heard that may be cut and is streamed while it plays';

/** Does this with each reply whose RPC is still open while the caller may already speak: a second RPC listens (G-50). */
async function overlapping(lab: CheckLab, look: (pair: Pair, reply: Reply) => Promise<void>): Promise<void> {
  await lab.demandKnown();
  await withEach(lab, await repliesBy(lab, streamedFirstMs, 1), NOT_CUTTABLE, async (reply) => {
    if (reply.ms < STREAMED_FIRST_MS) lab.note(`${reply.name} is not streamed while it plays: the two RPCs overlap for a moment only`);
    const { call, older } = await replayed(lab, reply);
    const newer = call.open(...QUIET);
    await older.settled(lab.suspect.timing.answerMs);
    await look({ call, older, newer }, reply);
    await call.hangUp();
  });
}

/** Fails when a reply went on that was cut at a moment. */
function demandQuiet(lab: CheckLab, older: WireRpc, cutAtMs: number, isBusy: () => boolean, { name }: Reply): void {
  const late = older.received.filter(
    ({ answer, atMs }) => atMs - cutAtMs > STOP_MS && answer.prompts.some(({ audio }) => audio.length > 0),
  );
  if (late.length > 0 && isBusy()) lab.skip(BUSY);
  if (late.length > 0) lab.fail(`${String(late.length)} pieces of ${name} came more than ${String(STOP_MS)} ms after it was cut`);
}

/** The length of a reply, ms; those that are streamed while they play come before all others. */
function streamedFirstMs(turn: TurnRecord): number {
  const ms = streamedMs(turn);
  return ms < MIN_STREAMED_MS ? cuttableMs(turn) : STREAMED_FIRST_MS + ms;
}

/** Demands that a platform would send keys while a reply plays, and behind it. */
function demandKeysAsked(lab: CheckLab, call: RpcCall, { turn }: Reply): void {
  if (!call.isAskedFor('keys') || turn.rpc.final?.answer.mode === 'voice') lab.skip('the bot asks for no keys');
}

/** How long a reply must be so that somebody can speak into it, in words. */
function tooShort(leastMs: number): string {
  return `no reply was heard that may be cut and plays for ${String(Math.ceil(leastMs / 1000))} s`;
}

export const OVERLAP_CHECKS: readonly Check[] = [
  {
    id: 'overlap-taken',
    rules: ['G-50'],
    title: 'A second RPC of a call is taken while the first is still open.',
    needs: ['call'],
    run: (lab) =>
      overlapping(lab, async ({ older, newer }, { name }) => {
        const refused = [older, newer].find(isBroken);
        if (refused !== undefined) lab.fail(`beside ${name} a second RPC was opened, and ${refused.name} ${endingText(refused.ending)}`);
        newer.halfClose();
        await newer.settled(lab.suspect.timing.answerMs);
        const broken = whyUnanswered(newer);
        if (broken !== undefined) lab.fail(`the RPC that was opened beside ${name} ${broken}`);
      }),
  },
  {
    id: 'answers-on-own-rpc',
    rules: ['G-57'],
    title: 'What answers one RPC is never written to another.',
    needs: ['call'],
    run: (lab) =>
      overlapping(lab, async ({ older, newer }, { name }) => {
        if (isBroken(newer) || isBroken(older)) lab.skip('two RPCs may not overlap');
        // What comes once the listening RPC is closed may be its own answer.
        const isMisplaced = hasPrompt(newer);
        newer.halfClose();
        await newer.settled(lab.suspect.timing.answerMs);
        if (isMisplaced) lab.fail(`while ${name} was sent on ${older.name}, a prompt came on ${newer.name}, which only listens`);
      }),
  },
  {
    id: 'barge-in-heard',
    rules: ['G-52'],
    title: 'A caller who speaks into a prompt that may be cut is announced on the newer RPC.',
    needs: ['call', 'speech'],
    run: async (lab) => {
      await lab.demandHeard();
      const leastMs = interruptionMs(lab);
      await withEach(lab, await repliesBy(lab, cuttableMs, leastMs), tooShort(leastMs), (reply) =>
        watchingStalls(async (isBusy) => {
          const { call, older, newer } = await speakInto(lab, reply);
          if (!hasStart(newer)) {
            if (hasStart(older)) lab.fail(`the caller spoke on ${newer.name} into ${reply.name}, and START_OF_INPUT came on ${older.name}`);
            if (isBusy()) lab.skip(BUSY);
            await older.settled(lab.suspect.timing.answerMs);
            if (cuttableMs(new TurnRecord(reply.turn.kind, older)) === 0) lab.skip(`${reply.name} ${CAME_OTHERWISE}`);
            lab.fail(`no START_OF_INPUT came while ${reply.name} played, and in a silent line the same words got one`);
          }
          newer.halfClose();
          await Promise.all([older, newer].map((rpc) => rpc.settled(lab.suspect.timing.answerMs)));
          await call.hangUp();
        }),
      );
    },
  },
  {
    id: 'cut-reply-stops',
    rules: ['G-53'],
    title: 'A reply that is cut stops at once, and its RPC is completed with OK.',
    needs: ['call', 'speech'],
    run: async (lab) => {
      await lab.demandHeard();
      await withEach(lab, await repliesBy(lab, streamedMs, interruptionMs(lab)), NOT_STREAMED, (reply) =>
        watchingStalls(async (isBusy) => {
          const { call, older, newer } = await speakInto(lab, reply);
          if (!hasStart(newer)) lab.skip(isBusy() ? BUSY : `no START_OF_INPUT came while ${reply.name} played`);
          const cutAtMs = lab.suspect.clock.monotonicMs();
          newer.halfClose();
          await older.settled(lab.suspect.timing.answerMs);
          if (!older.isCompleted) lab.fail(`the RPC of ${reply.name}, which was cut, ${endingText(older.ending)}`);
          demandQuiet(lab, older, cutAtMs, isBusy, reply);
          await newer.settled(lab.suspect.timing.answerMs);
          await call.hangUp();
        }),
      );
    },
  },
  {
    id: 'first-key-on-listening-rpc',
    rules: ['G-54'],
    title: 'A key that is pressed on a listening RPC ends that RPC without a prompt.',
    needs: ['call'],
    run: async (lab) => {
      const call = await lab.ready();
      if (!call.isAskedFor('keys')) lab.skip('the bot asks for no keys');
      const rpc = call.open(...QUIET);
      await call.wait(60);
      rpc.send(call.message(eventInput('START_OF_DTMF'))).halfClose();
      await rpc.settled(lab.suspect.timing.answerMs);
      if (hasPrompt(rpc)) lab.fail('START_OF_DTMF on a listening RPC was answered with a prompt');
      const broken = whyUnanswered(rpc);
      if (broken !== undefined) lab.fail(`the listening RPC of START_OF_DTMF ${broken}`);
      await call.hangUp();
    },
  },
  {
    id: 'first-key-stops-reply',
    rules: ['G-61', 'G-53'],
    title: 'START_OF_DTMF stops a reply that is being streamed.',
    needs: ['call'],
    run: async (lab) =>
      withEach(lab, await repliesBy(lab, streamedMs, SPARE_MS), NOT_STREAMED, (reply) =>
        watchingStalls(async (isBusy) => {
          const { call, older } = await replayed(lab, reply);
          demandKeysAsked(lab, call, reply);
          const cutAtMs = lab.suspect.clock.monotonicMs();
          const key = call.open(eventInput('START_OF_DTMF')).halfClose();
          await key.settled(lab.suspect.timing.answerMs);
          if (isBroken(key)) lab.skip('START_OF_DTMF was refused while a reply was streamed');
          await older.settled(lab.suspect.timing.answerMs);
          demandQuiet(lab, older, cutAtMs, isBusy, reply);
          await call.hangUp();
        }),
      ),
  },
  {
    id: 'digits-over-prompt-answered',
    rules: ['G-63'],
    title: 'Keys that are pressed while a prompt plays that may be cut are answered.',
    needs: ['call'],
    run: async (lab) => {
      await lab.demandKeysWork();
      const { press, timing } = lab.suspect;
      await withEach(lab, await repliesBy(lab, streamedFirstMs, 1), NOT_CUTTABLE, async (reply) => {
        const { call, older } = await replayed(lab, reply);
        demandKeysAsked(lab, call, reply);
        const key = call.open(eventInput('START_OF_DTMF')).halfClose();
        await Promise.all([key, older].map((rpc) => rpc.settled(timing.answerMs)));
        const { rpc } = await call.press(press);
        const why = whyKeysUnanswered(rpc);
        if (why !== undefined) {
          lab.note(`the same keys behind ${reply.name}`);
          const control = await replayed(lab, reply);
          await control.older.settled(timing.answerMs);
          await control.call.heardOut(new TurnRecord(reply.turn.kind, control.older));
          if (whyKeysUnanswered((await control.call.press(press)).rpc) !== undefined)
            lab.skip(`these keys are not answered behind ${reply.name} either`);
          lab.fail(`keys that were pressed over ${reply.name}: ${why}; behind it they were answered`);
        }
        if (terminalOf(rpc) === undefined) await call.hangUp();
      });
    },
  },
];
