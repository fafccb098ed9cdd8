// Recordings that users name, converted for the line. Each file is read once, however often users name it; a file that
// no phone could play is refused. Knows no call.
import { AppError } from '../../base/errors.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { encodeMulaw } from '../../speech/g711.ts';
import { hasVoice } from './microphone.ts';
import { wavSound, type ChangeRate } from './prompt-sound.ts';
import { pcmWav } from '../../speech/wav.ts';

export interface RecordingTools {
  readonly readFile: (file: string) => Promise<Uint8Array>;
  readonly changeRate: ChangeRate;
}

/**
 * Reads a recording of any rate as µ-law, 8 kHz, no header.
 *
 * @param place - where the user named the file, for the message.
 * @throws RangeError with a sentence for the user when the file cannot be read, holds no sound, or is too long.
 */
export type ReadRecording = (file: string, place: string) => Promise<Uint8Array>;

const MAX_MINUTES = 10;
/** Longest sound of all recordings together: one reader keeps them until the end of the run. */
const MAX_MINUTES_TOGETHER = 240;
const BYTES_PER_MINUTE = 60 * LINE_RATE_HZ;

/** Makes the reader of one run. */
export function recordingReader({ readFile, changeRate }: RecordingTools): ReadRecording {
  const known = new Map<string, Promise<Uint8Array>>();
  let bytes = 0;
  const read = async (file: string): Promise<Uint8Array> => {
    const mulaw = encodeMulaw(wavSound(await readFile(file), changeRate));
    if (mulaw.length > MAX_MINUTES * BYTES_PER_MINUTE) throw new RangeError(`the recording is longer than ${String(MAX_MINUTES)} minutes`);
    if (!hasVoice(mulaw)) throw new RangeError('the recording is silent: nobody would hear anything');
    bytes += mulaw.length;
    if (bytes > MAX_MINUTES_TOGETHER * BYTES_PER_MINUTE) {
      throw new RangeError(`all recordings together are longer than ${String(MAX_MINUTES_TOGETHER)} minutes`);
    }
    return mulaw;
  };
  return async (file, place) => {
    const reading = known.get(file) ?? read(file);
    known.set(file, reading);
    try {
      return await reading;
    } catch (cause) {
      if (!(cause instanceof RangeError) && !(cause instanceof AppError)) throw cause;
      throw new RangeError(`${place}: ${cause.message}`, { cause });
    }
  };
}

/** The bytes of a WAV file, 8 kHz, 16 bit: `heard` on the left channel, `said` on the right, both from the beginning of the call. */
export function callRecording(call: { readonly heard: Int16Array; readonly said: Int16Array }): Uint8Array {
  return pcmWav([call.heard, call.said], LINE_RATE_HZ);
}
