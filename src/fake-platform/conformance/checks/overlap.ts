// Checks of RPCs of one call that overlap, and of what is cut (contract, section 2.6).
import { FRAME_MS } from '../../../speech/audio-format.ts';
import type { Check } from '../check.ts';
import type { CheckLab } from '../lab.ts';
import { agentBy, BUSY, cuttablePlayMs, interruptionMs, SPARE_MS, STOP_MS, watchingStalls } from '../interrupting.ts';
import {
  eventInput,
  frameInputs,
  hasPrompt,
  hasStart,
  isBroken,
  LEAD_MS,
  MULAW_FORMAT,
  SILENCE,
  whyUnanswered,
  type Input,
  type ProbeCall,
} from '../probe-call.ts';
import type { CallRecord } from '../survey.ts';
import { statusName } from '../../status-name.ts';
import type { WireRpc } from '../wire.ts';

/** A welcome that is streamed for less than this is over before a second RPC is open, ms. */
const MIN_STREAMED_MS = 300;
/** Silence before speech, frames. */
const LEAD_FRAMES = LEAD_MS / FRAME_MS;
/** Silence after speech while its announcement is waited for, frames: more than any welcome is long. */
const AFTER_SPEECH_FRAMES = 3000;
/** Moments of silence before something happens on a listening RPC. */
const QUIET: readonly Input[] = [MULAW_FORMAT, SILENCE, SILENCE, SILENCE, SILENCE, SILENCE];

/** Two RPCs of one call. */
interface Pair {
  readonly call: ProbeCall;
  readonly older: WireRpc;
  readonly newer: WireRpc;
}

/** A welcome whose RPC is still open while the caller may already speak: a second RPC listens (G-50). */
async function overlapping(lab: CheckLab): Promise<Pair> {
  await lab.demandKnown();
  const records = await lab.welcomes();
  const isStreamed = records.some((record) => streamedMs(record) >= MIN_STREAMED_MS);
  if (!isStreamed) lab.note('no welcome is streamed while it plays: the two RPCs overlap for a moment only');
  const agentId = isStreamed ? await streamedAgent(lab, MIN_STREAMED_MS) : await agentBy(lab, cuttableMs, 1, 'a welcome that may be cut');
  const { call, older } = await welcomed(lab, agentId);
  const newer = call.open(...QUIET);
  await older.settled(lab.suspect.timing.answerMs);
  return { call, older, newer };
}

/** A call whose welcome has begun. */
async function welcomed(lab: CheckLab, agentId: string): Promise<Pick<Pair, 'call' | 'older'>> {
  const call = lab.call({ agentId });
  const older = call.open(eventInput('SESSION_START')).halfClose();
  await older.until(() => older.ending !== undefined || older.received.length > 0, lab.suspect.timing.answerMs);
  if (older.received.length === 0) lab.skip('the welcome did not come');
  return { call, older };
}

/** How long a welcome plays if all of it may be cut, ms; otherwise 0. */
function cuttableMs({ turns }: CallRecord): number {
  return cuttablePlayMs(turns[0]?.rpc.answers.flatMap(({ prompts }) => prompts) ?? []);
}

/** How long the RPC of a welcome that may be cut stayed open while it was streamed, ms. */
function streamedMs(record: CallRecord): number {
  const received = record.turns[0]?.rpc.received ?? [];
  return Math.min(cuttableMs(record), (received.at(-1)?.atMs ?? 0) - (received[0]?.atMs ?? 0));
}

function streamedAgent(lab: CheckLab, leastMs: number): Promise<string> {
  return agentBy(lab, streamedMs, leastMs, 'a welcome that may be cut and is streamed while it plays');
}

/** Speaks into a welcome that may be cut, until it is announced or the welcome is over. */
async function speakInto(lab: CheckLab, agentId: string): Promise<Pair> {
  await lab.demandHeard();
  const limitMs = Math.max(...(await lab.welcomes()).filter((record) => record.agentId === agentId).map(cuttableMs));
  const { call, older } = await welcomed(lab, agentId);
  const untilMs = (older.received[0]?.atMs ?? 0) + limitMs;
  const newer = call.open(MULAW_FORMAT);
  // The platform sends silence before a voice (G-50), by which an ear learns the line.
  const lead = Array<Input>(LEAD_FRAMES).fill(SILENCE);
  const line = [...lead, ...frameInputs(lab.speech), ...Array<Input>(AFTER_SPEECH_FRAMES * lab.suspect.timing.pace).fill(SILENCE)];
  await call.stream(newer, line, () => hasStart(newer) || newer.ending !== undefined || lab.suspect.clock.monotonicMs() > untilMs);
  if (isBroken(newer)) lab.skip('the second RPC was refused');
  return { call, older, newer };
}

/** Fails when a reply went on that was cut at a moment. */
function demandQuiet(lab: CheckLab, older: WireRpc, cutAtMs: number, isBusy: () => boolean): void {
  const late = older.received.filter(
    ({ answer, atMs }) => atMs - cutAtMs > STOP_MS && answer.prompts.some(({ audio }) => audio.length > 0),
  );
  if (late.length > 0 && isBusy()) lab.skip(BUSY);
  if (late.length > 0) lab.fail(`${String(late.length)} pieces of the reply came more than ${String(STOP_MS)} ms after it was cut`);
}

export const OVERLAP_CHECKS: readonly Check[] = [
  {
    id: 'overlap-taken',
    rules: ['G-50'],
    title: 'A second RPC of a call is taken while the first is still open.',
    needs: ['call'],
    run: async (lab) => {
      const { call, older, newer } = await overlapping(lab);
      const refused = [older, newer].find(isBroken);
      if (refused?.ending !== undefined) lab.fail(`of two RPCs that overlap one ended with ${statusName(refused.ending.code)}`);
      newer.halfClose();
      await newer.settled(lab.suspect.timing.answerMs);
      const broken = whyUnanswered(newer);
      if (broken !== undefined) lab.fail(`the second of two RPCs that overlap ${broken}`);
      await call.end();
    },
  },
  {
    id: 'answers-on-own-rpc',
    rules: ['G-57'],
    title: 'What answers one RPC is never written to another.',
    needs: ['call'],
    run: async (lab) => {
      const { call, older, newer } = await overlapping(lab);
      if (isBroken(newer) || isBroken(older)) lab.skip('two RPCs may not overlap');
      // What comes once the listening RPC is closed may be its own answer.
      const isMisplaced = hasPrompt(newer);
      newer.halfClose();
      await newer.settled(lab.suspect.timing.answerMs);
      if (isMisplaced) lab.fail('a prompt came on the RPC that listens, and not on the one of SESSION_START');
      await call.end();
    },
  },
  {
    id: 'barge-in-heard',
    rules: ['G-52'],
    title: 'A caller who speaks into a prompt that may be cut is announced on the newer RPC.',
    needs: ['call', 'speech'],
    run: (lab) =>
      watchingStalls(async (isBusy) => {
        const leastMs = interruptionMs(lab);
        const agentId = await agentBy(lab, cuttableMs, leastMs, `a welcome of ${String(Math.ceil(leastMs / 1000))} s that may be cut`);
        const { call, older, newer } = await speakInto(lab, agentId);
        if (!hasStart(newer)) {
          if (hasStart(older)) lab.fail('START_OF_INPUT came on the older RPC');
          if (isBusy()) lab.skip(BUSY);
          lab.fail('the caller was not heard while the prompt played');
        }
        newer.halfClose();
        await Promise.all([older, newer].map((rpc) => rpc.settled(lab.suspect.timing.answerMs)));
        await call.end();
      }),
  },
  {
    id: 'cut-reply-stops',
    rules: ['G-53'],
    title: 'A reply that is cut stops at once, and its RPC is completed with OK.',
    needs: ['call', 'speech'],
    run: (lab) =>
      watchingStalls(async (isBusy) => {
        const leastMs = interruptionMs(lab);
        const agentId = await streamedAgent(lab, leastMs);
        const { call, older, newer } = await speakInto(lab, agentId);
        if (!hasStart(newer)) lab.skip(isBusy() ? BUSY : 'the caller was not heard while the prompt played');
        const cutAtMs = lab.suspect.clock.monotonicMs();
        newer.halfClose();
        await older.settled(lab.suspect.timing.answerMs);
        const { ending } = older;
        if (!older.isCompleted)
          lab.fail(`the RPC that was cut ${ending === undefined ? 'was left open' : `ended with ${statusName(ending.code)}`}`);
        demandQuiet(lab, older, cutAtMs, isBusy);
        await newer.settled(lab.suspect.timing.answerMs);
        await call.end();
      }),
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
      await call.end();
    },
  },
  {
    id: 'first-key-stops-reply',
    rules: ['G-61', 'G-53'],
    title: 'START_OF_DTMF stops a reply that is being streamed.',
    needs: ['call'],
    run: (lab) =>
      watchingStalls(async (isBusy) => {
        const agentId = await streamedAgent(lab, SPARE_MS);
        const { call, older } = await welcomed(lab, agentId);
        const cutAtMs = lab.suspect.clock.monotonicMs();
        const key = call.open(eventInput('START_OF_DTMF')).halfClose();
        await key.settled(lab.suspect.timing.answerMs);
        if (isBroken(key)) lab.skip('START_OF_DTMF was refused while a reply was streamed');
        await older.settled(lab.suspect.timing.answerMs);
        demandQuiet(lab, older, cutAtMs, isBusy);
        await call.end();
      }),
  },
];
