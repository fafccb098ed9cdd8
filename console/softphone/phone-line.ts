// One call from this page: a WebSocket to the softphone, and the sound of this computer. Knows nothing of how it is shown.
import type { CallView } from '../../src/dialog/call-view.ts';
import type { FromPage, PhoneKey, ToPage, WantedCall } from '../../src/fake-platform/softphone/softphone-api.ts';
import { levelOf } from './mulaw.ts';
import { openAudio, type PhoneAudio } from './phone-audio.ts';

/** What the page learns of a call. */
export interface LineListener {
  onEvent(event: Extract<ToPage, { type: 'event' }>): void;
  onView(view: CallView): void;
  onProblem(message: string): void;
  onOver(outcome: string, message: string | undefined): void;
}

export interface Levels {
  readonly microphone: number;
  readonly heard: number;
}

/** The bot is silent when no frame has come for so long, ms. */
const QUIET_MS = 60;
/** The last frames are still played when a call is over, ms. */
const REST_MS = 400;

/** The call, from the click to its end. */
export class PhoneLine {
  readonly #listener: LineListener;
  readonly #socket: WebSocket;
  #audio: PhoneAudio | undefined;
  #hasCalled = false;
  #isOver = false;
  #quiet = 0;
  isMuted = false;
  /** Called with how loud one side is, 0 to 1. */
  onLevel: (side: keyof Levels, level: number) => void = () => undefined;

  /** Calls. @param usesMicrophone - false: the person types. */
  constructor(wanted: WantedCall, usesMicrophone: boolean, listener: LineListener) {
    this.#listener = listener;
    this.#socket = new WebSocket(`ws://${location.host}/call`);
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === 'string') this.#take(JSON.parse(data) as ToPage);
      else this.#heard(new Uint8Array(data));
    };
    this.#socket.onclose = () => {
      this.#over('lost', undefined);
    };
    const opened = new Promise<void>((resolve) => {
      this.#socket.onopen = () => {
        resolve();
      };
    });
    void this.#begin(opened, wanted, usesMicrophone);
  }

  say(text: string): void {
    this.#send({ type: 'say', text });
  }

  /** Speaks a WAV file. */
  speak(wav: ArrayBuffer): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(wav);
  }

  press(key: PhoneKey): void {
    this.#send({ type: 'press', key });
  }

  hangUp(): void {
    this.#send({ type: 'hang_up' });
    // Nobody is called while the microphone is asked for.
    if (!this.#hasCalled) this.#over('hung_up', undefined);
  }

  /** Both open before the call begins: a caller has the phone at the ear before anybody answers. */
  async #begin(opened: Promise<void>, wanted: WantedCall, usesMicrophone: boolean): Promise<void> {
    try {
      this.#audio = await openAudio();
      if (usesMicrophone) await this.#audio.listen((frame) => this.#spoken(frame));
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      if (!this.#isOver) this.#listener.onProblem(`no microphone (${why}): type what the caller says`);
    }
    if (this.#isOver) {
      this.#leaveAudio();
      return;
    }
    await opened;
    this.#hasCalled = true;
    this.#send(wanted);
  }

  #spoken(frame: Uint8Array): void {
    this.onLevel('microphone', this.isMuted ? 0 : levelOf(frame));
    if (!this.isMuted && this.#socket.readyState === WebSocket.OPEN) this.#socket.send(frame as Uint8Array<ArrayBuffer>);
  }

  #heard(frame: Uint8Array): void {
    this.#audio?.play(frame);
    this.onLevel('heard', levelOf(frame));
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.onLevel('heard', 0), QUIET_MS);
  }

  #take(message: ToPage): void {
    switch (message.type) {
      case 'event':
        this.#listener.onEvent(message);
        break;
      case 'flush':
        this.#audio?.flush();
        break;
      case 'view':
        this.#listener.onView(message.view as CallView);
        break;
      case 'problem':
        this.#listener.onProblem(message.message);
        break;
      case 'over':
        this.#over(message.outcome, message.message);
    }
  }

  #over(outcome: string, message: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.close();
    this.#leaveAudio();
    this.#listener.onOver(outcome, message);
  }

  #leaveAudio(): void {
    this.#audio?.stopListening();
    setTimeout(() => this.#audio?.close(), REST_MS);
  }

  #send(message: FromPage): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}
