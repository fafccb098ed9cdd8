// Changes the rate of a stream of samples with the Speex resampler. The WASM module is loaded elsewhere;
// its memory is shared by all resamplers, so every handle must be closed.
import { AppError } from '../base/errors.ts';

/** What we use of the compiled Speex resampler. Addresses are numbers; the views change when the memory grows. */
export interface SpeexModule {
  readonly HEAP16: Int16Array;
  readonly HEAPU32: Uint32Array;
  _malloc(bytes: number): number;
  _speex_resampler_init(channels: number, fromHz: number, toHz: number, quality: number, errorAddress: number): number;
  _speex_resampler_skip_zeros(handle: number): number;
  _speex_resampler_reset_mem(handle: number): number;
  _speex_resampler_get_input_latency(handle: number): number;
  _speex_resampler_process_int(
    handle: number,
    channel: number,
    inAddress: number,
    inCountAddress: number,
    outAddress: number,
    outCountAddress: number,
  ): number;
  _speex_resampler_destroy(handle: number): void;
}

/** Changes the rate of one stream. */
export interface Resampler {
  /** The samples that are ready after these. The returned array is valid until the next call on this resampler. */
  push(samples: Int16Array): Int16Array;
  /** The samples that are still in the filter; the array is valid as long. The next push starts a new stream. */
  flush(): Int16Array;
  /** Frees the handle; harmless when repeated. Later calls return no samples. */
  close(): void;
}

/** Makes a resampler for one stream; see {@link resamplerMaker}. */
export type CreateResampler = (fromHz: number, toHz: number) => Resampler;

/**
 * 0 to 10. Measured 2026-11-21, 16 to 8 kHz, CPU per 20 ms: 3.8 µs at 4, 5.1 at 5, 6.6 at 7, 8.2 at 8, 31 at 10. At 7 the filter
 * delays by 8 ms, passes 3.4 kHz untouched and 3.7 kHz at -0.5 dB, and leaves nothing in 16 bits from 4.3 kHz up.
 */
const QUALITY = 7;
/** Samples passed to the module at once; longer input is split. */
const SLICE_SAMPLES = 1024;
/** Room for the output of one slice: up to eight times as many samples. */
const OUT_SAMPLES = SLICE_SAMPLES * 8;
const MIN_RATE_HZ = 4000;
const MAX_RATE_HZ = 192_000;

/**
 * Allocates the memory that all resamplers of a module share (they run one after the other, never inside each
 * other) and returns a function that makes resamplers.
 *
 * That function throws AppError `unsupported_audio` for rates outside 4 to 192 kHz or more than eight-fold up, and
 * `overloaded` when the module's memory is used up.
 */
export function resamplerMaker(module: SpeexModule): CreateResampler {
  const input = module._malloc(SLICE_SAMPLES * 2);
  const output = module._malloc(OUT_SAMPLES * 2);
  // Error code, number of input samples, number of output samples.
  const counts = module._malloc(12);
  if (input === 0 || output === 0 || counts === 0) throw exhausted();
  return (fromHz, toHz) => {
    for (const rate of [fromHz, toHz]) {
      if (!Number.isInteger(rate) || rate < MIN_RATE_HZ || rate > MAX_RATE_HZ) throw unsupported(fromHz, toHz);
    }
    if (toHz > fromHz * 8) throw unsupported(fromHz, toHz);
    const handle = module._speex_resampler_init(1, fromHz, toHz, QUALITY, counts);
    if (handle === 0) throw exhausted();
    return new SpeexResampler(module, { input, output, counts }, handle);
  };
}

interface Scratch {
  readonly input: number;
  readonly output: number;
  readonly counts: number;
}

class SpeexResampler implements Resampler {
  readonly #module: SpeexModule;
  readonly #scratch: Scratch;
  #handle: number;
  #out = new Int16Array(SLICE_SAMPLES);
  #length = 0;

  constructor(module: SpeexModule, scratch: Scratch, handle: number) {
    this.#module = module;
    this.#scratch = scratch;
    this.#handle = handle;
    // The first output sample then belongs to the first input sample.
    module._speex_resampler_skip_zeros(handle);
  }

  push(samples: Int16Array): Int16Array {
    this.#length = 0;
    if (this.#handle !== 0) this.#run(samples);
    return this.#out.subarray(0, this.#length);
  }

  flush(): Int16Array {
    this.#length = 0;
    if (this.#handle !== 0) {
      this.#run(new Int16Array(this.#module._speex_resampler_get_input_latency(this.#handle)));
      this.#module._speex_resampler_reset_mem(this.#handle);
      this.#module._speex_resampler_skip_zeros(this.#handle);
    }
    return this.#out.subarray(0, this.#length);
  }

  close(): void {
    if (this.#handle !== 0) this.#module._speex_resampler_destroy(this.#handle);
    this.#handle = 0;
  }

  #run(samples: Int16Array): void {
    const { input, output, counts } = this.#scratch;
    for (let from = 0; from < samples.length;) {
      // The views are read again each time, because the memory may have grown for another handle.
      const { HEAP16, HEAPU32 } = this.#module;
      const slice = Math.min(SLICE_SAMPLES, samples.length - from);
      for (let index = 0; index < slice; index += 1) HEAP16[(input >> 1) + index] = samples[from + index] ?? 0;
      HEAPU32[(counts >> 2) + 1] = slice;
      HEAPU32[(counts >> 2) + 2] = OUT_SAMPLES;
      this.#module._speex_resampler_process_int(this.#handle, 0, input, counts + 4, output, counts + 8);
      const taken = HEAPU32[(counts >> 2) + 1] ?? 0;
      const made = HEAPU32[(counts >> 2) + 2] ?? 0;
      if (taken === 0 && made === 0) return;
      this.#append(HEAP16, output >> 1, made);
      from += taken;
    }
  }

  #append(heap: Int16Array, start: number, count: number): void {
    if (this.#length + count > this.#out.length) {
      const wider = new Int16Array(Math.max(this.#out.length * 2, this.#length + count));
      wider.set(this.#out);
      this.#out = wider;
    }
    for (let index = 0; index < count; index += 1) this.#out[this.#length + index] = heap[start + index] ?? 0;
    this.#length += count;
  }
}

/**
 * Changes the rate of a whole piece of audio; the length of the result is exactly that of the input times the ratio of the rates.
 *
 * @returns a new array, or `samples` itself when both rates are the same.
 * @throws AppError as {@link resamplerMaker}.
 */
export function resampleAll(createResampler: CreateResampler, samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  if (fromHz === toHz) return samples;
  const resampler = createResampler(fromHz, toHz);
  try {
    const result = new Int16Array(Math.round((samples.length * toHz) / fromHz));
    const body = resampler.push(samples);
    const bodyLength = Math.min(body.length, result.length);
    result.set(body.subarray(0, bodyLength));
    result.set(resampler.flush().subarray(0, result.length - bodyLength), bodyLength);
    return result;
  } finally {
    resampler.close();
  }
}

function unsupported(fromHz: number, toHz: number): AppError {
  return new AppError('unsupported_audio', `audio at ${String(fromHz)} Hz cannot be turned into ${String(toHz)} Hz`, {
    details: { fromHz, toHz },
  });
}

function exhausted(): AppError {
  return new AppError('overloaded', 'the resampler has no memory left; too many calls send audio that is not at 8 kHz');
}
