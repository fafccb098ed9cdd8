// Distinguishes DTMF tones from voices: two pure tones, one of each group, and hardly any other sound. Works on single
// frames.
import { FRAME_SAMPLES, LINE_RATE_HZ } from './audio-format.ts';

/** Frequencies of four tones, Hz; only one of them sounds at a time. */
type Group = readonly [number, number, number, number];

const LOW_GROUP: Group = [factorOf(697), factorOf(770), factorOf(852), factorOf(941)];
const HIGH_GROUP: Group = [factorOf(1209), factorOf(1336), factorOf(1477), factorOf(1633)];
/** The two tones have at least this share of the power: a vowel spreads over all its overtones, a key may be 1.5 % off. */
const TONES_PART = 0.65;
/** Each of the two tones has at least this share: a whistle is one tone. */
const EACH_PART = 0.1;
/**
 * The lowest brightness of a key is 0.06: the lowest tones at their largest difference in level, with a third of the power far below
 * them. Nine in ten frames of recorded sentences are below this limit and skip the filters, which took 1.5 µs.
 */
const LEAST_BRIGHTNESS = 0.05;

/**
 * Whether the frame is the tone of a pressed key.
 *
 * @param frame - 160 samples at 8 kHz.
 * @param power - mean square of the frame.
 * @param brightness - see `HalfRateLine`.
 */
export function isKeyTone(frame: Int16Array, power: number, brightness: number): boolean {
  if (brightness < LEAST_BRIGHTNESS) return false;
  const low = strongest(frame, LOW_GROUP);
  // The lower group alone excludes most speech and noise.
  if (low < power * EACH_PART) return false;
  const high = strongest(frame, HIGH_GROUP);
  return high >= power * EACH_PART && low + high >= power * TONES_PART;
}

function factorOf(hertz: number): number {
  return 2 * Math.cos((2 * Math.PI * hertz) / LINE_RATE_HZ);
}

/** Mean square of the strongest of four tones: Goertzel's algorithm, on all four at once because that takes the time of one. */
function strongest(frame: Int16Array, [a, b, c, d]: Group): number {
  let a1 = 0;
  let a2 = 0;
  let b1 = 0;
  let b2 = 0;
  let c1 = 0;
  let c2 = 0;
  let d1 = 0;
  let d2 = 0;
  for (let index = 0; index < FRAME_SAMPLES; index += 1) {
    const sample = frame[index] ?? 0;
    const nextA = sample - a2 + a * a1;
    const nextB = sample - b2 + b * b1;
    const nextC = sample - c2 + c * c1;
    const nextD = sample - d2 + d * d1;
    a2 = a1;
    b2 = b1;
    c2 = c1;
    d2 = d1;
    a1 = nextA;
    b1 = nextB;
    c1 = nextC;
    d1 = nextD;
  }
  const most = Math.max(
    a1 * a1 + a2 * a2 - a * a1 * a2,
    b1 * b1 + b2 * b2 - b * b1 * b2,
    c1 * c1 + c2 * c2 - c * c1 * c2,
    d1 * d1 + d2 * d2 - d * d1 * d2,
  );
  return (most * 2) / (FRAME_SAMPLES * FRAME_SAMPLES);
}
