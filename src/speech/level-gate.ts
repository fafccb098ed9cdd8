// Follows the noise floor of a line and lets a voice through only where it stands out of it. Works on the power of
// frames; whether a sound is a voice, somebody else says.

/**
 * Chosen 2026-11-21 on 36 synthesized utterances of six voices in white and pink noise, hum and babble
 * (docs/decisions/003): the widest distances that still start on speech 10 dB above the noise.
 */
const GATE = {
  /** A voice must stand this far above the floor to open the gate, dB. */
  openDb: 7,
  /** An open gate stays open down to this distance, dB: the ends of words are quieter than their middles. */
  closeDb: 4,
  /** Nothing below this is the caller, however quiet the line. */
  leastDbfs: -50,
  /** The floor goes no lower: line silence is digital zero, and noise after it must not seem loud for seconds. */
  leastFloorDbfs: -60,
  /** The floor of a line that nothing is known of is at most this; a caller who talks at once is louder. */
  firstFloorDbfs: -25,
  /** Frames before the gate may open at all: the detector takes the start of any noise for a voice that long. */
  settleFrames: 6,
  /** How fast the floor follows what is no voice, dB per frame (6 dB a second). */
  riseDb: 0.12,
  /** How fast it follows a voice: hardly, or a long sentence would raise the floor to its own level. */
  riseInVoiceDb: 0.02,
  /** The part of the way down that the floor goes in one frame. */
  fall: 0.3,
} as const;

/** Full scale of 16 bits, squared. */
const FULL_SCALE_POWER = 32_768 ** 2;

/** Mean square of 16-bit samples below which there is no caller and nothing to ask a detector about (−60 dBFS). */
export const QUIET_POWER = FULL_SCALE_POWER * 1e-6;

/** Mean square of the samples. */
export function meanSquare(samples: Int16Array): number {
  // Counted, because an iterator takes four times as long and this runs on every frame.
  const { length } = samples;
  let sum = 0;
  for (let index = 0; index < length; index += 1) {
    const sample = samples[index] ?? 0;
    sum += sample * sample;
  }
  return sum / length;
}

/** A gate with two thresholds above a floor that it tracks by itself. */
export class LevelGate {
  #floorDbfs = Number.NaN;
  #open = false;
  #framesSeen = 0;

  /**
   * Whether the next frame is the caller speaking.
   *
   * @param power - {@link meanSquare} of the frame.
   * @param isVoice - what the detector says of it.
   */
  passes(power: number, isVoice: boolean): boolean {
    // Kept finite for digital silence.
    const level = 10 * Math.log10(Math.max(power, 1) / FULL_SCALE_POWER);
    if (this.#framesSeen === 0) this.#floorDbfs = Math.min(level, GATE.firstFloorDbfs);
    if (this.#framesSeen < GATE.settleFrames) this.#framesSeen += 1;
    const isSettled = this.#framesSeen === GATE.settleFrames;
    const above = level - this.#floorDbfs;
    this.#open = isVoice && isSettled && level >= GATE.leastDbfs && above >= (this.#open ? GATE.closeDb : GATE.openDb);
    this.#follow(above);
    return this.#open;
  }

  /** Forgets the line. */
  reset(): void {
    this.#open = false;
    this.#framesSeen = 0;
  }

  #follow(above: number): void {
    const step = above < 0 ? above * GATE.fall : Math.min(above, this.#open ? GATE.riseInVoiceDb : GATE.riseDb);
    this.#floorDbfs = Math.max(this.#floorDbfs + step, GATE.leastFloorDbfs);
  }
}
