// A synthesizer that calls a speech service over HTTP and streams its audio. Never logs or quotes a text. Retries and
// deadlines are in base/http-service.
import { createHash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { RequestFailure } from '../../base/http-exchange.ts';
import { HttpService, type HttpServiceOptions, type ServiceAnswer } from '../../base/http-service.ts';
import type { CreateResampler } from '../../speech/resample.ts';
import type { Speech } from '../../dialog/reply.ts';
import type { Synthesizer } from '../synthesizer.ts';
import { SpeechStream } from './speech-stream.ts';
import { MAX_TEXT_CHARS } from './spoken-text.ts';
import { VoiceLevel } from './voice-level.ts';
import { voiceOf, type ConfiguredVoices } from './voice-of.ts';

/** Raise this when the same response sounds different: another loudness, other pauses. */
const SOUND_REVISION = 1;
/** Largest response, bytes: the longest prompt at 48 kHz in stereo. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const NORMAL_SPEED_PERCENT = 100;

export interface HttpVoice extends ConfiguredVoices {
  /** Address of the service; see `isServiceAddress`. */
  readonly url: string;
  readonly model: string;
  /** The requested format: raw 16-bit samples or a WAV file. A WAV file is always recognized. */
  readonly format: 'pcm' | 'wav';
  /** Rate of raw samples, Hz; 24,000 by convention. */
  readonly rateHz: number;
  readonly speedPercent: number;
  /** Whether the service takes SSML in place of a text. */
  readonly ssml?: boolean;
}

export interface HttpSynthesizerOptions
  extends HttpVoice, Pick<HttpServiceOptions, 'key' | 'timeoutMs' | 'firstByteMs' | 'clock' | 'observer'> {
  readonly createResampler: CreateResampler;
}

/** Identifies the sound of a text for the cache; does not contain the API key. */
export function httpSoundName(speech: Speech, configured: HttpVoice): string {
  const { url, model, format, rateHz, speedPercent, ssml = false } = configured;
  const tagged = ssml && speech.ssml !== undefined ? [speech.ssml] : [];
  const sound = JSON.stringify([url, model, voiceOf(speech, configured) ?? null, format, rateHz, speedPercent, ...tagged]);
  return `http-${createHash('sha256').update(sound).digest('hex').slice(0, 16)}-${String(SOUND_REVISION)}`;
}

/** Synthesizes with `POST {url}/audio/speech`. The creator closes it. */
export class HttpSynthesizer implements Synthesizer {
  readonly speaksInPieces = true;
  readonly #options: HttpSynthesizerOptions;
  readonly #service: HttpService;
  readonly #level = new VoiceLevel();

  constructor(options: HttpSynthesizerOptions) {
    const { url, key, timeoutMs, firstByteMs, clock, observer } = options;
    this.#options = options;
    this.#service = new HttpService({
      ...{ url, key, timeoutMs, firstByteMs, clock, maxAnswerBytes: MAX_ANSWER_BYTES },
      ...{ name: 'the speech service', code: 'synthesis_failed' },
      ...(observer === undefined ? {} : { observer }),
    });
  }

  /** See {@link Synthesizer.speak}. The time limit does not apply while the service delivers audio at least in real time. */
  async speak(speech: Speech, signal: AbortSignal, onPiece?: (mulaw: Uint8Array) => void): Promise<Uint8Array> {
    demandSpeakable(speech.text);
    const { model, format, speedPercent, ssml = false } = this.#options;
    const voice = voiceOf(speech, this.#options);
    const body = JSON.stringify({
      ...{ model, input: (ssml ? speech.ssml : undefined) ?? speech.text, response_format: format },
      ...(voice === undefined ? {} : { voice }),
      ...(speedPercent === NORMAL_SPEED_PERCENT ? {} : { speed: speedPercent / NORMAL_SPEED_PERCENT }),
    });
    // A compressing proxy would delay the first bytes.
    const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' };
    return this.#service.ask({ path: '/audio/speech', headers, body }, signal, (answer) => this.#hear(answer, onPiece));
  }

  /** Aborts open requests. */
  close(): Promise<void> {
    return this.#service.close();
  }

  async #hear(answer: ServiceAnswer, onPiece?: (mulaw: Uint8Array) => void): Promise<Uint8Array> {
    if (/^text\/|json|xml|html/u.test(answer.contentType))
      throw new RequestFailure('bad_answer', 'answered with something that is not audio');
    const { rateHz, createResampler, clock, timeoutMs } = this.#options;
    const stream = new SpeechStream({
      ...{ rateHz, createResampler, level: this.#level, clock },
      onPiece: (piece) => {
        if (onPiece === undefined) return;
        answer.passedOn();
        onPiece(piece);
      },
    });
    try {
      for await (const chunk of answer.chunks) {
        stream.push(chunk);
        answer.allow(timeoutMs + stream.arrivedMs);
      }
      const whole = stream.end();
      if (whole.length === 0) throw new RequestFailure('bad_answer', 'answered without any audio');
      return whole;
    } finally {
      stream.close();
    }
  }
}

function demandSpeakable(text: string): void {
  const details = { chars: text.length };
  if (text.length > MAX_TEXT_CHARS) {
    throw new AppError('synthesis_failed', `a text of more than ${String(MAX_TEXT_CHARS)} characters is not spoken`, { details });
  }
  if (!/[\p{L}\p{N}]/u.test(text)) throw new AppError('synthesis_failed', 'the text contains no letter or digit', { details });
}
