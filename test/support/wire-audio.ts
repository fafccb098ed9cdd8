// Caller audio and keys as messages: what a platform puts on the wire, frame by frame.
import { DTMF_KEY, EVENT_INPUT, VOICE_ENCODING, type MediaRequest } from '../../src/contract/grpc.ts';
import { silence } from './line-signals.ts';

type Input = Pick<MediaRequest, 'audio_input' | 'dtmf_input' | 'event_input'>;

/** Bytes of 20 ms on the line (G-30). */
const FRAME_BYTES = 160;

/** An event of the platform. */
export function event(name: keyof typeof EVENT_INPUT): Input {
  return { event_input: { event_type: EVENT_INPUT[name] } };
}

/** Keys, collected by the platform (G-62). */
export function keys(...pressed: readonly (keyof typeof DTMF_KEY)[]): Input {
  return { dtmf_input: { dtmf_events: pressed.map((key) => DTMF_KEY[key]) } };
}

/** A message that names a format and carries no sound (G-32). */
export function format(encoding: number = VOICE_ENCODING.MULAW_FORMAT, sampleRateHz = 8000): Input {
  return { audio_input: { encoding, sample_rate_hertz: sampleRateHz } };
}

/** A probe packet (G-33). */
export const PROBE: Input = { audio_input: { caller_audio: Uint8Array.of(1, 2, 3) } };

/** Audio in frames of 20 ms that name no format. */
export function frames(mulaw: Uint8Array): readonly Input[] {
  const count = Math.ceil(mulaw.length / FRAME_BYTES);
  return Array.from({ length: count }, (_, index) => ({
    audio_input: { caller_audio: mulaw.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES) },
  }));
}

/** So much of a silent line in frames. */
export function quiet(ms: number): readonly Input[] {
  return frames(silence(ms));
}
