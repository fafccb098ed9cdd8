// The synthesizer and the recognizer of the server, and the synthesis of static prompts before the first call.
import type { Logger } from '../base/log.ts';
import type { Catalog } from '../bot/catalog.ts';
import type { Speech } from '../dialog/reply.ts';
import type { Recognizer } from '../session/ports.ts';
import { fillersOf, linesOf } from '../session/settings.ts';
import type { SignalEngines } from '../speech/engines.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { openPromptVoice, type CachingPromptVoice } from '../voice/prompt-voice.ts';
import { findRecognizer } from '../voice/recognizers/find-recognizer.ts';
import { promptsFolder } from './bot-folders.ts';
import type { Settings } from './config/settings.ts';
import type { ProcessParts } from './process-parts.ts';
import { engineSettings, recognizerChoice, voiceSettings } from './room-settings.ts';

export interface VoicesParts extends ProcessParts {
  readonly engines: SignalEngines;
  readonly metrics: Pick<Metrics, 'voice'>;
}

/** Synthesizes and recognizes for all calls. */
export class Voices {
  readonly voice: CachingPromptVoice;
  /** Undefined without a configured recognizer; bots then get no words. */
  readonly recognizer: Recognizer | undefined;
  readonly #settings: Settings;
  readonly #log: Logger;
  readonly #warming = new AbortController();

  constructor(settings: Settings, { engines, metrics, clock, log, lifecycle }: VoicesParts) {
    this.#settings = settings;
    this.#log = log;
    const parts = { clock, log, createResampler: engines.createResampler, observer: metrics.voice };
    const voice = openPromptVoice(voiceSettings(settings, promptsFolder(settings.bots)), parts);
    lifecycle.opened('voice', () => voice.close());
    const recognizer = findRecognizer(recognizerChoice(settings), parts);
    if (recognizer !== undefined) lifecycle.opened('recognizer', () => recognizer.close());
    this.voice = voice;
    this.recognizer = recognizer;
  }

  /** Synthesizes the static prompts of bots; cached ones need no request. Never rejects. */
  async warm(catalog: Catalog, own: readonly Speech[] = []): Promise<void> {
    const { signal } = this.#warming;
    const texts = catalog.bots.flatMap(({ prompts, speaks }) => prompts.map((text) => ({ text, ...speaks })));
    // Our own prompts come first and stay in memory.
    const warmths = [await this.voice.keep(own, signal), await this.voice.warm(texts, signal)];
    const spoken = warmths.reduce((sum, warmth) => sum + warmth.spoken, 0);
    const silent = warmths.flatMap((warmth) => warmth.silent);
    if (silent.length === 0 || signal.aborted) this.#log.info({ spoken }, 'the static prompts are spoken');
    else
      this.#log.warn(
        { spoken, silent },
        'these prompts have no sound and travel as text: install the synthesizer or set synthesizer.engine',
      );
  }

  /** As {@link Voices.warm}, with the server's own prompts. A filler whose audio is not synthesized yet is not played. */
  warmAll(catalog: Catalog): Promise<void> {
    const engine = engineSettings(this.#settings);
    const spoken = catalog.bots.flatMap((bot) => {
      const [{ apology, transfer }, fillers] = [linesOf(engine, bot), fillersOf(engine, bot)];
      const isFilling = fillers.afterMs > 0 && engine.mode === 'chunk';
      return [apology, transfer, ...(isFilling ? fillers.say : [])].map((text) => ({ text, ...bot.speaks }));
    });
    // The transfer line is also for refused calls, which have no bot.
    return this.warm(catalog, [{ text: engine.lines.transfer }, ...spoken]);
  }

  /** Stops the synthesis of static prompts. */
  stopWarming(): void {
    this.#warming.abort('shutdown');
  }
}
