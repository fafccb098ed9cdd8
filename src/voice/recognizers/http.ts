// A recognizer that calls a speech service over HTTP: one upload per utterance, WAV in, JSON with a text out. Never
// logs or quotes what was said. Retries and deadlines are in base/http-service.
import { RequestFailure } from '../../base/http-exchange.ts';
import { HttpService, type HttpServiceOptions, type ServiceAnswer } from '../../base/http-service.ts';
import { parseJson } from '../../base/json.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { Expected, Recognizer } from '../../session/ports.ts';
import { primarySubtag } from '../../dialog/languages.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { decodeMulaw } from '../../speech/g711.ts';
import { pcmWav } from '../../speech/wav.ts';

/** Longest accepted text, bytes of UTF-8. */
const MAX_TEXT_BYTES = 4096;
/** Largest response, bytes: the longest text with every character escaped, and other fields. */
const MAX_ANSWER_BYTES = 65_536;

export interface HttpRecognizerOptions extends Pick<HttpServiceOptions, 'url' | 'key' | 'timeoutMs' | 'clock' | 'observer'> {
  readonly model: string;
  /** The language of callers whose language nobody names, as the service spells it (`en`); undefined: the service detects it. */
  readonly language: string | undefined;
  /** Likely words, sent to the service; undefined: none. */
  readonly prompt: string | undefined;
}

/** Recognizes utterances with `POST {url}/audio/transcriptions`. The creator closes it. */
export class HttpRecognizer implements Recognizer {
  readonly #service: HttpService;
  readonly #language: string | undefined;
  readonly #prompt: string | undefined;
  readonly #fields: readonly (readonly [name: string, value: string])[];

  constructor({ model, language, prompt, ...service }: HttpRecognizerOptions) {
    this.#service = new HttpService({
      ...service,
      name: 'the recognition service',
      code: 'recognition_failed',
      // The response begins when the work is done, so the first byte has no separate deadline.
      firstByteMs: service.timeoutMs,
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
    this.#language = language;
    this.#prompt = prompt;
    this.#fields = [
      ['model', model],
      ['response_format', 'json'],
    ];
  }

  /**
   * @returns the trimmed text, or undefined when it is empty or `signal` aborts (which ends the request).
   * @throws AppError `recognition_failed`, without the service's response.
   */
  async recognize(utterance: Utterance, signal: AbortSignal, { language: tag, hints = [] }: Expected = {}): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    const form = new FormData();
    // Such services know languages without regions.
    const language = tag === undefined ? this.#language : primarySubtag(tag);
    if (language !== undefined) form.append('language', language);
    const prompt = [...hints, ...(this.#prompt === undefined ? [] : [this.#prompt])].join(', ');
    if (prompt !== '') form.append('prompt', prompt);
    for (const [name, value] of this.#fields) form.append(name, value);
    form.append('file', new Blob([pcmWav([decodeMulaw(utterance.mulaw)], LINE_RATE_HZ)], { type: 'audio/wav' }), 'utterance.wav');
    try {
      const text = await this.#service.ask({ path: '/audio/transcriptions', body: form }, signal, textOf);
      return text === '' ? undefined : text;
    } catch (thrown) {
      // The compiler narrows `aborted` to false, but the signal may have aborted since the check above.
      if ((signal as { readonly aborted: boolean }).aborted) return undefined;
      throw thrown;
    }
  }

  /** Aborts open requests. */
  close(): Promise<void> {
    return this.#service.close();
  }
}

async function textOf({ chunks }: ServiceAnswer): Promise<string> {
  const taken: Uint8Array[] = [];
  for await (const chunk of chunks) taken.push(chunk);
  const answer = parseJson(Buffer.concat(taken));
  const text: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'text') : undefined;
  if (typeof text !== 'string') throw new RequestFailure('bad_answer', 'answered with something that is not JSON with a text');
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    throw new RequestFailure('bad_answer', `answered with a text of more than ${String(MAX_TEXT_BYTES)} bytes`);
  }
  return text.trim();
}
