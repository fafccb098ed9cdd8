// What the caller of a test hears in long silences, as on a server: fillers, and what a handler says only then.
import { systemClock } from '../base/clock.ts';
import type { JumpingClock } from '../base/jumping-clock.ts';
import type { Prompt } from '../dialog/reply.ts';
import type { Bot } from './bot.ts';
import { ConditionalSayings } from './conditional-sayings.ts';
import type { TestPlayout } from './test-playout.ts';

/** @param fake - undefined: the silence is that of the machine's time. */
export function conditionalSayings(
  fake: JumpingClock | undefined,
  playout: TestPlayout,
  unwanted: AbortSignal,
  say: (prompts: readonly Prompt[]) => void,
): ConditionalSayings<void> {
  const clock = fake ?? systemClock;
  return new ConditionalSayings<void>({
    ...{ clock, waitingSinceMs: clock.monotonicMs(), unwanted },
    silentMs: (nowMs) => (fake === undefined ? Infinity : nowMs - playout.endMs),
    ask: () => undefined,
    isAudible: () => Promise.resolve(true),
    say: (prompts) => {
      say(prompts);
      return Promise.resolve();
    },
  });
}

/** With a fake clock only. @returns a function that cancels them. */
export function fillersLater(
  clock: JumpingClock | undefined,
  playout: TestPlayout,
  { filler }: Pick<Bot, 'filler'>,
  mayFill: () => boolean,
): () => void {
  if (clock === undefined || filler === undefined) return () => undefined;
  const [left, timer] = [[...filler.say], { cancel: (): void => undefined }];
  const nextIn = (ms: number): void => {
    timer.cancel = clock.after(ms, () => {
      const text = left.shift();
      if (text === undefined || !mayFill()) return;
      playout.add({ kind: 'text', text, bargeIn: true }, clock.monotonicMs(), true);
      if (filler.everyMs !== undefined) nextIn(Math.max(0, playout.endMs - clock.monotonicMs()) + filler.everyMs);
    });
  };
  nextIn(filler.afterMs);
  return () => {
    timer.cancel();
  };
}
