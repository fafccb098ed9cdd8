// What a recorded random call goes through: a voice, a recognizer and a language model that are late by random times of the call's clock.
import type { LanguageModel, ProviderCall } from '../../src/ai/model.ts';
import { pause } from '../../src/base/abort.ts';
import type { Clock } from '../../src/base/clock.ts';
import { AppError } from '../../src/base/errors.ts';
import type { PromptAudio } from '../../src/dialog/output.ts';
import type { Prompt } from '../../src/dialog/reply.ts';
import type { HeardWords, PromptVoice, RecognitionStream, Recognizer, Sound } from '../../src/session/ports.ts';

/** Numbers from 0 to 1. */
export type Draw = () => number;

const MS_PER_CHARACTER = 20;
const PIECES = 3;
const sounds = new Map<string, PromptAudio>();

/** One of these. */
export function oneOf<T>(draw: Draw, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(draw() * choices.length)] ?? choices[0];
}

/** Some sounds are there, some come later, some in pieces, some never. */
export class RandomVoice implements PromptVoice {
  readonly canSpeak = true;
  readonly #draw: Draw;
  readonly #clock: Clock;

  constructor(draw: Draw, clock: Clock) {
    this.#draw = draw;
    this.#clock = clock;
  }

  render(prompt: Prompt, signal: AbortSignal): Sound | Promise<Sound> {
    if (prompt.kind === 'audio') return { mulaw: prompt.mulaw, durationMs: prompt.mulaw.length / 8 };
    const sound = soundOf(prompt.kind === 'text' ? prompt.text : prompt.file);
    const luck = this.#draw();
    if (luck < 0.6) return sound;
    if (luck < 0.98 && prompt.kind === 'text' && sound.durationMs > 0) return this.#inPieces(sound, signal);
    return pause(this.#draw() * 600, this.#clock, signal).then(() => (luck < 0.98 || prompt.kind === 'file' ? sound : undefined));
  }

  late(): void {
    // Nothing here is.
  }

  async *#inPieces({ mulaw }: PromptAudio, signal: AbortSignal): AsyncGenerator<PromptAudio> {
    const bytes = Math.ceil(mulaw.length / PIECES);
    for (let from = 0; from < mulaw.length; from += bytes) {
      await pause(this.#draw() * 500, this.#clock, signal);
      const piece = mulaw.subarray(from, from + bytes);
      yield { mulaw: piece, durationMs: piece.length / 8 };
    }
  }
}

function soundOf(name: string): PromptAudio {
  const durationMs = name.length * MS_PER_CHARACTER;
  const sound = sounds.get(name) ?? { mulaw: new Uint8Array(durationMs * 8).fill(0x55), durationMs };
  if (sounds.size < 1000) sounds.set(name, sound);
  return sound;
}

const SAID = [
  'when do you open?',
  'the address please',
  'an agent please',
  'four seven one one',
  '4711',
  'Friday at three',
  'yes',
  'no',
] as const;

/** Understands anything, sometimes nothing, and fails now and then. */
export class RandomRecognizer implements Recognizer {
  readonly open?: NonNullable<Recognizer['open']>;
  readonly #draw: Draw;
  readonly #clock: Clock;

  /** @param isStreaming - also hears words while the caller speaks. */
  constructor(draw: Draw, clock: Clock, isStreaming: boolean) {
    this.#draw = draw;
    this.#clock = clock;
    if (isStreaming) this.open = (onWords) => this.#stream(onWords);
  }

  async recognize(_utterance: unknown, signal: AbortSignal): Promise<string | undefined> {
    return this.#understood(oneOf(this.#draw, SAID), signal);
  }

  async #understood(text: string, signal: AbortSignal): Promise<string | undefined> {
    await pause(50 + this.#draw() * 700, this.#clock, signal);
    const luck = this.#draw();
    if (luck < 0.05) throw new AppError('recognition_failed', 'out of order');
    return luck < 0.2 ? undefined : text;
  }

  #stream(onWords: (words: HeardWords) => void): RecognitionStream {
    let text = '';
    let isPaused = false;
    const later = (isWhole: boolean): void => {
      const words = text;
      this.#clock.after(this.#draw() * 300, () => {
        if (words === text && isPaused === isWhole) onWords({ text: isWhole ? words : words.slice(0, 4), stable: '', isWhole });
      });
    };
    const drop = (): void => {
      text = '';
    };
    return {
      ...{ isLost: false, push: () => undefined, drop, close: drop },
      begin: () => {
        text = oneOf(this.#draw, SAID);
        isPaused = false;
        later(false);
      },
      pause: () => {
        isPaused = true;
        later(true);
      },
      resume: () => {
        isPaused = false;
      },
      text: (signal) => this.#understood(text, signal),
    };
  }
}

/** Writes words with pauses, uses tools, and fails now and then. @param clock - of the call that goes on. */
export function randomModel(draw: Draw, clock: () => Clock): LanguageModel {
  return {
    ...{ specificationVersion: 'v3', provider: 'random', modelId: 'random' },
    doStream: (call) => Promise.resolve({ stream: parts(draw, clock(), call) }),
  };
}

const ANSWERS = [
  'Of course.',
  'Let me see. We have Tuesday at nine, or Friday at three.',
  'Anything else that I can do for you today?',
] as const;

async function* parts(draw: Draw, clock: Clock, { tools = [], abortSignal }: ProviderCall): AsyncGenerator<object> {
  await pause(100 + draw() * 1500, clock, abortSignal);
  const luck = draw();
  if (luck < 0.05) yield { type: 'error', error: { statusCode: 500 } };
  const names = tools.flatMap((tool) => ('name' in tool && typeof tool.name === 'string' ? [tool.name] : []));
  const [first, ...others] = names;
  const isUse = luck > 0.7 && first !== undefined;
  if (!isUse || draw() < 0.5) {
    for (const delta of oneOf(draw, ANSWERS).match(/\S+\s*/gu) ?? []) {
      await pause(draw() * 80, clock, abortSignal);
      yield { type: 'text-delta', id: '0', delta };
    }
  }
  if (isUse) {
    const toolName = oneOf(draw, [first, ...others]);
    const input = oneOf(draw, ['{"day":"friday"}', '{"slot":"friday at three"}', '{"euros":80}']);
    yield { type: 'tool-call', toolCallId: '1', toolName, input };
  }
  yield { type: 'finish', finishReason: { unified: 'stop' }, usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } } };
}
