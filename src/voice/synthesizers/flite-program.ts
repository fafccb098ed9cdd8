// Flite as a function from text to samples: compiles the WASI program once and runs a fresh instance per text, so
// that texts share no state. Synchronous and slow (tens of ms per second of speech), so it runs only in a thread.
import { AppError } from '../../base/errors.ts';
import { readWav, type MonoAudio } from '../../speech/wav.ts';
import { MemoryWasi, OUTPUT_NAME } from './memory-wasi.ts';

/** Most bytes one run may write: five minutes of 16-bit samples at 16 kHz. */
const MAX_WAV_BYTES = 9_600_044;

export class FliteProgram {
  readonly #module: WebAssembly.Module;

  /** @param wasm - the bytes of flite.wasm. Compiling takes about 12 ms, because functions are compiled when first called. */
  constructor(wasm: Uint8Array) {
    this.#module = new WebAssembly.Module(wasm);
  }

  /**
   * Speaks one piece of text.
   *
   * @param text - printable ASCII; see `spokenPieces`.
   * @param voice - a voice of the program; an unknown name silently selects another one.
   * @returns samples at the rate of the voice (16 kHz, kal 8 kHz) and at its original level.
   * @throws AppError `synthesis_failed`; its message never contains the text.
   */
  speak(text: string, voice: string): MonoAudio {
    const system = new MemoryWasi({ args: ['flite', '-voice', voice, '-t', text, '-o', `/${OUTPUT_NAME}`], maxOutputBytes: MAX_WAV_BYTES });
    try {
      const { memory, _start: start } = new WebAssembly.Instance(this.#module, { wasi_snapshot_preview1: system.imports }).exports;
      if (!isMemory(memory) || typeof start !== 'function') throw new Error('the program exports no memory or no start');
      system.attach(memory);
      Reflect.apply(start, undefined, []);
      if (system.isFull) throw new Error('the speech would be longer than five minutes');
      return readWav(system.output);
    } catch (cause) {
      throw new AppError('synthesis_failed', `flite failed: ${cause instanceof Error ? cause.message : 'unknown'}`, { cause });
    }
  }
}

function isMemory(member: unknown): member is WebAssembly.Memory {
  return typeof member === 'object' && member !== null && Reflect.get(member, 'buffer') instanceof ArrayBuffer;
}
