// The recorded calls of a folder for people who look at one. Each call is read in a process of its own, because an hour of sound takes a
// second of CPU, and because a hanging disk would block the threads that all file and name lookups of this process need. The last calls
// are kept for a while: a page asks for the call first and for its sound in parts.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { moduleBeside, runnable } from '../base/start-worker.ts';
import type { CallView } from '../dialog/call-view.ts';
import type { KnownCall } from './recording-folder.ts';
import type { RecordingKeys } from './sealed-file.ts';

/** Longest time from the request for a recording to its answer, ms; includes the wait for another recording. */
const LIMIT_MS = 20_000;
/** Most calls that are kept: an hour of sound is 58 MB. */
const MAX_KEPT = 3;
/** How long calls are kept after the last request for any, ms. */
const KEPT_MS = 60_000;
/** Most calls that are being read or wait for it. */
const MAX_WAITING = 2;

/** The message to the process. */
export interface ReadingData {
  readonly folder: string;
  readonly keys: readonly Uint8Array[];
  readonly conversationId: string;
  readonly known: KnownCall | undefined;
}

type AskedCall = Pick<ReadingData, 'conversationId' | 'known'>;

/** A recorded call as it is shown, and both sides as WAV files. */
export interface RecordedCallParts {
  readonly view: CallView;
  readonly caller: Uint8Array;
  readonly bot: Uint8Array;
}

/** Undefined: there is no readable recording. */
export type FoundRecording = RecordedCallParts | 'busy' | undefined;

interface RecordedCallsOptions {
  /** Absolute path. */
  readonly folder: string;
  readonly keys: RecordingKeys;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Serves the recordings of one folder. The creator closes it. */
export class RecordedCalls {
  readonly #options: RecordedCallsOptions;
  /** By call; the last one is the one that was asked for last. */
  readonly #kept = new Map<string, Promise<FoundRecording>>();
  #cancelForgetting: CancelTimer = () => undefined;
  /** Processes run one after another. */
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  readonly #closing = new AbortController();

  constructor(options: RecordedCallsOptions) {
    this.#options = options;
  }

  /**
   * The newest recording of a call; undefined when none can be read, `busy` when the answer would take too long now. Never rejects.
   *
   * @param known - undefined: finds the call only if no other organization has a call with this conversation id.
   */
  find(conversationId: string, known?: KnownCall): Promise<FoundRecording> {
    const key = JSON.stringify([conversationId, known?.organizationId]);
    const kept = this.#kept.get(key);
    if (kept === undefined && (this.#closing.signal.aborted || this.#waiting >= MAX_WAITING)) return Promise.resolve('busy');
    const parts = kept ?? this.#queued({ conversationId, known });
    this.#kept.delete(key);
    this.#kept.set(key, parts);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    // Not kept when it is missing or has no end, because both may change.
    void parts.then((found) => {
      const isWhole = typeof found === 'object' && found.view.call.end !== undefined;
      if (!isWhole && this.#kept.get(key) === parts) this.#kept.delete(key);
    });
    this.#cancelForgetting();
    this.#cancelForgetting = this.#options.clock.after(KEPT_MS, () => {
      this.#kept.clear();
    });
    return parts;
  }

  /** Ends running reads. */
  close(): void {
    this.#closing.abort();
    this.#kept.clear();
    this.#cancelForgetting();
  }

  #queued(call: AskedCall): Promise<FoundRecording> {
    this.#waiting += 1;
    return new Promise((resolve) => {
      const limit = new AbortController();
      const signal = AbortSignal.any([limit.signal, this.#closing.signal]);
      const cancelLimit = this.#options.clock.after(LIMIT_MS, () => {
        limit.abort();
      });
      // A process that a hanging disk blocks cannot be killed: nobody waits for it, but no other one starts before it is gone.
      signal.addEventListener('abort', () => {
        cancelLimit();
        resolve('busy');
      });
      this.#turn = this.#turn.then(async () => {
        if (!signal.aborted) resolve(await this.#read(call, signal));
        cancelLimit();
        this.#waiting -= 1;
      });
    });
  }

  #read(call: AskedCall, signal: AbortSignal): Promise<RecordedCallParts | undefined> {
    const { folder, keys, log } = this.#options;
    return new Promise((resolve) => {
      const reader = fork(fileURLToPath(runnable(moduleBeside(import.meta.url, 'reading-worker'))), [], {
        // The process gets only the message.
        env: {},
        execArgv: [],
        serialization: 'advanced',
        signal,
        killSignal: 'SIGKILL',
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      let found: RecordedCallParts | undefined;
      reader.once('message', (parts: RecordedCallParts) => {
        found = parts;
        reader.disconnect();
      });
      const ended = (err?: unknown): void => {
        if (found === undefined) log.debug({ err }, 'a recorded call could not be read');
        resolve(found);
      };
      // A process that did not start emits no `exit`.
      reader.once('error', (err) => {
        if (reader.pid === undefined) ended(err);
      });
      reader.once('exit', () => {
        ended();
      });
      reader.send({ folder, keys, ...call } satisfies ReadingData, () => undefined);
      reader.unref();
      reader.channel?.unref();
    });
  }
}
