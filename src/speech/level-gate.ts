// Follows the noise of a line and lets only that through which stands out of it. Works on the power of frames; whether a
// sound is a voice, somebody else says.

/**
 * Chosen 2026-11-21 on the corpus of docs/speech.md: the distances that still start on speech 5 dB above a steady noise
 * and do not start on babble 10 dB below the caller.
 */
const GATE = {
  /** A voice must stand this far above the floor to open the gate, dB. */
  openDb: 5,
  /** An open gate stays open down to this distance, dB: the ends of words are quieter than their middles. */
  closeDb: 2.5,
  /** The same above the background, which unlike the floor knows the loud moments of other people's talk. */
  openAboveBackgroundDb: 5,
  closeAboveBackgroundDb: 2,
  /** Nothing below this is the caller, however quiet the line. */
  leastDbfs: -50,
  /** The floor goes no lower: line silence is digital zero, and noise after it must not seem loud for seconds. */
  leastFloorDbfs: -60,
  /** The floor of a line that nothing is known of is at most this; a caller who talks at once is louder. */
  firstFloorDbfs: -25,
  /** The background is at most this, or a caller who talked while nobody listened could not be heard for seconds. */
  mostBackgroundDbfs: -32,
  /** The same on the first frames of a line, which may be the caller's. */
  firstBackgroundDbfs: -35,
  /** Frames before the gate may open at all: the detector takes the start of any noise for a voice that long. */
  settleFrames: 6,
  /** Frames for which the first background is in doubt: it may have been the caller. */
  doubtFrames: 150,
  /** A floor this far below the background within that time, dB: what was taken for background has a voice's pauses. */
  pauseDb: 15,
  /** How fast the floor follows what is no voice, dB per frame (6 dB a second). */
  riseDb: 0.12,
  /** How fast it follows a voice: hardly, or a long sentence would raise the floor to its own level. */
  riseInVoiceDb: 0.02,
  /** The part of the way down that the floor goes in one frame. */
  fall: 0.3,
  /** The part of the way up that the background goes in one frame: a tenth of a second of a caller hardly moves it. */
  backgroundRise: 0.03,
  /** How fast the background falls, dB per frame (10 dB a second): pauses in other people's talk are shorter. */
  backgroundFallDb: 0.2,
} as const;

/** Full scale of 16 bits, squared. */
const FULL_SCALE_POWER = 32_768 ** 2;

/** Mean square of 16-bit samples below which there is no caller, and nothing to ask a detector about: {@link GATE.leastDbfs}. */
export const QUIET_POWER = FULL_SCALE_POWER * 10 ** (GATE.leastDbfs / 10);

/**
 * A gate with two thresholds above two levels that it tracks by itself: the floor, which the line falls to in every pause,
 * and the background, which holds how loud it is while nobody speaks to us, be it babble or the echo of a prompt.
 */
export class LevelGate {
  #levelDbfs = 0;
  #floorDbfs = Number.NaN;
  #backgroundDbfs = GATE.leastFloorDbfs as number;
  #open = false;
  #framesSeen = 0;

  /**
   * Whether the next frame is loud enough to be the caller. {@link LevelGate.follow} must come after it.
   *
   * @param power - mean square of the frame's samples.
   * @param isHearing - the caller is already speaking: the background stays as it was before.
   */
  admits(power: number, isHearing: boolean): boolean {
    // Kept finite for digital silence.
    this.#levelDbfs = 10 * Math.log10(Math.max(power, 1) / FULL_SCALE_POWER);
    if (this.#framesSeen === 0) this.#floorDbfs = Math.min(this.#levelDbfs, GATE.firstFloorDbfs);
    if (this.#framesSeen < GATE.doubtFrames) this.#framesSeen += 1;
    if (this.#framesSeen < GATE.settleFrames || this.#levelDbfs < GATE.leastDbfs) return false;
    return (
      this.#levelDbfs >= this.#floorDbfs + (this.#open ? GATE.closeDb : GATE.openDb) &&
      this.#levelDbfs >= this.#backgroundDbfs + (isHearing ? GATE.closeAboveBackgroundDb : GATE.openAboveBackgroundDb)
    );
  }

  /** How far the frame that was asked about last stands above floor and background, dB; negative when below. */
  get headroomDb(): number {
    return this.#levelDbfs - Math.max(this.#floorDbfs, this.#backgroundDbfs);
  }

  /** Takes the decision on the frame that was asked about last. */
  follow(isSpeech: boolean, isHearing: boolean): void {
    this.#open = isSpeech;
    const above = this.#levelDbfs - this.#floorDbfs;
    const step = above < 0 ? above * GATE.fall : Math.min(above, isSpeech ? GATE.riseInVoiceDb : GATE.riseDb);
    this.#floorDbfs = Math.max(this.#floorDbfs + step, GATE.leastFloorDbfs);
    if (!isHearing) this.#followBackground();
  }

  /** Forgets the line. */
  reset(): void {
    this.#open = false;
    this.#framesSeen = 0;
    this.#backgroundDbfs = GATE.leastFloorDbfs;
  }

  #followBackground(): void {
    const above = this.#levelDbfs - this.#backgroundDbfs;
    if (this.#framesSeen < GATE.settleFrames) {
      this.#backgroundDbfs = Math.min(Math.max(this.#backgroundDbfs, this.#levelDbfs), GATE.firstBackgroundDbfs);
      return;
    }
    if (this.#framesSeen < GATE.doubtFrames && this.#floorDbfs < this.#backgroundDbfs - GATE.pauseDb) {
      // One who speaks pauses, and neither noise nor a crowd does: the caller spoke already when the line opened.
      this.#backgroundDbfs = GATE.leastDbfs;
      return;
    }
    const step = above > 0 ? above * GATE.backgroundRise : Math.max(above, -GATE.backgroundFallDb);
    this.#backgroundDbfs = Math.min(this.#backgroundDbfs + step, GATE.mostBackgroundDbfs);
  }
}
