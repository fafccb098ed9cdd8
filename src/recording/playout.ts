// When the prompts of a recorded call were heard: each after the previous one, and cut where the caller interrupted. An estimate, as in
// the engine: the platform does not report on its player.
import type { BargeIn } from '../bot/bot.ts';
import type { Recording, RecordedPrompt } from './recording.ts';

/** One prompt as it was heard. */
export interface HeardPrompt {
  readonly turn: string;
  readonly prompt: RecordedPrompt;
  /** When the prompt was sent. */
  readonly atMs: number;
  readonly startMs: number;
  /** Equal to `startMs` when the caller heard nothing of the prompt. */
  readonly endMs: number;
}

/** One interruption. */
export interface Interruption {
  /** The turn whose prompts were cut. */
  readonly turn: string;
  readonly atMs: number;
  readonly by: BargeIn['by'];
  readonly heardMs: number;
}

export interface Playout {
  readonly prompts: readonly HeardPrompt[];
  readonly interruptions: readonly Interruption[];
}

/** The prompts of a call in the order in which they were sent. */
export function playoutOf({ events }: Pick<Recording, 'events'>): Playout {
  const prompts: HeardPrompt[] = [];
  const interruptions: Interruption[] = [];
  let freeAtMs = 0;
  for (const event of events) {
    if (event.kind === 'output') {
      const { output, turn, atMs } = event;
      const sent = output.kind === 'prompt' ? [output.prompt] : output.kind === 'final' ? output.prompts : [];
      for (const prompt of sent) {
        const startMs = Math.max(atMs, freeAtMs);
        freeAtMs = startMs + prompt.durationMs;
        prompts.push({ turn, prompt, atMs, startMs, endMs: freeAtMs });
      }
    } else if (event.kind === 'fact' && event.event === 'barge_in') {
      const { atMs, details } = event;
      const turn = prompts.findLast(({ startMs }) => startMs <= atMs)?.turn;
      for (const [index, heard] of prompts.entries())
        if (heard.endMs > atMs) prompts[index] = { ...heard, startMs: Math.min(heard.startMs, atMs), endMs: atMs };
      freeAtMs = Math.min(freeAtMs, atMs);
      if (turn !== undefined)
        interruptions.push({ turn, atMs, by: details['by'] === 'keys' ? 'keys' : 'speech', heardMs: Number(details['heardMs'] ?? 0) });
    }
  }
  return { prompts, interruptions };
}

/** A prompt with its further pieces. */
export interface WholePrompt extends HeardPrompt {
  /** Length of the part that was sent but not heard. */
  readonly unheardMs: number;
}

/** The prompts of a turn, each with the pieces that belong to it. */
export function wholePrompts(prompts: readonly HeardPrompt[]): readonly WholePrompt[] {
  const whole: WholePrompt[] = [];
  for (const heard of prompts) {
    const { prompt, startMs, endMs } = heard;
    const unheardMs = Math.max(0, prompt.durationMs - (endMs - startMs));
    const last = whole.at(-1);
    // The text went with the first piece.
    if (prompt.goesOn === true && last !== undefined) whole[whole.length - 1] = { ...last, endMs, unheardMs: last.unheardMs + unheardMs };
    else whole.push({ ...heard, unheardMs });
  }
  return whole;
}
