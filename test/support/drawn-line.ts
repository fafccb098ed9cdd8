// Lines drawn frame by frame for tests of the listener: a detector that believes the drawing, and audio of which every
// frame can be told from every other.
import type { SignalEngines } from '../../src/speech/engines.ts';
import { FRAME_BYTES } from './listening.ts';

/** The µ-law code whose sample is the loudest; no other byte of a drawn frame has it. */
const SPEECH_MARK = 0x00;
const SILENCE_MARK = 0xff;

/** Audio in which `#` is a frame of speech and `.` one of none; all its frames differ, `first` numbers the first one. */
export function drawn(picture: string, first = 0): Uint8Array {
  const bytes = new Uint8Array(picture.length * FRAME_BYTES);
  [...picture].forEach((frame, index) => {
    const number = first + index;
    bytes.fill(0x10 + (number % 100), index * FRAME_BYTES, (index + 1) * FRAME_BYTES);
    bytes[index * FRAME_BYTES] = frame === '#' ? SPEECH_MARK : SILENCE_MARK;
    bytes[index * FRAME_BYTES + 1] = 0x10 + Math.floor(number / 100);
  });
  return bytes;
}

/** The numbers of the frames in drawn audio. */
export function framesIn(mulaw: Uint8Array): number[] {
  return Array.from({ length: Math.floor(mulaw.length / FRAME_BYTES) }, (_, index) => {
    const [hundreds, ones] = [mulaw[index * FRAME_BYTES + 1] ?? 0, mulaw[index * FRAME_BYTES + 2] ?? 0];
    return (hundreds - 0x10) * 100 + (ones - 0x10);
  });
}

/** The whole numbers from `first` to `last`. */
export function upTo(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** What detectors of {@link drawingEngines} were asked. */
export interface Asked {
  /** Detectors made and not closed. */
  open: number;
  /** For each frame, whether the caller was speaking already. */
  readonly isHearing: boolean[];
}

/** The engines with detectors that know drawn audio. */
export function drawingEngines(engines: SignalEngines): SignalEngines & { readonly asked: Asked } {
  const asked: Asked = { open: 0, isHearing: [] };
  return {
    ...engines,
    asked,
    createDetector: () => {
      asked.open += 1;
      return {
        isSpeech: (frame, isHearing) => {
          asked.isHearing.push(isHearing);
          return frame[0] === -32_124;
        },
        reset: () => undefined,
        close: () => {
          asked.open -= 1;
        },
      };
    },
  };
}
