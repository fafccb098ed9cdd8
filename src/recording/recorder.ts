// Records calls into a folder: decides which calls, and owns what their recordings share. A recorder cannot break a call.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { CallRecorder, RecordedCall, Recorder } from '../session/ports.ts';
import { CallRecording } from './call-recording.ts';
import { BLOCK_BYTES } from './event-block.ts';
import type { RecordingWriter } from './file-writer.ts';
import type { RecordingHeader } from './recording.ts';
import { idTime, RECORDING_SUFFIX, RecordingFolder, type Keeping } from './recording-folder.ts';
import { allowedFacts } from './redaction.ts';
import { Tidying } from './tidying.ts';
import { WriteQueue, type RecordingLoss } from './write-queue.ts';
import { WritingThread } from './writing-thread.ts';

/** Most blocks of memory kept for further use. */
const MAX_FREE_BLOCKS = 256;

/** Facts that are already events of a recording. */
const KNOWN_FACTS: ReadonlySet<string> = new Set(['turn_started', 'turn_ended', 'session_ended']);

/** Which calls are recorded. */
export interface RecordingChoice {
  /** Share of calls, 0 to 1. Every process decides alike about a call. */
  readonly share: number;
  /** Ids of bots; empty: all. */
  readonly bots: readonly string[];
  /** Ids of organizations; empty: all. */
  readonly organizations: readonly string[];
}

/** Observes the outcome of recordings. */
export interface RecordingObserver {
  /** A recording was closed. `cut`: it ends before its call, because of a limit or a loss. */
  recorded(outcome: 'whole' | 'cut', bytes: number): void;
  lost(loss: RecordingLoss): void;
}

/** A fact of the engine; undefined details are left out. */
interface ObservedFact {
  readonly event: string;
  readonly turnId?: string;
  readonly [detail: string]: string | number | undefined;
}

export interface FolderRecorderOptions {
  readonly choice: RecordingChoice;
  readonly keeping: Keeping;
  /** Absolute path. */
  readonly folder: string;
  /** Seals the recordings; 32 bytes. */
  readonly key: Buffer;
  /** Names of parameters, of calls and of events, that are kept. */
  readonly parameters: readonly string[];
  /** Most bytes of one recording, which is cut there. */
  readonly maxCallBytes: number;
  /** See {@link RecordingHeader.settings}. */
  readonly settings: JsonObject;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: RecordingObserver | undefined;
  /** Default: a thread. The recorder closes it. */
  readonly writer?: RecordingWriter;
}

/** Whether a call is recorded. */
export function isChosen({ share, bots, organizations }: RecordingChoice, call: Omit<CallFacts, 'parameters' | 'vendorConfig'>): boolean {
  if (bots.length > 0 && !bots.includes(call.agentId)) return false;
  if (organizations.length > 0 && !organizations.includes(call.organizationId)) return false;
  return share >= 1 || placeOf(call) < share;
}

/** A number from 0 to 1 (1 excluded) for the sampling of calls, the same in every process. */
function placeOf({ organizationId, conversationId }: Pick<CallFacts, 'organizationId' | 'conversationId'>): number {
  const hash = createHash('sha256')
    .update(JSON.stringify([organizationId, conversationId]))
    .digest();
  return hash.readUInt32BE() / 2 ** 32;
}

/** Records into a folder that several processes may share. */
export class FolderRecorder implements Recorder {
  readonly #options: FolderRecorderOptions;
  readonly #queue: WriteQueue;
  readonly #writer: RecordingWriter;
  readonly #parameters: ReadonlySet<string>;
  /** Open recordings, with their ids. */
  readonly #open = new Map<CallRecording, string>();
  readonly #byCall = new WeakMap<CallFacts, CallRecording>();
  readonly #free: Buffer[] = [];
  readonly #tidying: Tidying;

  constructor(options: FolderRecorderOptions) {
    const { clock, log, observer, folder } = options;
    this.#options = options;
    this.#parameters = new Set(options.parameters);
    const onLost = (loss: RecordingLoss): void => {
      observer?.lost(loss);
    };
    this.#writer = options.writer ?? new WritingThread(options.key);
    this.#queue = new WriteQueue({ clock, log, onLost, writer: this.#writer });
    this.#tidying = new Tidying({
      ...{ keeping: options.keeping, clock, log },
      folder: new RecordingFolder(folder, [options.key]),
      open: () => [...this.#open.values()],
    });
  }

  begin(recorded: RecordedCall): CallRecorder | undefined {
    try {
      return isChosen(this.#options.choice, recorded.call) ? this.#begun(recorded) : undefined;
    } catch (err) {
      this.#options.log.error({ conversationId: recorded.call.conversationId, err }, 'a call could not be recorded');
      return undefined;
    }
  }

  /** Adds a fact of the engine to the recording of its call. */
  readonly fact = (call: CallFacts, { event, turnId, ...details }: ObservedFact): void => {
    if (!KNOWN_FACTS.has(event)) this.#byCall.get(call)?.fact(event, turnId, details);
  };

  /** Resolves when everything that was queued so far is written or lost. Never rejects. */
  written(): Promise<void> {
    return this.#queue.written();
  }

  /** Closes all recordings and resolves when they are written. Never rejects. */
  async close(): Promise<void> {
    const tidied = this.#tidying.close();
    for (const recording of this.#open.keys()) recording.close();
    await this.#queue.written();
    await this.#writer.close();
    await tidied;
  }

  #begun(recorded: RecordedCall): CallRecording {
    const { folder, maxCallBytes: maxBytes, clock, log, observer } = this.#options;
    const header = this.#header(recorded);
    const recording = new CallRecording({
      ...{ header, recorded, parameters: this.#parameters, maxBytes, queue: this.#queue, clock },
      path: join(folder, header.id + RECORDING_SUFFIX),
      blocks: {
        take: () => this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES),
        giveBack: (bytes) => {
          if (bytes.length === BLOCK_BYTES && this.#free.length < MAX_FREE_BLOCKS) this.#free.push(bytes);
        },
      },
      onClosed: (closed, isWhole, bytes) => {
        this.#open.delete(closed);
        observer?.recorded(isWhole ? 'whole' : 'cut', bytes);
      },
      onFailed: (err) => {
        log.error({ conversationId: recorded.call.conversationId, err }, 'the recording of a call failed');
      },
    });
    if (!recording.isClosed) this.#open.set(recording, header.id);
    this.#byCall.set(recorded.call, recording);
    return recording;
  }

  #header({ call, bot, mode, isTied }: RecordedCall): RecordingHeader {
    const { version, settings, clock } = this.#options;
    return {
      ...{ form: 1, id: `${idTime(clock.nowMs())}-${randomBytes(4).toString('hex')}`, version, settings },
      call: allowedFacts(call, this.#parameters),
      botVersion: bot.version,
      // A WebSocket carries its whole call, an RPC one turn.
      transport: isTied ? 'websocket' : 'grpc',
      ...{ mode, isTied },
    };
  }
}
