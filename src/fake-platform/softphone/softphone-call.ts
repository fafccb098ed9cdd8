// One call from a page: a WebSocket on one side, the platform's own caller on the other.
import type { RawData, WebSocket } from 'ws';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { parseJson } from '../../base/json.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { encodeMulaw } from '../../speech/g711.ts';
import { startsAsWav } from '../../speech/wav.ts';
import { CallerAgain, type CallerScript } from '../caller/caller-again.ts';
import { placeCall, type CallOptions, type CallResult, type HeldCallOptions } from '../caller/caller.ts';
import type { Phone } from '../caller/phone.ts';
import { wavSound } from '../caller/prompt-sound.ts';
import type { TimelineEvent } from '../caller/timeline.ts';
import type { CallerVoice } from '../cli/call-access.ts';
import { announceWords } from '../models/announce.ts';
import { MessageLog } from './message-log.ts';
import type { FromPage, ToPage, WantedCall, LineQuality } from './softphone-api.ts';
import { z } from 'zod';
import { KEYS } from '../caller/key.ts';
import { seededNumbers } from '../../base/seeded-numbers.ts';

/** Root mean square of the noise as a part of full scale: −36 dB, as on a busy street. */
const NOISE_RMS = 0.016;
const NOISE_SECONDS = 5;

type Quality = Pick<HeldCallOptions, 'conditions' | 'noise'>;

const LINE_QUALITIES: Readonly<Record<LineQuality, () => Quality>> = {
  good: () => ({}),
  jitter: () => ({ conditions: { jitterMs: 150 } }),
  bursts: () => ({ conditions: { burstMs: 400 } }),
  'slow reader': () => ({ conditions: { slowReader: { pauseMs: 3000 } } }),
  noise: () => ({ noise: noise() }),
  'breaks off': () => ({ conditions: { loseAfterMs: 20_000 } }),
};

function noise(): Int16Array {
  const draw = seededNumbers(1);
  const peak = NOISE_RMS * Math.sqrt(3) * 32_767;
  return Int16Array.from({ length: NOISE_SECONDS * LINE_RATE_HZ }, () => Math.round((draw() * 2 - 1) * peak));
}

export const QUALITIES = Object.keys(LINE_QUALITIES) as [LineQuality, ...LineQuality[]];

const FROM_PAGE = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('call'),
    agentId: z.string().max(200),
    transport: z.enum(['grpc', 'websocket']),
    line: z.enum(QUALITIES),
    again: z.string().max(100).optional(),
  }),
  z.strictObject({ type: z.literal('say'), text: z.string().trim().min(1).max(1000) }),
  z.strictObject({ type: z.literal('press'), key: z.enum(KEYS) }),
  z.strictObject({ type: z.literal('hang_up') }),
]) satisfies z.ZodType<FromPage>;

/** What the server's side knows of a call. */
export interface CallWatch {
  /** Everything that the page shows of the call; undefined: nothing has changed since the last `view`. */
  view(): object | undefined;
  ended(call: CallResult): void;
}

export interface SoftphoneCallOptions {
  readonly socket: WebSocket;
  readonly conversationId: string;
  readonly access: (transport: WantedCall['transport']) => Pick<CallOptions, 'target' | 'profile' | 'organizationId'>;
  readonly voice: CallerVoice;
  /** Address of the fake models that get the typed words in advance. Undefined: no fake models run. */
  readonly modelsUrl: string | undefined;
  readonly clock: Clock;
  /** Loads bots that have changed. Never rejects. @returns why calls do not get these bots; undefined: calls get them. */
  readonly checkBots: () => Promise<string | undefined>;
  readonly watch: (messages: MessageLog) => CallWatch;
  /** The caller of an earlier call; undefined: it is no longer kept. */
  readonly scriptOf: (conversationId: string) => CallerScript | undefined;
  readonly signal: AbortSignal;
}

/** Longest call, ms. */
const CALL_LIMIT_MS = 30 * 60_000;
/** Shortest time between two views, ms. It is longer when making a view takes long. */
const VIEW_EVERY_MS = 250;
const VIEW_SHARE = 10;
/** A page with more unread data than this gets no more audio and views, bytes. */
const MAX_WAITING_BYTES = 1_000_000;

/** Makes the call that the first message of the socket asks for. */
export class SoftphoneCall {
  readonly #options: SoftphoneCallOptions;
  readonly #messages: MessageLog;
  #wanted: WantedCall | undefined;
  #phone: Phone | undefined;
  /** Set when the person hangs up, which may be before the call begins. */
  #hasHungUp = false;
  #again: CallerAgain | undefined;
  #watch: CallWatch | undefined;
  #cancelView: CancelTimer = () => undefined;

  constructor(options: SoftphoneCallOptions) {
    this.#options = options;
    this.#messages = new MessageLog(options.clock);
  }

  /** Resolves at the end of the call; with undefined when no call was made. Never rejects. */
  async hold(): Promise<CallResult | undefined> {
    const { socket } = this.#options;
    socket.on('error', () => undefined);
    const wanted = await new Promise<WantedCall | undefined>((resolve) => {
      socket.on('close', () => {
        this.#hangUp();
        resolve(undefined);
      });
      socket.on('message', (data: RawData, isBinary: boolean) => {
        const message = isBinary ? undefined : FROM_PAGE.safeParse(parseJson(asBytes(data)));
        if (message?.success === true && message.data.type === 'call' && this.#wanted === undefined) {
          this.#wanted = message.data;
          resolve(message.data);
        } else if (message === undefined) this.#sound(asBytes(data));
        else if (message.success) void this.#act(message.data);
        else this.#send({ type: 'problem', message: 'the page sent something that the softphone does not know' });
      });
    });
    const call = wanted === undefined ? undefined : await this.#place(wanted);
    socket.close();
    return call;
  }

  async #place({ agentId, transport, line, again }: WantedCall): Promise<CallResult | undefined> {
    const { access, checkBots, clock, conversationId, scriptOf, signal, voice, watch } = this.#options;
    const script = again === undefined ? undefined : scriptOf(again);
    if (again !== undefined && script === undefined) {
      this.#refused('the caller of that call is not known any more: call anew');
      return undefined;
    }
    await checkBots();
    this.#watch = watch(this.#messages);
    this.#showSoon(VIEW_EVERY_MS);
    try {
      const call = await placeCall({
        ...access(transport),
        ...LINE_QUALITIES[line](),
        ...{ agentId, conversationId, clock, signal, changeRate: voice.changeRate, limits: { callMs: CALL_LIMIT_MS } },
        overLine: (wire) => this.#messages.over(wire),
        onFinding: (finding) => this.#messages.found(finding),
        onEvent: (event) => this.#happened(event),
        onHeard: (frame) => {
          if (this.#options.socket.bufferedAmount < MAX_WAITING_BYTES) this.#options.socket.send(frame);
        },
        onPhone: (phone) => {
          this.#phone = phone;
          if (this.#hasHungUp) phone.hangUp();
          if (script === undefined) return;
          this.#again = new CallerAgain(script, phone, clock);
          this.#again.goOn();
        },
        onReply: () => this.#again?.goOn(),
      });
      this.#watch.ended(call);
      this.#show();
      const message = call.findings.find(({ fatal }) => fatal)?.message;
      this.#send({ type: 'over', outcome: call.outcome, ...(message !== undefined && { message }) });
      return call;
    } catch (thrown) {
      this.#refused(thrown instanceof Error ? thrown.message : String(thrown));
      return undefined;
    } finally {
      this.#cancelView();
      this.#again?.stop();
    }
  }

  #refused(message: string): void {
    this.#send({ type: 'over', outcome: 'refused', message });
  }

  #happened(event: TimelineEvent): void {
    if (event.what === 'cuts_prompts') this.#send({ type: 'flush' });
    const { atMs, who, what, detail } = event;
    this.#send({ type: 'event', atMs, who, what, ...(detail !== undefined && { detail }) });
  }

  async #act(message: FromPage): Promise<void> {
    if (message.type === 'press') this.#phone?.press(message.key);
    else if (message.type === 'hang_up') this.#hangUp();
    else if (message.type === 'say') await this.#say(message.text);
  }

  #hangUp(): void {
    this.#hasHungUp = true;
    this.#phone?.hangUp();
  }

  async #say(text: string): Promise<void> {
    const { voice, modelsUrl } = this.#options;
    try {
      const mulaw = await voice.speak(text);
      const label = `"${text}"`;
      await announceWords(modelsUrl, [{ kind: 'say', label, words: text, mulaw }]);
      this.#phone?.say(mulaw, label);
    } catch (thrown) {
      this.#send({ type: 'problem', message: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }

  #sound(bytes: Uint8Array): void {
    if (bytes.length === FRAME_SAMPLES) {
      this.#phone?.hear(bytes);
      return;
    }
    try {
      if (!startsAsWav(bytes)) throw new RangeError('only a WAV file can be spoken');
      const sound = encodeMulaw(wavSound(bytes, this.#options.voice.changeRate));
      if (sound.length === 0) throw new RangeError('there is no sound in it');
      this.#phone?.say(sound, 'a recording');
    } catch (thrown) {
      this.#send({ type: 'problem', message: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }

  #showSoon(inMs: number): void {
    const { clock } = this.#options;
    this.#cancelView = clock.after(inMs, () => {
      const startMs = clock.monotonicMs();
      this.#show();
      this.#showSoon(Math.max(VIEW_EVERY_MS, (clock.monotonicMs() - startMs) * VIEW_SHARE));
    });
  }

  #show(): void {
    if (this.#options.socket.bufferedAmount > MAX_WAITING_BYTES) return;
    const view = this.#watch?.view();
    if (view !== undefined) this.#send({ type: 'view', view });
  }

  #send(message: ToPage): void {
    const { socket } = this.#options;
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  }
}

function asBytes(data: RawData): Uint8Array {
  return Buffer.isBuffer(data) ? data : data instanceof ArrayBuffer ? new Uint8Array(data) : Buffer.concat(data);
}
