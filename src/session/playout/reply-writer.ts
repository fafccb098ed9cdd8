// Turns prompts into outputs and delivers them: the only code that waits for a slow reader. An interrupted turn gets
// its final message but no more audio. Knows nothing of bots.
import { waitAtMost } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import type { FinalNext, PromptAudio, SpokenPrompt } from '../../dialog/output.ts';
import type { Prompt, Reply, VoiceChoice } from '../../dialog/reply.ts';
import type { Conversation } from '../conversation.ts';
import type { EngineParts } from '../parts.ts';
import { MS_PER_CHARACTER } from './played-prompt.ts';
import type { Cut } from './playout.ts';
import type { EngineSettings } from '../settings.ts';
import { isStreamed, Pieces, spokenBy, TurnSounds, type Sounds } from './sound.ts';
import type { Turn } from '../turn/turn.ts';

export interface ReplyWriterOptions extends Pick<EngineParts, 'voice' | 'clock' | 'hurry'> {
  readonly turn: Turn;
  readonly conversation: Pick<Conversation, 'mode' | 'playout' | 'leaving'>;
  /** The bot's choice of voice and language, for texts without one of their own. */
  readonly speaks: VoiceChoice;
  /** `slowReaderMs` limits each wait for the client, `maxFarewellMs` the wait for the end of the farewell (G-7A). */
  readonly settings: Pick<EngineSettings, 'slowReaderMs' | 'maxFarewellMs'>;
  /** Called when the first audio of this turn was sent. @param synthesisMs - time waited for sounds until then. */
  readonly onFirstAudio: (synthesisMs: number) => void;
}

/** Assumed length of an unplayable recording, ms, so that a handler that yields such recordings without end is limited. */
const LOST_MS = 1000;

/** Writes the reply of one turn. */
export class ReplyWriter {
  readonly #options: ReplyWriterOptions;
  /**
   * Prompts that travel with the final: all in WAV mode (G-41); in chunk mode those without audio (G-43) and texts
   * after them, which would otherwise play first (G-22).
   */
  readonly #withFinal: SpokenPrompt[] = [];
  readonly #sounds: TurnSounds;
  #hasBegun = false;
  #hasSpoken = false;
  #hasSaid = false;
  /** Whether any prompt in {@link #withFinal} has audio. */
  #holdsSound = false;
  /** Whether a prompt had neither audio nor text. */
  #hasLost = false;
  #lastBargeIn = false;
  #heldMs = 0;
  /** Time waited for sounds before the first audio, ms, without the wait that began at {@link #waitingSinceMs}. */
  #waitedMs = 0;
  #waitingSinceMs: number | undefined;

  readonly #saidTexts: string[] = [];

  constructor(options: ReplyWriterOptions) {
    this.#options = options;
    this.#sounds = new TurnSounds(options.voice, options.clock, options.speaks);
  }

  /** Whether the caller hears something of the reply, or the platform has got the next step. */
  get hasSaid(): boolean {
    return this.#hasSaid;
  }

  /** Length of delivered audio that the caller has still to hear, ms. */
  get soundingMs(): number {
    const { conversation, clock } = this.#options;
    return conversation.playout.remainingMs(clock.monotonicMs());
  }

  /** Length of the prompts that are heard only with the final, ms; estimated for texts without audio. */
  get heldMs(): number {
    return this.#heldMs;
  }

  /** The texts of the prompts so far. */
  get saidTexts(): readonly string[] {
    return this.#saidTexts;
  }

  /** Requests the sounds of prompts that will be spoken later. @param unwanted - stops the requests. */
  ask(prompts: readonly Prompt[], unwanted: AbortSignal): Sounds {
    return this.#sounds.ask(prompts, unwanted);
  }

  /** Requests the sounds of the reply that will be passed to {@link ReplyWriter.finish}. */
  prepare({ prompts, next }: Reply): void {
    const { turn } = this.#options;
    this.#sounds.prepare(prompts, (next.kind === 'listen' ? turn.wanted : turn.over).signal);
  }

  /**
   * Delivers prompts before the final; in WAV mode keeps them for the final.
   *
   * @param unwanted - stops the delivery; default: the interruption of the turn.
   * @param sounds - of {@link ReplyWriter.ask}; default: requested now.
   * @throws AppError `slow_reader`.
   */
  speak(prompts: readonly Prompt[], unwanted = this.#options.turn.wanted.signal, sounds?: Sounds): Promise<void> {
    return this.#speak(prompts, unwanted, false, sounds);
  }

  /**
   * Plays a prompt while the turn has delivered nothing else. Only with ready audio, and only when prompts travel before
   * the final.
   *
   * @returns whether the prompt was delivered.
   */
  interject(prompt: Prompt): boolean {
    const { turn, voice, clock, speaks } = this.#options;
    const { mode, playout } = this.#options.conversation;
    if (mode === 'wav' || this.#hasBegun || turn.wanted.isAborted) return false;
    const sound = voice.render(spokenBy(prompt, speaks), turn.wanted.signal);
    if (sound === undefined || sound instanceof Promise || isStreamed(sound)) return false;
    const spoken = { ...contentOf(prompt), audio: sound, isFiller: true } as const;
    const nowMs = clock.monotonicMs();
    // The filler is a reply of its own here, so that a cut filler does not count as a cut reply.
    playout.begin(nowMs);
    playout.queued(spoken, nowMs);
    this.#lastBargeIn = spoken.bargeIn;
    turn.write({ kind: 'prompt', prompt: spoken }, false);
    return true;
  }

  /**
   * Whether a reply with prompts cannot be heard: none of its prompts, early ones included, has audio or text. Waits only if no prompt
   * is a text.
   */
  async isMute(prompts: readonly Prompt[]): Promise<boolean> {
    if (this.#hasBegun || prompts.some(({ kind }) => kind === 'text')) return false;
    return prompts.length === 0 ? this.#hasLost : this.#sounds.areMute(prompts, this.#options.turn.wanted.signal);
  }

  /** Resumes a reply that was cut. @throws AppError `slow_reader`. */
  async resume(cut: Cut): Promise<void> {
    const { turn, conversation, clock } = this.#options;
    const unwanted = turn.wanted.signal;
    if (unwanted.aborted) return;
    this.#hasBegun = true;
    conversation.playout.resume(cut, clock.monotonicMs());
    for (const prompt of cut.rest) if (isWanted(unwanted)) await this.#say(prompt, unwanted);
  }

  /**
   * Delivers the rest of the reply and the turn's only FINAL (G-14, G-43).
   *
   * @param isTerminal - whether the caller cannot cut these prompts, and hears them even after a barge-in (G-55); then the final
   * waits until everything before it was heard (G-7A).
   * @param isApology - see {@link Output}.
   * @returns whether the final was sent; false when the turn was over, or when the final would listen on a call that the
   * server is ending.
   * @throws AppError `slow_reader`.
   */
  async finish(prompts: readonly Prompt[], next: FinalNext, isTerminal: boolean, isApology = false): Promise<boolean> {
    const { turn, conversation, clock } = this.#options;
    const { mode, playout } = conversation;
    const unwanted = isTerminal ? turn.over.signal : turn.wanted.signal;
    await this.#speak(prompts, unwanted, isTerminal);
    if (isTerminal) await this.#untilHeard();
    if (turn.over.isAborted || (!isTerminal && conversation.leaving !== undefined)) return false;
    const kept = unwanted.aborted ? [] : isTerminal ? this.#withFinal.map(uncuttable) : this.#withFinal;
    if (!unwanted.aborted) this.#begin();
    for (const prompt of kept) playout.queued(prompt, clock.monotonicMs());
    if (this.#holdsSound && !unwanted.aborted) this.#spoken();
    // Nothing follows, so the client is not awaited.
    this.#hasSaid ||= !unwanted.aborted;
    const bargeIn = this.#lastBargeIn && !isTerminal;
    turn.write({ kind: 'final', mode, prompts: kept, next, bargeIn, ...(isApology && { isApology }) });
    // When the queue exceeds its limit, the wire refuses even the final.
    return !turn.over.isAborted;
  }

  // Waits only for sound that was sent before the final: prompts in a final play before the platform ends or transfers the call.
  async #untilHeard(): Promise<void> {
    const { turn, conversation, clock, settings, hurry } = this.#options;
    const remainingMs = Math.min(conversation.playout.remainingMs(clock.monotonicMs()), settings.maxFarewellMs);
    if (remainingMs <= 0 || hurry.aborted) return;
    let stopWaiting: () => void = () => undefined;
    const hurried = new Promise<void>((resolve) => {
      stopWaiting = resolve;
    });
    hurry.addEventListener('abort', stopWaiting);
    await waitAtMost(hurried, remainingMs, clock, turn.over.signal);
    hurry.removeEventListener('abort', stopWaiting);
  }

  async #speak(prompts: readonly Prompt[], unwanted: AbortSignal, isTerminal: boolean, asked?: Sounds): Promise<void> {
    const { turn, clock } = this.#options;
    const lastProtected = isTerminal ? prompts.length : prompts.findLastIndex(({ bargeIn }) => !bargeIn);
    const sinceMs = (this.#waitingSinceMs = clock.monotonicMs());
    // All sounds are requested at once, so that the second is ready when the first was sent.
    const sounds = asked ?? this.#sounds.ask(prompts, unwanted);
    for (const [index, prompt] of prompts.entries()) {
      turn.holdsFloor = index <= lastProtected;
      // Bounded here as well, because the next input must not wait for audio that is no longer wanted.
      const sound = await this.#sounds.ready(prompt, sounds[index], unwanted);
      if (unwanted.aborted) break;
      await this.#sound(isTerminal ? uncuttable(prompt) : prompt, sound, unwanted);
    }
    turn.holdsFloor = false;
    this.#waitedMs += clock.monotonicMs() - sinceMs;
    this.#waitingSinceMs = undefined;
  }

  async #sound(prompt: Prompt, sound: PromptAudio | Pieces | undefined, unwanted: AbortSignal): Promise<void> {
    const spoken = contentOf(prompt);
    if (!(sound instanceof Pieces)) {
      await this.#say({ ...spoken, audio: sound }, unwanted);
      return;
    }
    try {
      if (this.#isBehindText(spoken.text)) await this.#say({ ...spoken, audio: undefined }, unwanted);
      else if (this.#options.conversation.mode === 'wav') await this.#sayWhole(spoken, sound, unwanted);
      else await this.#sayPieces(spoken, sound, unwanted);
    } finally {
      sound.close();
      if (sound.isLate) this.#sounds.giveUp(prompt);
    }
  }

  async #sayWhole(spoken: Content, pieces: Pieces, unwanted: AbortSignal): Promise<void> {
    const audio = await pieces.whole();
    await this.#say({ ...spoken, audio, ...(pieces.breaksOff && audio !== undefined && { breaksOff: true }) }, unwanted);
  }

  async #sayPieces(spoken: Content, pieces: Pieces, unwanted: AbortSignal): Promise<void> {
    const first = await pieces.next();
    if (unwanted.aborted) return;
    const { turn, conversation, clock } = this.#options;
    const { playout } = conversation;
    const said = this.#say({ ...spoken, audio: first }, unwanted);
    // Set before the client is awaited.
    if (first !== undefined) playout.unfinished();
    await said;
    if (first === undefined) return;
    // A piece may arrive at the moment of the interruption.
    for (let audio = await pieces.next(); audio !== undefined && isWanted(unwanted); audio = await pieces.next()) {
      playout.extended(audio, clock.monotonicMs());
      // The text went with the first piece.
      if (!turn.write({ kind: 'prompt', prompt: { audio, text: undefined, bargeIn: spoken.bargeIn, goesOn: true } }))
        await this.#drained(unwanted);
    }
    if (isWanted(unwanted) && !pieces.breaksOff) playout.finished();
  }

  async #say(prompt: SpokenPrompt, unwanted: AbortSignal): Promise<void> {
    // An unplayable recording has no text to fall back on.
    if (prompt.audio === undefined && prompt.text === undefined) {
      this.#hasLost = true;
      this.#heldMs += LOST_MS;
      return;
    }
    if (prompt.text !== undefined) this.#saidTexts.push(prompt.text);
    if (!isSounding(prompt) || this.#options.conversation.mode === 'wav') {
      this.#hold(prompt);
      return;
    }
    if (this.#isBehindText(prompt.text)) {
      this.#hold({ ...prompt, audio: undefined });
      return;
    }
    this.#begin();
    this.#spoken();
    if (!this.#write(prompt)) await this.#drained(unwanted);
  }

  #hold(prompt: SpokenPrompt): void {
    this.#begin();
    this.#holdsSound ||= prompt.audio !== undefined;
    this.#withFinal.push(prompt);
    this.#heldMs += prompt.audio?.durationMs ?? (prompt.text ?? '').length * MS_PER_CHARACTER;
  }

  /** Whether a prompt must wait behind texts for the final. A recording without a text cannot: in chunk mode a final has no audio. */
  #isBehindText(text: string | undefined): boolean {
    return this.#options.conversation.mode === 'chunk' && text !== undefined && this.#withFinal.length > 0;
  }

  #write(prompt: SpokenPrompt & { readonly audio: PromptAudio }): boolean {
    this.#lastBargeIn = prompt.bargeIn;
    const { turn, conversation, clock } = this.#options;
    conversation.playout.queued(prompt, clock.monotonicMs());
    return turn.write({ kind: 'prompt', prompt });
  }

  /** Starts this reply in the playout. */
  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#options.conversation.playout.begin(this.#options.clock.monotonicMs());
  }

  #spoken(): void {
    if (this.#hasSpoken) return;
    this.#hasSpoken = true;
    this.#hasSaid = true;
    const nowMs = this.#options.clock.monotonicMs();
    this.#options.onFirstAudio(this.#waitedMs + nowMs - (this.#waitingSinceMs ?? nowMs));
  }

  async #drained(unwanted: AbortSignal): Promise<void> {
    const { turn, conversation, clock, settings } = this.#options;
    const drained = new Promise<void>((resolve) => {
      turn.onceDrained(resolve);
    });
    const waited = await waitAtMost(drained, settings.slowReaderMs, clock, unwanted);
    if (waited.kind === 'timeout') {
      conversation.playout.dropped();
      const limitMs = settings.slowReaderMs;
      throw new AppError('slow_reader', 'the client did not read its prompts in time', { details: { limitMs } });
    }
  }
}

/** A function, because the compiler would assume that `aborted` does not change during an await. */
function isWanted(unwanted: AbortSignal): boolean {
  return !unwanted.aborted;
}

function isSounding(prompt: SpokenPrompt): prompt is SpokenPrompt & { readonly audio: PromptAudio } {
  return prompt.audio !== undefined;
}

type Content = Pick<SpokenPrompt, 'text' | 'file' | 'bargeIn'>;

function contentOf(prompt: Prompt): Content {
  const { kind, bargeIn } = prompt;
  return { text: kind === 'text' ? prompt.text : undefined, bargeIn, ...(kind === 'file' && { file: prompt.file }) };
}

function uncuttable<P extends { readonly bargeIn: boolean }>(prompt: P): P {
  return prompt.bargeIn ? { ...prompt, bargeIn: false } : prompt;
}
