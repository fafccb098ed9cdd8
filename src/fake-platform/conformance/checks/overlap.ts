// Checks of overlapping RPCs of one call, and of interrupted replies. Each check covers the welcome and other
// replies that may be interrupted.
import type { Runs } from '../catalog.ts';
import { repliesBy, replayed, SPARE_MS, STOP_MS, streamedMs, watchingStalls, withEach } from '../cuttable-reply.ts';
import { eventInput, MULAW_FORMAT, SILENCE, type Input, type RpcCall, type RpcTurn } from '../rpc-call.ts';
import type { RpcLab } from '../rpc-probe.ts';
import {
  bargeInAnnounced,
  demandKeysAsked,
  demandQuiet,
  interruptedReplyStops,
  keysOverReplyAnswered,
  NOT_CUTTABLE,
  STREAMED_FIRST_MS,
  streamedFirstMs,
} from './shared-overlap.ts';

/** An audio format and some frames of silence, which come before anything else on a listening RPC. */
const QUIET: readonly Input[] = [MULAW_FORMAT, SILENCE, SILENCE, SILENCE, SILENCE, SILENCE];
const NOT_STREAMED = 'no reply was heard that may be cut and is streamed while it plays';

/** For each reply into which the caller may speak: opens a listening RPC while the RPC of the reply is open (G-50), and inspects both. */
async function overlapping(
  lab: RpcLab,
  inspect: (call: RpcCall, older: RpcTurn, newer: RpcTurn, name: string) => Promise<void>,
): Promise<void> {
  await lab.demandKnown();
  await withEach(lab, await repliesBy(lab, streamedFirstMs, 1), NOT_CUTTABLE, async (reply) => {
    if (reply.ms < STREAMED_FIRST_MS) lab.note(`${reply.name} is not streamed while it plays: the two RPCs overlap for a moment only`);
    const { call, older } = await replayed(lab, reply);
    const newer = call.start('speech', ...QUIET);
    await call.settled(older);
    await inspect(call, older, newer, reply.name);
    await call.hangUp();
  });
}

export const OVERLAP_CHECKS: Runs<RpcLab> = {
  'overlap-taken': (lab) =>
    overlapping(lab, async (call, older, newer, name) => {
      const refused = [older, newer].find(({ isBroken }) => isBroken);
      if (refused !== undefined) lab.fail(`beside ${name} a second RPC was opened, and ${refused.line} ${refused.howItEnded}`);
      await call.closeTurns(newer);
      if (newer.endProblem !== undefined) lab.fail(`the RPC that was opened beside ${name} ${newer.endProblem}`);
    }),
  'answers-on-own-rpc': (lab) =>
    overlapping(lab, async (call, older, newer, name) => {
      if (newer.isBroken || older.isBroken) lab.skip('two RPCs may not overlap');
      // A prompt that comes after the listening RPC is closed may be its own answer.
      const isMisplaced = newer.hasPrompt;
      await call.closeTurns(newer);
      if (isMisplaced) lab.fail(`while ${name} was sent on ${older.line}, a prompt came on ${newer.line}, which only listens`);
    }),
  'barge-in-heard': bargeInAnnounced,
  'cut-reply-stops': interruptedReplyStops(NOT_STREAMED, 'it was cut'),
  'first-key-on-listening-rpc': async (lab) => {
    const call = await lab.readyFor('keys');
    const turn = call.start('dtmf_start', ...QUIET);
    await lab.wait(60);
    turn.rpc.send(call.message(eventInput('START_OF_DTMF')));
    await call.closeTurns(turn);
    if (turn.hasPrompt) lab.fail('START_OF_DTMF on a listening RPC was answered with a prompt');
    if (turn.endProblem !== undefined) lab.fail(`the listening RPC of START_OF_DTMF ${turn.endProblem}`);
    await call.hangUp();
  },
  'first-key-stops-reply': async (lab) =>
    withEach(lab, await repliesBy(lab, streamedMs, SPARE_MS), NOT_STREAMED, (reply) =>
      watchingStalls(async (isBusy) => {
        const { call, older } = await replayed(lab, reply);
        demandKeysAsked(lab, call, reply);
        const cutAtMs = lab.suspect.clock.monotonicMs();
        if ((await call.take('dtmf_start')).isBroken) lab.skip('START_OF_DTMF was refused while a reply was streamed');
        await call.settled(older);
        demandQuiet(lab, older.answers, cutAtMs, isBusy, `${reply.name} came more than ${String(STOP_MS)} ms after it was cut`);
        await call.hangUp();
      }),
    ),
  'digits-over-prompt-answered': keysOverReplyAnswered(1, 'were answered'),
};
