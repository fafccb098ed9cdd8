// The answer to a call that gets no session: a spoken line and a transfer instead of an error, which the caller would hear
// as silence (U-06). Knows no bot and no turn.
import type { AppError } from '../base/errors.ts';
import { say } from '../bot/saying.ts';
import { finalNext } from './final-next.ts';
import type { EngineParts } from './parts.ts';
import type { TurnSink } from './ports.ts';
import { isStreamed } from './sound.ts';

/**
 * Writes the line and completes the stream.
 *
 * @param refusal - why there is no session; the flow gets its `details.reason` as the reason of the transfer.
 * @param signal - stops a line that is still being made.
 */
export function turnAway(
  sink: TurnSink,
  refusal: AppError,
  { settings, voice }: Pick<EngineParts, 'settings' | 'voice'>,
  signal: AbortSignal,
): void {
  const reason = String(refusal.details['reason'] ?? refusal.code);
  const { prompts, next } = say(settings.handover).transfer({ reason });
  const spoken = prompts.map((prompt) => {
    const audio = voice.render(prompt, signal);
    // A line that is not ready yet travels as text: a busy server does not wait for its synthesizer.
    return { audio: audio instanceof Promise || isStreamed(audio) ? undefined : audio, text: settings.handover, bargeIn: false };
  });
  sink.write({ kind: 'final', mode: 'wav', prompts: spoken, next: finalNext(next, settings.listen) });
  sink.complete();
}
