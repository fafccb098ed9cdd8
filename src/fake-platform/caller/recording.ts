// A call as one stereo WAV: what the caller heard on the left, what the caller said on the right.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { pcmWav } from '../../speech/wav.ts';

/** The bytes of a WAV file, 8 kHz, 16 bit: left heard, right said, both from the beginning of the call. */
export function callRecording(call: { readonly heard: Int16Array; readonly said: Int16Array }): Uint8Array {
  return pcmWav([call.heard, call.said], LINE_RATE_HZ);
}
