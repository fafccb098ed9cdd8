// A recording that lies open may come from anybody: whatever it holds, it is read or refused with a sentence.
import { describe, expect, it } from 'vitest';
import { EventBlock } from '../../../src/recording/event-block.ts';
import { readRecording } from '../../../src/recording/read-recording.ts';
import { FileSealer, PIECE } from '../../../src/recording/sealed-file.ts';

const HEADER = {
  ...{
    form: 1,
    id: '20261128T172234-5f0c19ab',
    version: '1',
    botVersion: 1,
    transport: 'grpc',
    mode: 'chunk',
    isTied: false,
    settings: {},
  },
  call: { conversationId: 'c', organizationId: 'o', agentId: 'a', startedAtMs: 0, vendorConfig: '', parameters: {} },
};
const TURN = { atMs: 0, turn: 'c#1' };

/** An open file. @param events - bytes of its events, or what they are in JSON. */
function openFile(header: object, events: Uint8Array | readonly unknown[]): Uint8Array {
  const sealer = new FileSealer(undefined);
  const block = new EventBlock();
  if (!(events instanceof Uint8Array)) for (const event of events) block.json(timeOf(event), 1, JSON.stringify(event));
  const written = events instanceof Uint8Array ? events : block.written;
  const pieces = [sealer.piece(PIECE.header, Buffer.from(JSON.stringify(header))), sealer.piece(PIECE.events, written)];
  return Buffer.concat([sealer.head, ...pieces.flat(), ...sealer.summary({ end: 'caller' })]);
}

/** Its time stands in front of an event. */
function timeOf(event: unknown): number {
  return typeof event === 'object' && event !== null && 'atMs' in event ? Number(event.atMs) : 0;
}

/** Records of frames whose sound is withheld. */
function withheldFrames(count: number, bytes: number, atMs = 0): Uint8Array {
  const record = Buffer.alloc(22);
  record[0] = 3;
  record.writeDoubleLE(atMs, 1);
  record.writeUInt32LE(bytes, 18);
  return Buffer.concat(Array.from({ length: count }, () => record));
}

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
const reading = (header: object, events: Uint8Array | readonly unknown[]) => () => readRecording(openFile(header, events), []);
const refused = (why: RegExp) =>
  expect.objectContaining({ code: 'recording_unreadable', message: expect.stringMatching(why) as string }) as Error;

describe('a recording of somebody else', () => {
  it('is read when it is one', () => {
    const opened = { ...TURN, kind: 'turn_opened', opensWith: 'start' };
    expect(reading(HEADER, [opened])().events).toEqual([opened]);
  });

  it.each([
    ['null', null],
    ['no JSON of an event', 7],
    ['an unknown kind', { ...TURN, kind: 'later' }],
    ['no turn', { atMs: 0, kind: 'half_closed' }],
    ['a time beyond every call', { ...TURN, atMs: 1e300, kind: 'half_closed' }],
    ['a time before the call', { ...TURN, atMs: -1, kind: 'half_closed' }],
    ['an output without prompts', { ...TURN, kind: 'output', output: { kind: 'final', next: { kind: 'gone' } } }],
    ['an output without a next step', { ...TURN, kind: 'output', output: { kind: 'final', prompts: [] } }],
    ['a prompt that never ends', { ...TURN, kind: 'output', output: { kind: 'prompt', prompt: { durationMs: 1e15, bargeIn: true } } }],
    ['a fact without details', { atMs: 0, kind: 'fact', event: 'barge_in' }],
    ['a state that nests far too deep', { ...TURN, kind: 'state', state: nested(1000) }],
    ['an input without a name', { ...TURN, kind: 'input', input: { kind: 'custom_event', parameters: {} } }],
  ])('is refused with an event that is %s', (_, event) => {
    expect(reading(HEADER, [event])).toThrow(refused(/an event that no recording has/u));
  });

  it.each([
    ['no call', { ...HEADER, call: undefined }],
    ['a start that is no time', { ...HEADER, call: { ...HEADER.call, startedAtMs: 1e300 } }],
    ['settings that are no object', { ...HEADER, settings: 'none' }],
    ['an id that nests far too deep', { ...HEADER, id: nested(1000) }],
  ])('is refused with a header that has %s', (_, header) => {
    expect(reading(header, [])).toThrow(refused(/no header of a recording/u));
  });

  it('fills no memory with sound that is not in it', () => {
    expect(reading(HEADER, withheldFrames(1, 4_294_967_295))).toThrow(refused(/longer than any/u));
    expect(reading(HEADER, withheldFrames(70, 16_777_216))).toThrow(refused(/more sound than any call/u));
    expect(reading(HEADER, withheldFrames(1, 160, Number.NaN))).toThrow(refused(/an event that no recording has/u));
  });

  it('is read without a summary that is none', () => {
    const sealer = new FileSealer(undefined);
    const pieces = [...sealer.piece(PIECE.header, Buffer.from(JSON.stringify(HEADER))), ...sealer.summary({})];
    const file = Buffer.concat([sealer.head, ...pieces]);
    expect(readRecording(file, []).events).toEqual([]);
  });
});
