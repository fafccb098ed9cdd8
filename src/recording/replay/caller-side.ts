// The caller's side of a recorded call, in the form that the engine takes.
import type { AbortReason } from '../../base/abort.ts';
import type { AudioInput, Input } from '../../dialog/input.ts';
import type { RecordedEvent, RecordedInput, Recording, SoundRange } from '../recording.ts';

/** Events that are played again: those of the caller's side, and start and end of speech whose sound is withheld. */
export type Played = Extract<RecordedEvent, { kind: 'turn_opened' | 'input' | 'audio' | 'half_closed' | 'aborted' | 'output' }>;

/** In order of time. */
export function playedOf({ events, callerSound }: Pick<Recording, 'events' | 'callerSound'>): readonly Played[] {
  const audible = new Set(events.flatMap((event) => (event.kind === 'audio' && isAudible(event, callerSound) ? [event.turn] : [])));
  return events.filter((event): event is Played => {
    switch (event.kind) {
      case 'output':
        return !audible.has(event.turn) && (event.output.kind === 'input_started' || event.output.kind === 'input_ended');
      case 'turn_opened':
      case 'input':
      case 'audio':
      case 'half_closed':
      case 'aborted':
        return true;
      default:
        return false;
    }
  });
}

/** Whether there is any sound in a frame; withheld sound is silence. */
function isAudible({ from, bytes }: SoundRange, sound: Uint8Array): boolean {
  return sound.subarray(from, from + bytes).some((byte) => byte !== sound[from]);
}

export function inputOf(input: RecordedInput): Input {
  // Each withheld digit is replaced by a zero.
  return 'withheld' in input ? { kind: 'dtmf', digits: '0'.repeat(input.length) } : input;
}

export function audioOf({ from, bytes, encoding, sampleRateHz }: Extract<Played, { kind: 'audio' }>, sound: Uint8Array): AudioInput {
  return {
    ...{ kind: 'audio', audio: sound.subarray(from, from + bytes) },
    ...(encoding !== undefined && { encoding }),
    ...(sampleRateHz !== undefined && { sampleRateHz }),
  };
}

const REASONS = ['hang_up', 'superseded', 'deadline', 'shutdown'] as const satisfies readonly AbortReason[];

export function reasonOf(written: string): (typeof REASONS)[number] {
  return REASONS.find((reason) => reason === written) ?? 'hang_up';
}
