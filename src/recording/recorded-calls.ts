// The recorded calls of a folder for people who look at one: each is read in a thread of its own, and the last one is kept for a while,
// because its page asks for the call first and for its sound in parts.
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { startWorker } from '../base/start-worker.ts';
import type { CallView } from '../dialog/call-view.ts';
import type { KnownCall } from './recording-folder.ts';
import type { RecordingKeys } from './sealed-file.ts';

/** Longest time for one recording, ms. */
const LIMIT_MS = 20_000;
/** How long the last one is kept after it was asked for, ms. */
const KEPT_MS = 60_000;
/** Most that wait for the one that is being read. */
const MAX_WAITING = 8;

/** What the thread is given. */
export interface ReadingData {
  readonly folder: string;
  readonly keys: readonly Uint8Array[];
  readonly conversationId: string;
  readonly known: KnownCall | undefined;
}

type AskedCall = Pick<ReadingData, 'conversationId' | 'known'>;

/** A recorded call as it is shown, and its sides as WAV. */
export interface RecordedCallParts {
  readonly view: CallView;
  readonly caller: Uint8Array;
  readonly bot: Uint8Array;
}

interface RecordedCallsOptions {
  /** Absolute path. */
  readonly folder: string;
  readonly keys: RecordingKeys;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Of one folder. The creator closes it. */
export class RecordedCalls {
  readonly #options: RecordedCallsOptions;
  #last: { readonly key: string; readonly parts: Promise<RecordedCallParts | undefined> } | undefined;
  #cancelForgetting: CancelTimer = () => undefined;
  /** Threads run one after another. */
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #end: () => void = () => undefined;
  #isClosed = false;

  constructor(options: RecordedCallsOptions) {
    this.#options = options;
  }

  /**
   * The newest recording of a call; undefined when there is none that can be read, or too many are asked for. Never rejects.
   *
   * @param known - undefined: only a call whose conversation id no other organization has is found.
   */
  find(conversationId: string, known?: KnownCall): Promise<RecordedCallParts | undefined> {
    const key = JSON.stringify([conversationId, known?.organizationId]);
    const isKept = this.#last?.key === key;
    if (!isKept && (this.#isClosed || this.#waiting >= MAX_WAITING)) return Promise.resolve(undefined);
    const parts = isKept && this.#last !== undefined ? this.#last.parts : this.#queued({ conversationId, known });
    this.#last = { key, parts };
    this.#cancelForgetting();
    this.#cancelForgetting = this.#options.clock.after(KEPT_MS, () => {
      this.#last = undefined;
    });
    return parts;
  }

  /** Ends what runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#last = undefined;
    this.#cancelForgetting();
    this.#end();
    await this.#turn;
  }

  #queued(call: AskedCall): Promise<RecordedCallParts | undefined> {
    this.#waiting += 1;
    const parts = this.#turn.then(() => this.#read(call)).finally(() => (this.#waiting -= 1));
    this.#turn = parts;
    return parts;
  }

  #read(call: AskedCall): Promise<RecordedCallParts | undefined> {
    const { folder, keys, clock, log } = this.#options;
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const thread = startWorker(new URL(import.meta.url.replace(/recorded-calls(?=\.\w+$)/u, 'reading-worker')), {
        ...{ folder, keys, ...call },
      } satisfies ReadingData);
      const cancelLimit = clock.after(LIMIT_MS, () => {
        this.#end();
      });
      this.#end = () => void thread.terminate();
      let found: RecordedCallParts | undefined;
      thread.once('message', (parts: RecordedCallParts) => {
        found = parts;
      });
      thread.once('error', (err) => {
        log.debug({ err }, 'a recorded call could not be read');
      });
      thread.once('exit', () => {
        cancelLimit();
        resolve(found);
      });
    });
  }
}
