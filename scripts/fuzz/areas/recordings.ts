// Files of recordings. The first byte says what follows: 0 the file itself; 1 pieces that are sealed here, each with its kind (one byte)
// and its length (four), so that what is changed still opens. Everybody can make a file that lies open.
import { AppError, toAppError } from '../../../src/base/errors.ts';
import { callPage } from '../../../src/recording/call-page.ts';
import { shownSound, viewOf } from '../../../src/recording/call-view.ts';
import { EventBlock } from '../../../src/recording/event-block.ts';
import { headAndEnd, readRecording, unsealed } from '../../../src/recording/read-recording.ts';
import type { RecordedEvent, RecordingHeader } from '../../../src/recording/recording.ts';
import { turnsOf } from '../../../src/recording/replay/recorded-turns.ts';
import { FileSealer, PIECE } from '../../../src/recording/sealed-file.ts';
import { reactionOf, type Area, type Reaction } from '../area.ts';
import { mutated, mutatedParts, mutatedText } from '../mutations.ts';

const KEY = Buffer.alloc(32, 7);
const [WHOLE, PIECES] = [Buffer.of(0), Buffer.of(1)];
/** Longest call whose sound is made, ms. */
const MAX_SOUND_MS = 600_000;

const HEADER: RecordingHeader = {
  ...{ form: 1, id: '20261128T172234-5f0c19ab', version: '1.0.0', botVersion: 1, transport: 'grpc', mode: 'chunk', isTied: false },
  call: {
    ...{ conversationId: 'c', organizationId: 'o', agentId: 'a', vendorConfig: '', parameters: {}, startedAtMs: 1_790_000_000_000 },
  },
  settings: { listen: { no_input_ms: 5000 } },
};
const LISTEN = { kind: 'listen', accept: 'both', digits: 4, sensitive: false };
const PROMPT = { text: 'Hello there', sound: { from: 0, bytes: 160 }, durationMs: 20, bargeIn: true };
/** One of each kind. */
const EVENTS: readonly object[] = [
  { kind: 'turn_opened', opensWith: 'start', trackingId: 't' },
  { kind: 'input', input: { kind: 'session_start', name: 'n', parameters: {} } },
  { kind: 'output', output: { kind: 'prompt', prompt: PROMPT } },
  { kind: 'fact', event: 'barge_in', details: { by: 'keys', heardMs: 10 } },
  { kind: 'interim', text: 'he', stable: 'h', isWhole: false },
  { kind: 'words', text: 'hello', tookMs: 3 },
  { kind: 'service', service: 'tool', key: 'k', tookMs: 4, answer: { a: 1 } },
  { kind: 'state', state: { count: 1 } },
  { kind: 'fact', event: 'answer_parts', details: { engineMs: 1, botMs: 2 } },
  { kind: 'fact', event: 'bot_failed', details: { code: 'bot_failed', message: 'm' } },
  { kind: 'output', output: { kind: 'final', prompts: [PROMPT], next: LISTEN } },
  { kind: 'half_closed' },
  { kind: 'aborted', reason: 'r' },
  { kind: 'turn_closed', end: 'final' },
  { kind: 'ended', end: 'caller' },
];

export function recordings(): Area {
  const whole = sealedOf(piecesOf(sample()), KEY);
  return {
    name: 'recordings',
    seeds: [
      Buffer.concat([PIECES, sample()]),
      Buffer.concat([WHOLE, whole]),
      Buffer.concat([WHOLE, sealedOf(piecesOf(sample()), undefined)]),
    ],
    mutate: (input, random, other) => {
      if (input[0] !== PIECES[0] || random() < 0.1) return mutated(input, random, other);
      const change = (part: Buffer): Buffer =>
        random() < 0.7 ? withChangedJson(part, random) : Buffer.concat([part.subarray(0, 1), mutated(part.subarray(1), random)]);
      const others = other[0] === PIECES[0] ? piecesOf(other.subarray(1)) : [];
      return Buffer.concat([PIECES, ...mutatedParts(piecesOf(input.subarray(1)), random, others, change).map(withLength)]);
    },
    read: (input) => read(input[0] === PIECES[0] ? sealedOf(piecesOf(input.subarray(1)), undefined) : input.subarray(1)),
  };
}

/** Pieces of a call with all kinds of events. */
function sample(): Buffer {
  const block = new EventBlock();
  for (const [index, event] of EVENTS.entries()) {
    block.json(index * 20, 1, JSON.stringify({ atMs: index * 20, turn: 'c#1', ...event } satisfies Partial<RecordedEvent>));
    block.audio(index * 20, 1, { kind: 'audio', audio: new Uint8Array(40).fill(index) }, index === 5);
  }
  return Buffer.concat(
    [
      Buffer.concat([Buffer.of(PIECE.header), Buffer.from(JSON.stringify(HEADER))]),
      Buffer.concat([Buffer.of(PIECE.events), block.written]),
      Buffer.concat([Buffer.of(PIECE.sound), Buffer.alloc(160, 0x7f)]),
    ].map(withLength),
  );
}

/** Pieces with their kinds. */
function piecesOf(bytes: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length && pieces.length < 100;) {
    const end = at + 5 + bytes.readUInt32BE(at);
    pieces.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return pieces;
}

function withLength(piece: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Math.max(0, piece.length - 1));
  return Buffer.concat([length, piece]);
}

function sealedOf(pieces: readonly Buffer[], key: Buffer | undefined): Buffer {
  const sealer = new FileSealer(key);
  const sealed = pieces.flatMap((piece) => sealer.piece(piece[0] ?? 0, piece.subarray(1)));
  return Buffer.concat([sealer.head, ...sealed, ...sealer.summary({ end: 'caller', durationMs: 5, turns: 1 })]);
}

/** One JSON text of a piece changed, and its length with it. */
function withChangedJson(piece: Buffer, random: () => number): Buffer {
  const texts = [...piece.toString('latin1').matchAll(/\{"[^\n]*?\}(?![}\]",])/gu)];
  const chosen = texts[Math.floor(random() * texts.length)];
  if (chosen === undefined) return mutated(piece, random);
  const text = Buffer.from(mutatedText(chosen[0], random));
  const before = Buffer.from(piece.subarray(0, chosen.index));
  if (piece[0] === PIECE.events && before.length > 4) before.writeUInt32LE(text.length, before.length - 4);
  return Buffer.concat([before, text, piece.subarray(chosen.index + chosen[0].length)]);
}

function read(file: Buffer): Promise<Reaction> {
  return reactionOf(
    async () => {
      const recording = readRecording(file, [KEY]);
      unsealed(file, [KEY]);
      headAndEnd(file, file.subarray(-600), [KEY]);
      // The sound of a day needs its memory, and is no fault.
      const isShort = (recording.events.at(-1)?.atMs ?? 0) < MAX_SOUND_MS;
      const view = viewOf(recording, isShort ? shownSound(recording, () => 'data:audio/wav;base64,UklGRg==') : {});
      turnsOf(recording.events);
      await callPage(view).catch((thrown: unknown) => {
        // Without a build there is no page to put it in.
        if (toAppError(thrown).code !== 'internal' || !toAppError(thrown).message.includes('dist/console')) throw thrown;
      });
      return view.turns.length > 0 ? 'read' : 'read, without turns';
    },
    (thrown) => (thrown instanceof AppError && thrown.code !== 'internal' ? thrown.message : undefined),
  );
}
