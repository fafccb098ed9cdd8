// A real gRPC server whose answers a test writes, RPC by RPC, and which keeps the exchange as the reference exchanges
// are written. It knows the messages and nothing of any engine.
import { readFileSync } from 'node:fs';
import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type StatusObject,
} from '@grpc/grpc-js';
import {
  loadContract,
  type EncodedResponse,
  type ListAgentsRequest,
  type ListAgentsResponse,
  type MediaRequest,
  type MediaResponse,
} from '../../src/contract/grpc.ts';
import { EVENT_INPUT, EVENT_OUTPUT, INPUT_MODE, RESPONSE_TYPE } from '../../src/contract/numbers.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';

/** One message as it came. */
export interface Received {
  readonly message: MediaRequest;
  readonly atMs: number;
}

/** One RPC in the hands of a test. */
export interface ScriptedTurn {
  /** Counted from 1 in the order the RPCs were opened. */
  readonly number: number;
  readonly metadata: Metadata;
  /** Everything received so far. */
  readonly received: readonly Received[];
  readonly isHalfClosed: boolean;
  readonly isCancelled: boolean;
  /** Waits until the condition holds; it is looked at after every message, half-close and cancellation. Rejects when the RPC is over before. */
  until(condition: (turn: ScriptedTurn) => boolean): Promise<void>;
  /** Waits for the half-close. */
  halfClosed(): Promise<void>;
  /** Waits for a frame that is not silent. */
  speech(): Promise<void>;
  /** Waits for so many silent frames after speech. */
  silenceAfterSpeech(frames?: number): Promise<void>;
  send(response: MediaResponse): void;
  complete(trailers?: Readonly<Record<string, string | Buffer>>): void;
  fail(code: status, details: string): void;
}

/** What a test does with each RPC. A rejection ends the RPC with INTERNAL and is kept in `failures`. */
export type TurnScript = (turn: ScriptedTurn) => void | Promise<void>;

/** A running server. `close` must be called. */
export interface ScriptedServer {
  readonly port: number;
  /** `grpc://127.0.0.1:PORT`, or `localhost:PORT` with TLS. */
  readonly target: string;
  /** Lines such as `RPC1 > SESSION_START`; what one side of an RPC repeats is written once. */
  readonly exchange: readonly string[];
  readonly turns: readonly ScriptedTurn[];
  /** What went wrong in the test's own scripts. */
  readonly failures: readonly unknown[];
  close(): void;
}

/** How to start a server. */
export interface ScriptedServerOptions {
  readonly script: TurnScript;
  readonly agents?: ListAgentsResponse;
  /** PEM files; plaintext without. */
  readonly tls?: { readonly certificateFile: string; readonly keyFile: string };
  /** Time of the received messages; default the real clock. */
  readonly clock?: Clock;
}

const contract = loadContract(loadProfile('fake'));

/** Starts a server on a free port of 127.0.0.1. */
export async function startScriptedServer(options: ScriptedServerOptions): Promise<ScriptedServer> {
  const { script, clock = systemClock, agents = {} } = options;
  const exchange: string[] = [];
  const turns: ScriptedTurn[] = [];
  const failures: unknown[] = [];
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  server.addService(contract.media.definition, {
    ProcessCallerInput: (call: ServerDuplexStream<MediaRequest, MediaResponse | EncodedResponse>) => {
      const turn = scriptTurn(turns.length + 1, call, exchange, clock);
      turns.push(turn);
      Promise.resolve()
        .then(() => script(turn))
        .catch((error: unknown) => {
          failures.push(error);
          turn.fail(status.INTERNAL, 'the script of the test failed');
        });
    },
    ListVirtualAgents: (_call: ServerUnaryCall<ListAgentsRequest, ListAgentsResponse>, callback: sendUnaryData<ListAgentsResponse>) => {
      callback(null, agents);
    },
  });
  const credentials =
    options.tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [
          { cert_chain: readFileSync(options.tls.certificateFile), private_key: readFileSync(options.tls.keyFile) },
        ]);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    target: options.tls === undefined ? `grpc://127.0.0.1:${String(port)}` : `localhost:${String(port)}`,
    exchange,
    turns,
    failures,
    close: () => {
      server.forceShutdown();
    },
  };
}

function scriptTurn(
  number: number,
  call: ServerDuplexStream<MediaRequest, MediaResponse | EncodedResponse>,
  exchange: string[],
  clock: Clock,
): ScriptedTurn {
  const name = `RPC${String(number)}`;
  const received: Received[] = [];
  const waiting = new Set<{ condition: (turn: ScriptedTurn) => boolean; resolve: () => void; reject: (error: Error) => void }>();
  const lastLines = new Map<string, string>();
  let isHalfClosed = false;
  let isOver = false;
  const write = (line: string): void => {
    const direction = line.split(' ')[1] ?? '';
    if (line !== lastLines.get(direction)) exchange.push(line);
    lastLines.set(direction, line);
  };
  const look = (): void => {
    for (const waiter of waiting) {
      if (waiter.condition(turn)) {
        waiting.delete(waiter);
        waiter.resolve();
      } else if (isOver || (isHalfClosed && call.cancelled)) {
        waiting.delete(waiter);
        waiter.reject(new Error(`${name} was over before what the test waits for`));
      }
    }
  };
  const turn: ScriptedTurn = {
    number,
    metadata: call.metadata,
    received,
    get isHalfClosed() {
      return isHalfClosed;
    },
    get isCancelled() {
      return call.cancelled;
    },
    until: (condition) =>
      new Promise((resolve, reject) => {
        waiting.add({ condition, resolve, reject });
        look();
      }),
    halfClosed: () => turn.until(() => isHalfClosed),
    speech: () => turn.until(() => received.some(({ message }) => isSpeech(message))),
    silenceAfterSpeech: (frames = 5) =>
      turn.until(() => {
        const last = received.findLastIndex(({ message }) => isSpeech(message));
        return last >= 0 && received.length - 1 - last >= frames;
      }),
    send: (response) => {
      if (isOver || call.cancelled) return;
      write(`${name} < ${responseName(response)}`);
      call.write(response);
    },
    complete: (trailers = {}) => {
      if (isOver) return;
      isOver = true;
      if (!call.cancelled) write(`${name} < complete`);
      const metadata = new Metadata();
      for (const [key, value] of Object.entries(trailers)) metadata.set(key, value);
      call.end(metadata);
    },
    fail: (code, details) => {
      if (isOver) return;
      isOver = true;
      write(`${name} < ${status[code]}`);
      const failure: Partial<StatusObject> = { code, details };
      call.emit('error', failure);
    },
  };
  call.on('data', (message: MediaRequest) => {
    received.push({ message, atMs: clock.monotonicMs() });
    write(`${name} > ${requestName(message)}`);
    look();
  });
  call.on('end', () => {
    isHalfClosed = true;
    write(`${name} > half-close`);
    look();
  });
  call.on('cancelled', () => {
    if (!isOver) write(`${name} > cancel`);
    isOver = true;
    look();
  });
  call.on('error', () => {
    look();
  });
  return turn;
}

/** Whether a message carries caller audio in which something is to be heard. */
export function isSpeech({ audio_input: input }: MediaRequest): boolean {
  const audio = input?.caller_audio;
  // The codes nearest to silence differ in the low bits only.
  return audio !== undefined && audio.length > 3 && audio.some((code) => (code & 0x7f) < 0x60);
}

function requestName(message: MediaRequest): string {
  if (message.event_input !== undefined) return nameOf(EVENT_INPUT, message.event_input.event_type ?? 0);
  if (message.dtmf_input !== undefined) return `dtmf_input ${(message.dtmf_input.dtmf_events ?? []).join(' ')}`.trim();
  const audio = message.audio_input?.caller_audio;
  if (audio === undefined || audio.length === 0) return 'format';
  if (audio.length < 15) return 'probe';
  return isSpeech(message) ? 'speech' : 'silence';
}

function responseName(response: MediaResponse): string {
  const type = nameOf(RESPONSE_TYPE, response.response_type ?? RESPONSE_TYPE.FINAL);
  const event = response.output_events?.[0]?.event_type;
  const prompts = response.prompts ?? [];
  return [type, event === undefined ? '' : nameOf(EVENT_OUTPUT, event), prompts.length === 0 ? '' : 'prompt']
    .filter((part) => part !== '')
    .join(' ');
}

function nameOf(names: Readonly<Record<string, number>>, number: number): string {
  return Object.entries(names).find(([, value]) => value === number)?.[0] ?? String(number);
}

/** Settings every FINAL carries that does not end the call (G-80): both inputs, four keys or #, no report of silence. */
export function listenFor(
  mode: keyof typeof INPUT_MODE = 'INPUT_VOICE_DTMF',
  keys: { readonly digits?: number; readonly interDigitMs?: number; readonly termchar?: number; readonly noInputMs?: number } = {},
): MediaResponse {
  return {
    input_mode: INPUT_MODE[mode],
    input_handling_config: {
      dtmf_config: {
        inter_digit_timeout_msec: keys.interDigitMs ?? 3000,
        dtmf_input_length: keys.digits ?? 4,
        ...(keys.termchar === undefined ? {} : { termchar: keys.termchar }),
      },
      speech_timers: { no_input_timeout_msec: keys.noInputMs ?? 0 },
    },
  };
}

/** A response that says only this event, as FINAL or as CHUNK. */
export function eventOnly(event: keyof typeof EVENT_OUTPUT, type: keyof typeof RESPONSE_TYPE = 'FINAL'): MediaResponse {
  return { response_type: RESPONSE_TYPE[type], output_events: [{ event_type: EVENT_OUTPUT[event] }] };
}
