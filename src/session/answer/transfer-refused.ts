// Answers a refused call with a prompt and a transfer, because after an error the caller would hear nothing (U-06). Knows no
// bot and no turn.
import { pause } from '../../base/abort.ts';
import type { AppError } from '../../base/errors.ts';
import { say } from '../../bot/saying.ts';
import type { FinalNext, SpokenPrompt } from '../../dialog/output.ts';
import { finalNext } from './final-next.ts';
import type { EngineParts } from '../parts.ts';
import type { TurnSink } from '../ports.ts';
import { isStreamed } from '../playout/sound.ts';

export type TransferParts = Pick<EngineParts, 'settings' | 'voice' | 'clock'>;

/**
 * Writes the prompt and completes the stream.
 *
 * @param refusal - the cause; the flow gets its `details.reason` as the reason of the transfer.
 * @param isBegun - whether the call has had turns before: then its delivery mode must not change (G-40).
 * @param signal - stops the synthesis and the wait for the end of the prompt.
 */
export function transferRefused(sink: TurnSink, refusal: AppError, parts: TransferParts, isBegun: boolean, signal: AbortSignal): void {
  const { settings, voice } = parts;
  const reason = String(refusal.details['reason'] ?? refusal.code);
  const { prompts, next } = say(settings.lines.transfer).transfer({ reason });
  const spoken = prompts.map((prompt): SpokenPrompt => {
    const audio = voice.render(prompt, signal);
    // A prompt that is not cached is sent as text, because a busy server should not wait for its synthesizer.
    return { audio: audio instanceof Promise || isStreamed(audio) ? undefined : audio, text: settings.lines.transfer, bargeIn: false };
  });
  const last = finalNext(next, settings.listen);
  if (isBegun && voice.canSpeak && settings.mode === 'chunk') void sayAhead(sink, spoken, last, parts, signal);
  else {
    sink.write({ kind: 'final', mode: 'wav', prompts: spoken, next: last });
    sink.complete();
  }
}

/** Sends the audio first; the final waits until the caller has heard it (G-7A). */
async function sayAhead(
  sink: TurnSink,
  spoken: readonly SpokenPrompt[],
  next: FinalNext,
  { clock, settings }: TransferParts,
  signal: AbortSignal,
): Promise<void> {
  let soundMs = 0;
  const silent: SpokenPrompt[] = [];
  for (const { audio, ...prompt } of spoken) {
    if (audio === undefined) silent.push({ ...prompt, audio });
    else sink.write({ kind: 'prompt', prompt: { ...prompt, audio } });
    soundMs += audio?.durationMs ?? 0;
  }
  if (soundMs > 0) await pause(Math.min(soundMs, settings.maxFarewellMs), clock, signal);
  sink.write({ kind: 'final', mode: 'chunk', prompts: silent, next, bargeIn: false });
  sink.complete();
}
