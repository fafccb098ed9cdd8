// Tracks the noise level of a line and passes only frames that are clearly louder. Works on the power of frames; the voice
// detector decides whether a sound is a voice.

/**
 * Chosen 2026-11-21 on the corpus of docs/speech.md: the distances with which the gate still opens for speech 5 dB above a
 * steady noise, and does not open for babble 10 dB below the caller.
 */
const GATE = {
  /** A voice must be this far above the floor to open the gate, dB. */
  openDb: 5,
  /** An open gate stays open down to this distance, dB: the ends of words are quieter than their middles. */
  closeDb: 2.5,
  /** The same above the background, which, unlike the floor, includes the loud moments of other people's talk. */
  openAboveBackgroundDb: 5,
  closeAboveBackgroundDb: 2,
  /** A sound below this level is never the caller, however quiet the line, dBFS. */
  leastDbfs: -50,
  /** Lowest floor, dBFS: line silence is digital zero, and noise after it must not seem loud for seconds. */
  leastFloorDbfs: -60,
  /** Highest floor at the start of a line, dBFS; a caller who talks at once is louder. */
  firstFloorDbfs: -25,
  /** Highest background, dBFS: otherwise a caller who talked while nobody listened would not be heard for seconds afterwards. */
  mostBackgroundDbfs: -32,
  /** The same during the first frames of a line, which may be the caller's, dBFS. */
  firstBackgroundDbfs: -35,
  /** Frames before the gate may open at all: for so long the detector takes the start of any noise for a voice. */
  settleFrames: 6,
  /** Frames for which the first background is in doubt: it may have been the caller's voice. */
  doubtFrames: 150,
  /** With the floor this far below the background in that time, dB, the background was a voice, which has pauses. */
  pauseDb: 15,
  /** How fast the floor rises while there is no voice, dB per frame (6 dB a second). */
  riseDb: 0.12,
  /** How fast the floor rises during a voice: hardly, or a long sentence would raise the floor to its own level. */
  riseInVoiceDb: 0.02,
  /** Fraction of the distance that the floor falls in one frame. */
  fall: 0.3,
  /** Fraction of the distance that the background rises in one frame: a tenth of a second of a caller hardly moves it. */
  backgroundRise: 0.03,
  /** How fast the background falls, dB per frame (10 dB a second): pauses in other people's talk are shorter. */
  backgroundFallDb: 0.2,
} as const;

/** Power of full scale: 16-bit samples, squared. */
const FULL_SCALE_POWER = 32_768 ** 2;

/** Mean square of 16-bit samples below which no detector is needed, because it is never the caller: {@link GATE.leastDbfs}. */
export const QUIET_POWER = FULL_SCALE_POWER * 10 ** (GATE.leastDbfs / 10);

/**
 * A gate with two thresholds above each of two levels that it tracks: the floor, to which the line falls in every pause, and the
 * background, which is the loudness while nobody speaks to us, be it babble or the echo of a prompt.
 */
export class LevelGate {
  #levelDbfs = 0;
  #floorDbfs = Number.NaN;
  #backgroundDbfs = GATE.leastFloorDbfs as number;
  #open = false;
  #framesSeen = 0;

  /**
   * Whether the next frame is loud enough to be the caller. Call {@link LevelGate.follow} afterwards.
   *
   * @param power - mean square of the frame's samples.
   * @param isHearing - whether the caller is already speaking: then the background does not change.
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

  /** How far the last frame is above floor and background, dB; negative when it is below. */
  get headroomDb(): number {
    return this.#levelDbfs - Math.max(this.#floorDbfs, this.#backgroundDbfs);
  }

  /** Takes the decision on the last frame. */
  follow(isSpeech: boolean, isHearing: boolean): void {
    this.#open = isSpeech;
    const above = this.#levelDbfs - this.#floorDbfs;
    const step = above < 0 ? above * GATE.fall : Math.min(above, isSpeech ? GATE.riseInVoiceDb : GATE.riseDb);
    this.#floorDbfs = Math.max(this.#floorDbfs + step, GATE.leastFloorDbfs);
    if (!isHearing) this.#followBackground();
  }

  /** Forgets the levels of the line. */
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
      // A level with pauses is a voice, neither noise nor a crowd: the caller was already speaking when the line opened.
      this.#backgroundDbfs = GATE.leastDbfs;
      return;
    }
    const step = above > 0 ? above * GATE.backgroundRise : Math.max(above, -GATE.backgroundFallDb);
    this.#backgroundDbfs = Math.min(this.#backgroundDbfs + step, GATE.mostBackgroundDbfs);
  }
}
