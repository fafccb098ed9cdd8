// Checks every answer for breaches of the contract, by rule. Only reports them: the call continues as on the platform.
// Knows no time and no playback, and nothing about the wire except the rules that apply to it.
import { ROUTING_HINT } from '../../contract/limits.ts';
import { startsAsWav } from '../../speech/wav.ts';
import { isClosing, isTerminalEvent, type Answer, type AnswerPrompt } from './answer.ts';
import type { FindingCode } from './finding.ts';
import { GRPC_RULES, type WireRules } from '../lines/wire-rules.ts';

/** What an RPC is for. `speech` carries caller audio, and becomes `dtmf_start` when a key is pressed meanwhile (G-54). */
export type TurnKind = 'session_start' | 'speech' | 'dtmf_start' | 'dtmf' | 'no_input' | 'custom_event' | 'session_end';

/** Kinds of RPCs that may be completed without a reply (G-61, G-75). For custom events, the contract does not say (G-72). */
export const MAY_BE_SILENT: ReadonlySet<TurnKind> = new Set(['dtmf_start', 'session_end', 'custom_event']);

/** Facts about the whole call that a check needs. */
export interface CallMemory {
  /** Set by the first reply audio of the call, and never changed again (G-40). */
  mode: 'wav' | 'chunk' | undefined;
  /** Whether a terminal event was seen on any RPC (G-77, G-7C). */
  hasEnded: boolean;
  readonly allowPartial: boolean;
}

/** Reports a breach: the code of the finding, the rule, and a sentence. */
export type Report = (code: FindingCode, rule: string, message: string) => void;

export class TurnCheck {
  readonly #call: CallMemory;
  readonly #report: Report;
  readonly #wire: WireRules;
  #finals = 0;
  #starts = 0;
  #answers = 0;
  #chunks = 0;

  /** @param wire - the rules that apply to the wire of the call; default those of gRPC. */
  constructor(call: CallMemory, report: Report, wire = GRPC_RULES) {
    this.#call = call;
    this.#report = report;
    this.#wire = wire;
  }

  /** Whether the FINAL that closes the RPC has come. */
  get hasFinal(): boolean {
    return this.#finals > 0;
  }

  /** Whether any answer has come. */
  get hasAnswer(): boolean {
    return this.#answers > 0;
  }

  /** Checks one answer. Call it before the answer changes the call's own state. */
  checkAnswer(kind: TurnKind, answer: Answer): void {
    this.#answers += 1;
    for (const prompt of answer.prompts) this.#checkPrompt(answer, prompt);
    this.#checkMode(answer);
    this.#checkEvents(answer);
    this.#checkPlace(kind, answer);
    if (answer.type === 'partial' && !this.#call.allowPartial) {
      this.#report('partial_not_allowed', this.#wire.rules.partial, 'a PARTIAL came although the request did not allow partial responses');
    }
    if (isClosing(answer)) this.#checkFinal(kind, answer);
    if (isTerminalEvent(answer.event)) this.#call.hasEnded = true;
  }

  /** Checks an RPC that the server completed. `expectsReply`: the caller's input was complete and needs a reply. */
  checkEnd(kind: TurnKind, expectsReply: boolean): void {
    if (!expectsReply || this.hasFinal || MAY_BE_SILENT.has(kind)) return;
    const { welcomeFinal, replyFinal } = this.#wire.rules;
    const rule = kind === 'session_start' ? welcomeFinal : replyFinal;
    this.#report('final_missing', rule, `the turn of ${kind} was completed without a closing FINAL`);
  }

  #checkPrompt({ type, event }: Answer, { audio, text, bargeIn }: AnswerPrompt): void {
    const { hasWavMode, rules } = this.#wire;
    const isWav = startsAsWav(audio);
    if (audio.length > 0 && (type === 'chunk' || !hasWavMode)) this.#checkPiece(audio, isWav);
    if (type === 'chunk' && audio.length > 0 && text !== '') {
      this.#report('text_beside_chunk', 'G-46', 'a CHUNK carries text beside its audio; the platform may speak it too');
    }
    if (type === 'final' && audio.length > 0) {
      if (this.#chunks > 0) this.#report('final_audio_in_chunk_mode', rules.finalAudio, 'the FINAL after a stream of chunks carries audio');
      else if (hasWavMode && !isWav) this.#report('wav_header_missing', 'G-41', 'the audio of a FINAL has no WAV header');
    }
    if (bargeIn && isTerminalEvent(event)) {
      this.#report('barge_in_on_terminal', 'G-55', 'a prompt beside a terminal event may not be interrupted');
    }
    if (this.#call.hasEnded) this.#report('prompt_after_terminal', 'G-7C', 'a prompt came after the terminal event');
  }

  #checkPiece({ length }: Uint8Array, isWav: boolean): void {
    const { minChunkBytes, maxChunkBytes, rules } = this.#wire;
    if (isWav) this.#report('wav_header_in_chunk', rules.header, 'a piece of audio starts with a WAV header; it must be headerless');
    if (length >= minChunkBytes && length <= maxChunkBytes) return;
    this.#report(
      'chunk_size',
      rules.chunkSize,
      `a piece of audio holds ${String(length)} bytes; ${String(minChunkBytes)} to ${String(maxChunkBytes)} are allowed`,
    );
  }

  #checkMode(answer: Answer): void {
    if (!answer.prompts.some((prompt) => prompt.audio.length > 0)) return;
    if (answer.type === 'chunk') this.#chunks += 1;
    const mode = answer.type === 'chunk' ? 'chunk' : answer.type === 'final' && this.#chunks === 0 ? 'wav' : undefined;
    if (mode === undefined || !this.#wire.hasWavMode) return;
    if (this.#call.mode !== undefined && this.#call.mode !== mode) {
      this.#report(
        'mode_switched',
        'G-40',
        `the call began in ${this.#call.mode.toUpperCase()} mode and goes on in ${mode.toUpperCase()} mode`,
      );
    }
    this.#call.mode ??= mode;
  }

  #checkEvents({ event, type }: Answer): void {
    if (event?.kind === 'start_of_input') {
      this.#starts += 1;
      if (this.#starts > 1) this.#report('input_start_repeated', 'G-36', 'START_OF_INPUT came twice for one utterance');
      if (type === 'chunk') this.#report('input_start_as_chunk', 'G-39', 'START_OF_INPUT came as CHUNK, which stops caller audio');
    }
    if (!isTerminalEvent(event)) return;
    if (this.#call.hasEnded) this.#report('second_terminal', 'G-77', 'a second terminal event came in one call');
    const hint = event.metadata['routing_hint'];
    if (hint !== undefined && !(typeof hint === 'string' && ROUTING_HINT.test(hint))) {
      this.#report('routing_hint_invalid', 'G-79', 'routing_hint must be a letter and up to 63 letters, digits, _ or -');
    }
  }

  /** Checks answers that must not come at all, or only without a prompt. */
  #checkPlace(kind: TurnKind, answer: Answer): void {
    // The server may have sent an event about speech before it got the key.
    const mayCross = answer.event?.kind === 'start_of_input' || answer.event?.kind === 'end_of_input';
    if (kind === 'dtmf_start' && !mayCross)
      this.#report('answer_to_key_press', this.#wire.rules.keyPress, 'START_OF_DTMF must be completed without any response');
    if (kind === 'session_end' && answer.prompts.length > 0) {
      const rule = this.#wire.rules.hangUp;
      this.#report('answer_after_hang_up', rule, 'SESSION_END from the caller was answered with a prompt that nobody hears');
    }
  }

  #checkFinal(kind: TurnKind, answer: Answer): void {
    this.#finals += 1;
    const { finalNeedsPrompt, rules } = this.#wire;
    if (this.#finals > 1) this.#report('second_final', rules.secondFinal, 'more than one closing FINAL came for one reply');
    if (finalNeedsPrompt && this.#chunks > 0 && answer.prompts.length === 0) {
      this.#report('final_without_prompt', 'W-25', 'the FINAL of a streamed reply carries no prompt: one with empty audio belongs in it');
    }
    const hasConfig = answer.config !== undefined && answer.isConfigAssumed !== true;
    const hasSettings = answer.mode !== undefined || hasConfig;
    if (isTerminalEvent(answer.event)) {
      if (hasSettings)
        this.#report('terminal_with_input_settings', 'G-78', 'a terminal response carries input_mode or input_handling_config');
    } else if (kind !== 'session_end' && kind !== 'dtmf_start' && (answer.mode === undefined || !hasConfig)) {
      this.#report('input_settings_missing', 'G-80', 'a FINAL that does not end the call must carry input_mode and input_handling_config');
    }
  }
}
