// What the checks of a caller who speaks into a prompt share, on any transport: whom they call, how long that takes, and
// whether this machine was fast enough to judge times. Knows no wire and no rule.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { MULAW_BYTES_PER_MS } from '../../speech/audio-format.ts';
import type { AnswerPrompt } from '../caller/answer.ts';
import { isHeard, playMs } from './heard.ts';
import { LEAD_MS } from './call.ts';
import type { Lab } from './lab.ts';

/** How much of a reply must be left after somebody has spoken into it, ms. */
export const SPARE_MS = 1000;
/** How long the rest of an interrupted reply may still come, ms: it was already sent (G-53). */
export const STOP_MS = 500;
/** When this process itself stalled for longer, or its rounds took longer on average, it cannot judge times, ms. */
const [MAX_STALL_MS, MAX_MEAN_ROUND_MS] = [200, 40];
/** Why this machine cannot judge times. */
export const BUSY = 'this machine was too busy to tell moments apart';
/** Why an uninterrupted reply proves nothing: a bot need not repeat itself. */
export const CAME_OTHERWISE = 'may not be cut this time, or ends the call';

/** How long prompts play if all of them may be interrupted, ms; otherwise 0. */
export function cuttablePlayMs(prompts: readonly AnswerPrompt[]): number {
  const heard = prompts.filter(isHeard);
  return heard.every(({ bargeIn }) => bargeIn) ? heard.reduce((ms, prompt) => ms + playMs(prompt), 0) : 0;
}

/** How long it takes to speak into a reply, with a margin, ms of real time. */
export function interruptionMs({ speech, suspect }: Pick<Lab, 'speech' | 'suspect'>): number {
  return (LEAD_MS + speech.length / MULAW_BYTES_PER_MS) / suspect.timing.pace + SPARE_MS;
}

/** Runs `work`, and measures meanwhile how long this process stalls. */
export async function watchingStalls(work: (isBusy: () => boolean) => Promise<void>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  try {
    await work(() => delay.max / 1e6 > MAX_STALL_MS || delay.mean / 1e6 > MAX_MEAN_ROUND_MS);
  } finally {
    delay.disable();
  }
}
