// A recognizer that runs a program of the operator once per utterance: WAV in, text out. Limits the time, the
// concurrent programs and the waiting utterances. Never logs what was said.
import { PLAIN_ENVIRONMENT, runProgram, type ChildProgram, type RunningProgram } from '../../base/child-program.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { Expected, Recognizer } from '../../session/ports.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { decodeMulaw } from '../../speech/g711.ts';
import { mulawWav, pcmWav } from '../../speech/wav.ts';

/** Longest accepted text, bytes of UTF-8. */
const MAX_TEXT_BYTES = 4096;

const PROGRAM = { name: 'the recognizer program', code: 'recognition_failed' } as const;

export interface CommandRecognizerOptions extends Pick<ChildProgram, 'command'>, Partial<Pick<ChildProgram, 'env'>> {
  readonly clock: Clock;
  /** Sample format of the 8 kHz mono WAV file on the program's standard input; default pcm16. */
  readonly audio?: 'pcm16' | 'mulaw';
  /** Longest time from request to answer, waiting included, ms; then the program is killed. Default 10,000. */
  readonly limitMs?: number;
  /** Most programs at once; default 4. */
  readonly maxRunning?: number;
  /** Most waiting utterances; further ones fail at once; default 64. */
  readonly maxWaiting?: number;
}

interface Job {
  readonly utterance: Utterance;
  readonly language: string | undefined;
  program: RunningProgram | undefined;
  /** Settles the request; only the first call counts. Undefined: the utterance had no words. */
  finish(outcome: string | AppError | undefined): void;
}

/** Recognizes utterances by running a program. The creator closes it. */
export class CommandRecognizer implements Recognizer {
  readonly #options: Required<CommandRecognizerOptions>;
  readonly #waiting: Job[] = [];
  readonly #running = new Map<Job, Promise<void>>();
  #isClosed = false;

  constructor(options: CommandRecognizerOptions) {
    this.#options = { env: PLAIN_ENVIRONMENT, audio: 'pcm16', limitMs: 10_000, maxRunning: 4, maxWaiting: 64, ...options };
  }

  /**
   * The program gets the language in its variable `CALLER_LANGUAGE`, when the language is known.
   *
   * @returns the trimmed output, or undefined when it is empty or `signal` aborts (which kills the program).
   * @throws AppError `recognition_failed`, without the program's output.
   */
  recognize(utterance: Utterance, signal: AbortSignal, { language }: Expected = {}): Promise<string | undefined> {
    const { clock, limitMs, maxRunning, maxWaiting } = this.#options;
    if (this.#isClosed) return Promise.reject(failure('the recognizer is closed'));
    if (signal.aborted) return Promise.resolve(undefined);
    if (this.#running.size >= maxRunning && this.#waiting.length >= maxWaiting) {
      return Promise.reject(failure('too many utterances are waiting to be recognized'));
    }
    return new Promise((resolve, reject) => {
      let isOpen = true;
      const job: Job = {
        ...{ utterance, language },
        program: undefined,
        finish: (outcome) => {
          if (!isOpen) return;
          isOpen = false;
          cancelTimer();
          signal.removeEventListener('abort', onAbort);
          this.#stop(job);
          if (outcome instanceof AppError) reject(outcome);
          else resolve(outcome);
        },
      };
      const onAbort = (): void => {
        job.finish(undefined);
      };
      const cancelTimer = clock.after(limitMs, () => {
        job.finish(failure(`the recognizer took longer than ${String(limitMs)} ms`));
      });
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(job);
      this.#next();
    });
  }

  /** Kills running programs, fails waiting utterances, and resolves when every program has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const gone = [...this.#running.values()];
    for (const job of [...this.#waiting, ...this.#running.keys()]) job.finish(failure('the recognizer is closed'));
    await Promise.all(gone);
  }

  #stop(job: Job): void {
    const index = this.#waiting.indexOf(job);
    if (index !== -1) this.#waiting.splice(index, 1);
    job.program?.kill();
  }

  #next(): void {
    while (this.#running.size < this.#options.maxRunning) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      this.#running.set(job, this.#run(job));
    }
  }

  /** Never rejects. Frees its slot when the program has ended. */
  async #run(job: Job): Promise<void> {
    const { command, env, audio } = this.#options;
    const { mulaw } = job.utterance;
    const heard = job.language === undefined ? env : { ...env, CALLER_LANGUAGE: job.language };
    const wav = audio === 'mulaw' ? mulawWav(mulaw) : pcmWav([decodeMulaw(mulaw)], LINE_RATE_HZ);
    try {
      job.program = runProgram({ ...PROGRAM, command, env: heard, maxOutputBytes: MAX_TEXT_BYTES }, wav);
      const text = textOf(await job.program.output);
      job.finish(text === '' ? undefined : text);
    } catch (thrown) {
      job.finish(thrown instanceof AppError ? thrown : new AppError('recognition_failed', 'the recognizer failed', { cause: thrown }));
    } finally {
      this.#running.delete(job);
      this.#next();
    }
  }
}

function textOf(output: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(output).trim();
  } catch {
    throw failure('the recognizer program wrote something that is not UTF-8');
  }
}

function failure(reason: string): AppError {
  return new AppError('recognition_failed', reason);
}
