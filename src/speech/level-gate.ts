// Follows the noise floor of a line and says when a sound stands out of it. Works on the power of frames; what the
// sound is, somebody else tells.

/**
 * The settings of {@link LevelGate}, in dB, dB per 20 ms frame, dBFS, and frames.
 */
const GATE = {
  /** A voice must stand this far above the floor to open the gate. */
  openDb: 9,
  /** An open gate stays open down to this distance: the ends of words are quieter than their middles. */
  closeDb: 5,
  /** Frames that an open gate stays open on level alone, while the detector hears no voice in them. */
  carryFrames: 8,
  /** Nothing below this is the caller, however quiet the line. */
  leastDbfs: -48,
  /** The floor of a line nothing is known of is at most this. */
  firstFloorDbfs: -45,
  /** How fast the floor follows a sound that is no voice. */
  riseDb: 0.12,
  /** How fast it follows a voice: hardly, or a long sentence would raise the floor to its own level. */
  riseInVoiceDb: 0.02,
  /** The part of the way down that the floor goes in one frame. */
  fall: 0.3,
} as const;

/** Full scale of 16 bits, squared. */
const FULL_SCALE_POWER = 32_768 ** 2;
/** What counts as digital silence; keeps the logarithm finite. */
const LEAST_POWER = 1;

/** Mean square of 16-bit samples below which no caller is heard (−60 dBFS). */
export const QUIET_POWER = FULL_SCALE_POWER * 1e-6;

/** Mean square of the samples. */
export function meanSquare(samples: Int16Array): number {
  let sum = 0;
  for (let index = 0; index < samples.length; index += 1) {
    const sample = samples[index] ?? 0;
    sum += sample * sample;
  }
  return sum / samples.length;
}

/** A gate with two thresholds above a floor that it tracks by itself. Open means: the caller is speaking. */
export class LevelGate {
  #floorDbfs = Number.NaN;
  #open = false;
  #carried = 0;

  /**
   * @param power - {@link meanSquare} of the next frame.
   * @param isVoice - what the detector says of it.
   */
  isOpen(power: number, isVoice: boolean): boolean {
    const level = 10 * Math.log10(Math.max(power, LEAST_POWER) / FULL_SCALE_POWER);
    if (Number.isNaN(this.#floorDbfs)) this.#floorDbfs = Math.min(level, GATE.firstFloorDbfs);
    const above = level - this.#floorDbfs;
    this.#open = level >= GATE.leastDbfs && (this.#open ? this.#staysOpen(above, isVoice) : isVoice && above >= GATE.openDb);
    this.#follow(above);
    return this.#open;
  }

  /** Forgets the floor. */
  reset(): void {
    this.#floorDbfs = Number.NaN;
    this.#open = false;
  }

  #staysOpen(above: number, isVoice: boolean): boolean {
    this.#carried = isVoice ? 0 : this.#carried + 1;
    return above >= GATE.closeDb && this.#carried <= GATE.carryFrames;
  }

  #follow(above: number): void {
    if (above < 0) this.#floorDbfs += above * GATE.fall;
    else this.#floorDbfs += Math.min(above, this.#open ? GATE.riseInVoiceDb : GATE.riseDb);
  }
}
