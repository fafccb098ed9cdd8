// Plays the two sides of a call together. Each side is a sound of its own, so that either can be left out.
import type { CallView } from '../../src/dialog/call-view.ts';

type Side = 'caller' | 'bot';
/** Sides that are further apart are brought together, s. */
const MOST_APART_S = 0.08;

export class CallSound {
  readonly #sides = new Map<Side, HTMLAudioElement>();
  readonly #listeners = new Set<() => void>();
  /** Grows with a call that goes on. */
  durationMs = 0;
  isPlaying = false;
  #atMs = 0;
  #frame = 0;

  constructor(sound: CallView['sound']) {
    for (const side of ['caller', 'bot'] as const) {
      const href = sound[side]?.href ?? '';
      // A call that goes on may have no sound to play yet.
      if (href === '') continue;
      const audio = new Audio();
      audio.preload = 'none';
      audio.src = href;
      this.#sides.set(side, audio);
    }
  }

  get hasSound(): boolean {
    return this.#sides.size > 0;
  }

  /** Whether no side can be played: it is missing, or listening is not allowed. Known after the first attempt. */
  get hasFailed(): boolean {
    return this.hasSound && [...this.#sides.values()].every(({ error }) => error !== null);
  }

  get atMs(): number {
    return this.#atMs;
  }

  /** Calls `listener` whenever the position or what is played changes. @returns what ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** @throws never; what the browser does not play stays silent. */
  play(): void {
    if (!this.hasSound || this.isPlaying) return;
    if (this.#atMs >= this.durationMs) this.#atMs = 0;
    this.isPlaying = true;
    for (const audio of this.#sides.values()) {
      audio.currentTime = this.#atMs / 1000;
      void audio.play().catch(() => undefined);
    }
    this.#frame = requestAnimationFrame(() => {
      this.#follow();
    });
    this.#changed();
  }

  pause(): void {
    this.isPlaying = false;
    cancelAnimationFrame(this.#frame);
    for (const audio of this.#sides.values()) audio.pause();
    this.#changed();
  }

  toggle(): void {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  seek(atMs: number): void {
    this.#atMs = Math.min(Math.max(0, atMs), this.durationMs);
    if (this.isPlaying) for (const audio of this.#sides.values()) audio.currentTime = this.#atMs / 1000;
    this.#changed();
  }

  mute(side: Side, isMuted: boolean): void {
    const audio = this.#sides.get(side);
    if (audio !== undefined) audio.muted = isMuted;
    this.#changed();
  }

  isMuted(side: Side): boolean {
    return this.#sides.get(side)?.muted ?? true;
  }

  close(): void {
    this.pause();
    this.#listeners.clear();
  }

  #follow(): void {
    const playing = [...this.#sides.values()].filter(({ ended, error }) => !ended && error === null);
    const [leader, ...others] = playing;
    if (leader === undefined) {
      if (!this.hasFailed) this.#atMs = this.durationMs;
      this.pause();
      return;
    }
    for (const other of others) if (Math.abs(other.currentTime - leader.currentTime) > MOST_APART_S) other.currentTime = leader.currentTime;
    this.#atMs = Math.min(leader.currentTime * 1000, this.durationMs);
    this.#changed();
    this.#frame = requestAnimationFrame(() => {
      this.#follow();
    });
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
