// What one call of the load writes on its WebSocket, ready to go: frames that are masked as a client's must be, in which only the
// number and the sound change. Building and masking them anew would cost the load as much as reading them costs the server.
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../src/speech/audio-format.ts';
import { turnSound, type CallName } from './traffic.ts';

/** Any mask but nothing, which servers need not take off. */
const MASK = [0x37, 0xfa, 0x21, 0x3d] as const;
/** All numbers of a call's frames have seven digits. */
const FIRST_NUMBER = 1_000_000;
const DIGITS = 7;
/** Before the payload: opcode, length in two bytes, mask. */
const HEAD_BYTES = 8;

/** A message with one frame of caller audio. */
export interface AudioFrame {
  /** The whole frame; the next one is made in the same bytes. */
  readonly bytes: Buffer;
  /** Fills in what changes. @param index - of the frame in the call, from 0. */
  fill(index: number): void;
}

/** The first message of a call. */
export function startFrame(call: CallName): Buffer {
  return masked(envelope(call, 1, { event_input: { event_type: 'SESSION_START' } }));
}

/** The last one. */
export function endFrame(call: CallName, frames: number): Buffer {
  return masked(envelope(call, FIRST_NUMBER + frames, { event_input: { event_type: 'SESSION_END' } }));
}

/** Every later message of a call. @param offset - the frame of the sound that it begins with. */
export function audioFrame(call: CallName, offset: number): AudioFrame {
  const empty = Buffer.alloc(FRAME_SAMPLES).toString('base64');
  const audio = { encoding: 'MULAW_FORMAT', sample_rate_hertz: LINE_RATE_HZ, caller_audio_b64: empty };
  const text = envelope(call, FIRST_NUMBER, { audio_input: audio });
  const audioAt = text.indexOf(empty);
  const numberAt = text.indexOf(String(FIRST_NUMBER));
  const sounds = soundsAt(audioAt % MASK.length);
  const bytes = masked(text);
  return {
    bytes,
    fill: (index) => {
      sounds[(offset + index) % sounds.length]?.copy(bytes, HEAD_BYTES + audioAt);
      let rest = FIRST_NUMBER + index;
      for (let digit = DIGITS - 1; digit >= 0; digit -= 1) {
        const at = numberAt + digit;
        bytes[HEAD_BYTES + at] = (0x30 + (rest % 10)) ^ (MASK[at % MASK.length] ?? 0);
        rest = Math.floor(rest / 10);
      }
    },
  };
}

/** Frames of the sound of one turn. */
export const SOUND_FRAMES = turnSound().length / FRAME_SAMPLES;

const known = new Map<number, readonly Buffer[]>();

/** The sound of a turn frame by frame, as Base64 that is masked for its place: made once for all calls. */
function soundsAt(phase: number): readonly Buffer[] {
  const sound = turnSound();
  const made =
    known.get(phase) ??
    Array.from({ length: SOUND_FRAMES }, (_, index) => {
      const text = Buffer.from(sound.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES)).toString('base64');
      return underMask(Buffer.from(text), phase);
    });
  known.set(phase, made);
  return made;
}

function envelope({ conversationId: conversation_id, organizationId, agentId }: CallName, seq: number, input: object): string {
  const payload = { conversation_id, customer_org_id: organizationId, virtual_agent_id: agentId, voice_va_input_type: input };
  return JSON.stringify({ type: 'VOICE_VA_REQUEST', seq, ts: '2026-01-01T00:00:00.000Z', conversation_id, payload });
}

/** A text message of 126 to 65,535 bytes as one frame. */
function masked(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.from([0x81, 0x80 | 126, 0, 0, ...MASK]);
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, underMask(payload, 0)]);
}

function underMask(payload: Buffer, phase: number): Buffer {
  return Buffer.from(payload.map((byte, index) => byte ^ (MASK[(phase + index) % MASK.length] ?? 0)));
}
