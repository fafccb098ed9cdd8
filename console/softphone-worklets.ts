// The two ends of the line inside the audio thread: sound of the microphone as frames of 160 bytes of µ-law, and frames as sound. A file of
// its own, which the audio context loads. Runs at 8 kHz.
import { decodeSample, encodeSample, FRAME_SAMPLES } from './softphone/mulaw.ts';

interface Processor {
  readonly port: MessagePort;
}
declare const AudioWorkletProcessor: new () => Processor;
declare function registerProcessor(name: string, processor: new () => Processor): void;

/** Frames that are collected before the first one is played: 60 ms. */
const START_FRAMES = 3;
/** Most frames kept, 400 ms: sound that comes faster than it plays must not get late. */
const MAX_FRAMES = 20;

class Capture extends AudioWorkletProcessor {
  #frame = new Uint8Array(FRAME_SAMPLES);
  #filled = 0;

  process([input]: Float32Array[][]): boolean {
    for (const sample of input?.[0] ?? []) {
      this.#frame[this.#filled] = encodeSample(sample);
      this.#filled += 1;
      if (this.#filled < FRAME_SAMPLES) continue;
      this.port.postMessage(this.#frame, [this.#frame.buffer]);
      this.#frame = new Uint8Array(FRAME_SAMPLES);
      this.#filled = 0;
    }
    return true;
  }
}

class Play extends AudioWorkletProcessor {
  #frames: Uint8Array[] = [];
  #at = 0;
  #isFilling = true;

  constructor() {
    super();
    // A message without a frame drops what is not played yet.
    this.port.onmessage = ({ data }: MessageEvent<Uint8Array | null>) => {
      if (data === null) {
        this.#frames = [];
        this.#at = 0;
        this.#isFilling = true;
        return;
      }
      this.#frames.push(data);
      if (this.#frames.length >= START_FRAMES) this.#isFilling = false;
      if (this.#frames.length > MAX_FRAMES) this.#frames = this.#frames.slice(-START_FRAMES);
    };
  }

  process(_inputs: Float32Array[][], [output]: Float32Array[][]): boolean {
    const samples = output?.[0];
    if (samples === undefined) return true;
    for (let index = 0; index < samples.length; index += 1) samples[index] = this.#next();
    return true;
  }

  #next(): number {
    const [frame] = this.#frames;
    if (this.#isFilling || frame === undefined) return 0;
    const sample = decodeSample(frame[this.#at] ?? 0xff);
    this.#at += 1;
    if (this.#at === frame.length) {
      this.#frames.shift();
      this.#at = 0;
      this.#isFilling = this.#frames.length === 0;
    }
    return sample;
  }
}

registerProcessor('capture', Capture);
registerProcessor('play', Play);
