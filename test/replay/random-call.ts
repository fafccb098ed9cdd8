// A random call to a real engine on a jumping clock, recorded into a folder: keys, speech, silence, events, interruptions and hang-ups, as a
// platform sends them.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { JumpingClock } from '../../src/base/jumping-clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Bot } from '../../src/bot/bot.ts';
import { Catalog } from '../../src/bot/catalog.ts';
import { turnOpening, type Input } from '../../src/dialog/input.ts';
import type { FinalNext, Output } from '../../src/dialog/output.ts';
import { Admission } from '../../src/session/admission.ts';
import { OutsideWork } from './outside-work.ts';
import { sealedParts } from '../../src/recording/file-writer.ts';
import { FolderRecorder } from '../../src/recording/recorder.ts';
import { FileSealer } from '../../src/recording/sealed-file.ts';
import type { TurnSink } from '../../src/session/ports.ts';
import { Sessions } from '../../src/session/sessions.ts';
import type { EngineSettings } from '../../src/session/settings.ts';
import type { CreateListener } from '../../src/session/turn/caller-audio.ts';
import type { Turn } from '../../src/session/turn/turn.ts';
import { encodeMulaw } from '../../src/speech/g711.ts';
import { NO_SNAPSHOTS, recordingLog } from '../support/engine.ts';
import { voiceSound } from '../support/voice-sound.ts';
import { oneOf, RandomRecognizer, RandomVoice, type Draw } from './random-surroundings.ts';

export const KEY = Buffer.alloc(32, 7);

export interface RandomCallOptions {
  readonly conversationId: string;
  readonly agentId: string;
  readonly bots: readonly Bot[];
  readonly draw: Draw;
  readonly settings: EngineSettings;
  readonly createListener: CreateListener;
  /** The file of the recording. */
  readonly file: string;
  /** Told the clock of the call. */
  readonly onClock: (clock: Clock) => void;
}

const STARTED_AT_MS = 1_800_000_000_000;
const MOST_ACTS = 6;
const FRAME_MS = 100;
const SILENT_FRAME = new Uint8Array(FRAME_MS * 8).fill(0xff);
const SPOKEN = encodeMulaw(voiceSound({ rateHz: 8000, speechMs: 3000 }));
/** Longest wait for the reply to what the caller did, ms. */
const REPLY_MS = 20_000;

/** Places the call and resolves when its recording is written. */
export async function recordRandomCall(options: RandomCallOptions): Promise<void> {
  const outside = new OutsideWork();
  const clock = new JumpingClock(STARTED_AT_MS, () => outside.isAwaited);
  const { draw, settings, file, bots, createListener } = options;
  const written: Uint8Array[] = [];
  const sealer = new FileSealer(KEY);
  options.onClock(clock);
  const recorder = new FolderRecorder({
    choice: { share: 1, bots: [], organizations: [] },
    keeping: { maxCalls: 0, maxBytes: 0, maxAgeDays: 0 },
    ...{
      folder: path.dirname(file),
      key: KEY,
      parameters: [],
      maxCallBytes: 50_000_000,
      settings: { recognizer: { engine: 'http' } },
      version: '0.0.0',
      clock,
      log: recordingLog(),
    },
    // Written at the end: what the disk does must not look like work of a bot.
    writer: {
      write: (batch) => {
        written.push(...batch.flatMap((appended) => sealedParts(sealer, appended).map((part) => Uint8Array.from(part))));
        return Promise.resolve(batch.map(() => undefined));
      },
      close: () => Promise.resolve(),
    },
  });
  const limits = { maxSessions: 10, maxStreams: Infinity, maxLoopDelayMs: 0, maxRssBytes: 0, maxHeapPercent: 0, organizations: new Map() };
  const sessions = new Sessions(
    {
      ...{ settings, clock, createListener, recorder, log: recordingLog(), snapshots: NO_SNAPSHOTS },
      admission: new Admission({
        limits: { ...limits, perOrganization: { maxSessions: 0, maxNewPerSecond: 0 } },
        load: { reading: () => ({ loopDelayMs: 0, rssBytes: 0, heapPercent: 0 }) },
        clock,
      }),
      voice: new RandomVoice(draw, clock),
      recognizer: new RandomRecognizer(draw, clock, draw() < 0.5),
      observer: {
        botAsked: () => {
          outside.begun();
        },
        botAnswered: () => {
          outside.ended();
        },
      },
    },
    { current: new Catalog(bots) },
  );
  await new RandomCall(sessions, clock, options).run();
  await Promise.all([sessions.close(0), clock.advance(5000)]);
  await recorder.close();
  writeFileSync(file, Buffer.concat(written));
}

/** A turn and what came back. */
interface OpenTurn {
  readonly turn: Turn;
  readonly outputs: Output[];
  isOver: boolean;
}

class RandomCall {
  readonly #sessions: Sessions;
  readonly #clock: JumpingClock;
  readonly #options: RandomCallOptions;
  #playsUntilMs = 0;
  #next: FinalNext | undefined;
  /** Opened by the platform to listen; takes the next input. */
  #listening: OpenTurn | undefined;

  constructor(sessions: Sessions, clock: JumpingClock, options: RandomCallOptions) {
    this.#sessions = sessions;
    this.#clock = clock;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { draw } = this.#options;
    await this.#answered(await this.#complete({ kind: 'session_start', name: '', parameters: {} }));
    for (let acts = Math.floor(draw() * MOST_ACTS); acts > 0 && !this.#isOver; acts -= 1) {
      const leftMs = this.#playsUntilMs - this.#clock.monotonicMs();
      await this.#clock.advance(Math.round(leftMs > 0 && draw() < 0.3 ? leftMs * draw() : Math.max(0, leftMs) + 200 + draw() * 3000));
      await this.#act();
    }
    if (!this.#isOver) await this.#goAway();
    await this.#clock.advance(REPLY_MS);
  }

  async #act(): Promise<void> {
    const { draw } = this.#options;
    const luck = draw();
    if (luck < 0.45) await this.#press();
    else if (luck < 0.75) await this.#speak();
    else if (luck < 0.9) await this.#answered(await this.#complete({ kind: 'no_input' }));
    else await this.#answered(await this.#complete({ kind: 'custom_event', name: oneOf(draw, ['note', 'supervisor']), parameters: {} }));
  }

  async #press(): Promise<void> {
    const { draw } = this.#options;
    const digits = oneOf(draw, ['1', '2', '1', '2', '3', '0', '9', '7', '4711', '12', '123456', '4111111111111234', '']);
    if (draw() < 0.5) {
      const { turn } = await this.#listen();
      turn.push({ kind: 'dtmf_start' });
      await this.#clock.advance(Math.round(digits.length * 200 * draw()));
      turn.halfClose();
      this.#listening = undefined;
    }
    const opened = await this.#complete({ kind: 'dtmf', digits });
    // Some callers press again before they have an answer.
    if (draw() < 0.8) await this.#answered(opened);
    else await this.#clock.advance(Math.round(draw() * 800));
  }

  async #speak(): Promise<void> {
    const { draw } = this.#options;
    const opened = await this.#listen();
    const until = this.#clock.monotonicMs() + 400 + draw() * 2000;
    let isNamed = false;
    for (let frame = 0; frame < 60 && !opened.isOver; frame += 1) {
      const isSpeaking = this.#clock.monotonicMs() < until;
      const from = (frame * FRAME_MS * 8) % (SPOKEN.length - FRAME_MS * 8);
      const audio = isSpeaking ? SPOKEN.subarray(from, from + FRAME_MS * 8) : SILENT_FRAME;
      opened.turn.push({ kind: 'audio', audio, ...(!isNamed && { encoding: 'mulaw' as const, sampleRateHz: 8000 }) });
      isNamed = true;
      if (opened.outputs.some(({ kind }) => kind === 'input_ended')) break;
      await this.#clock.advance(FRAME_MS);
    }
    opened.turn.halfClose();
    this.#listening = undefined;
    await this.#answered(opened);
  }

  async #goAway(): Promise<void> {
    const { draw } = this.#options;
    if (draw() < 0.1) {
      (await this.#listen()).turn.abort('hang_up');
      return;
    }
    const { turn } = draw() < 0.5 ? await this.#listen() : await this.#open();
    turn.push({ kind: 'session_end' });
  }

  /** A turn with one complete input. */
  async #complete(input: Input): Promise<OpenTurn> {
    const opened = await this.#open(input);
    opened.turn.halfClose();
    return opened;
  }

  async #listen(): Promise<OpenTurn> {
    if (this.#listening?.isOver !== false) this.#listening = await this.#open();
    return this.#listening;
  }

  async #open(input?: Input): Promise<OpenTurn> {
    const { conversationId, agentId } = this.#options;
    const opened: Omit<OpenTurn, 'turn'> = { outputs: [], isOver: false };
    const session = await this.#sessions.acquire({
      ...{ organizationId: 'org', conversationId, agentId, vendorConfig: '', parameters: {} },
      opensWith: turnOpening(input),
    });
    const turn = session.beginTurn(this.#sink(opened));
    if (input !== undefined) turn.push(input);
    return Object.assign(opened, { turn });
  }

  #sink(opened: Omit<OpenTurn, 'turn'>): TurnSink {
    const over = (): void => {
      opened.isOver = true;
    };
    return {
      write: (output) => {
        opened.outputs.push(output);
        const prompts = output.kind === 'prompt' ? [output.prompt] : output.kind === 'final' ? output.prompts : [];
        for (const { audio } of prompts)
          this.#playsUntilMs = Math.max(this.#playsUntilMs, this.#clock.monotonicMs()) + (audio?.durationMs ?? 0);
        if (output.kind === 'final') this.#next = output.next;
        return true;
      },
      onceDrained: () => undefined,
      complete: over,
      fail: over,
    };
  }

  async #answered({ turn }: OpenTurn): Promise<void> {
    for (let waitedMs = 0; waitedMs < REPLY_MS && turn.state === 'answering'; waitedMs += 250) await this.#clock.advance(250);
  }

  get #isOver(): boolean {
    return this.#next?.kind === 'end' || this.#next?.kind === 'transfer';
  }
}
