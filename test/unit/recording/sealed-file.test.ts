import { describe, expect, it } from 'vitest';
import { EventBlock } from '../../../src/recording/event-block.ts';
import { headAndEnd, readRecording, unsealed } from '../../../src/recording/read-recording.ts';
import type { RecordedEvent } from '../../../src/recording/recording.ts';
import { FileSealer, PIECE } from '../../../src/recording/sealed-file.ts';
import { RECORDING_KEY } from '../../support/recording-lab.ts';

const ID = '20261128T172234-5f0c19ab';
const FACTS = {
  ...{ form: 1, id: ID, version: '1', botVersion: 1, transport: 'grpc', mode: 'chunk', isTied: false, settings: {} },
  call: { conversationId: 'c', organizationId: 'o', agentId: 'a', startedAtMs: 0, vendorConfig: '', parameters: {} },
};
const HEADER = Buffer.from(JSON.stringify(FACTS));
const WORDS = ['one', 'two', 'three'];
const REFUSED = { code: 'recording_unreadable' };

function eventsPiece(...words: readonly string[]): Buffer {
  const block = new EventBlock();
  for (const text of words) {
    const atMs = WORDS.indexOf(text);
    const event: RecordedEvent = { kind: 'words', atMs, turn: 'call#1', text, tookMs: 0 };
    block.json(atMs, 1, JSON.stringify(event));
  }
  return block.written;
}

/** The parts of a file: its head with the header, two pieces of events, one of sound, and the summary. */
function parts(key: Buffer | undefined = RECORDING_KEY): [Buffer, Buffer, Buffer, Buffer, Buffer] {
  const sealer = new FileSealer(key);
  return [
    Buffer.concat([sealer.head, ...sealer.piece(PIECE.header, HEADER)]),
    Buffer.concat(sealer.piece(PIECE.events, eventsPiece('one', 'two'))),
    Buffer.concat(sealer.piece(PIECE.sound, Buffer.from('sound'))),
    Buffer.concat(sealer.piece(PIECE.events, eventsPiece('three'))),
    Buffer.concat(sealer.summary({ end: 'caller', durationMs: 5, turns: 1 })),
  ];
}

const wordsOf = (file: Uint8Array, keys = [RECORDING_KEY]): readonly unknown[] =>
  readRecording(file, keys).events.map((event) => (event.kind === 'words' ? event.text : event.kind));

describe('the file of a recording', () => {
  it('is read up to the last whole piece wherever it was cut', () => {
    const all = parts();
    const file = Buffer.concat(all);
    const [head, first] = all;
    const third = file.length - all[4].length;
    for (let length = 0; length <= file.length; length += 1) {
      const cut = file.subarray(0, length);
      if (length < head.length) expect(() => wordsOf(cut), String(length)).toThrow(expect.objectContaining(REFUSED));
      else {
        const known = length < head.length + first.length ? 0 : length < third ? 2 : 3;
        expect(wordsOf(cut), String(length)).toEqual(WORDS.slice(0, known));
      }
    }
  });

  it('tells from its first and last bytes whose call it is and how it ended', () => {
    const file = Buffer.concat(parts());
    expect(headAndEnd(file, file.subarray(-600), [RECORDING_KEY])).toEqual({
      header: FACTS,
      summary: { end: 'caller', durationMs: 5, turns: 1, pieces: 4 },
    });
    const cut = file.subarray(0, -1);
    expect(headAndEnd(cut, cut.subarray(-600), [RECORDING_KEY]).summary).toBeUndefined();
  });

  it('opens with any of the keys, and with no other', () => {
    const file = Buffer.concat(parts());
    expect(wordsOf(file, [Buffer.alloc(32, 1), RECORDING_KEY])).toHaveLength(3);
    expect(() => wordsOf(file, [Buffer.alloc(32, 1)])).toThrow(expect.objectContaining(REFUSED));
    expect(() => wordsOf(file, [])).toThrow(expect.objectContaining(REFUSED));
  });

  it.each([
    ['two pieces changed places', ([a, b, c, d, e]: Buffer[]) => [a, d, c, b, e]],
    ['a piece was left out', ([a, , c, d, e]: Buffer[]) => [a, c, d, e]],
    ['the last piece before the summary was left out', ([a, b, c, , e]: Buffer[]) => [a, b, c, e]],
    ['a piece comes twice', ([a, b, c, d, e]: Buffer[]) => [a, b, b, c, d, e]],
    ['a piece of another call was put in', ([a, , c, d, e]: Buffer[]) => [a, parts()[1], c, d, e]],
    ['something follows the summary', ([a, b, c, d, e]: Buffer[]) => [a, b, c, d, e, e]],
  ])('is refused when %s', (_, change) => {
    const file = Buffer.concat(change(parts()).map((part) => part ?? Buffer.alloc(0)));
    expect(() => wordsOf(file)).toThrow(expect.objectContaining(REFUSED));
  });

  it('is refused when its id would name a file elsewhere', () => {
    const sealer = new FileSealer(undefined);
    const header = Buffer.from(JSON.stringify({ form: 1, id: '../escaped' }));
    const file = Buffer.concat([sealer.head, ...sealer.piece(PIECE.header, header)]);
    expect(() => wordsOf(file, [])).toThrow(expect.objectContaining(REFUSED));
    expect(() => headAndEnd(file, file, [])).toThrow(expect.objectContaining(REFUSED));
  });

  it('is refused when any byte behind its head was changed, or is read up to a cut there', () => {
    const all = parts();
    const file = Buffer.concat(all);
    for (let at = 0; at < file.length; at += 1) {
      const changed = Buffer.from(file);
      changed[at] = (changed[at] ?? 0) ^ 0x40;
      let words: readonly unknown[] | undefined;
      try {
        words = wordsOf(changed);
      } catch (thrown) {
        expect(thrown).toMatchObject(REFUSED);
      }
      // A length that points behind the end looks like a cut; what is read is never something else.
      if (words !== undefined) expect(WORDS.slice(0, words.length), String(at)).toEqual(words);
    }
  });

  it('holds nothing readable until it is exported open', () => {
    const file = Buffer.concat(parts());
    expect(file.includes('three')).toBe(false);
    const open = unsealed(file, [RECORDING_KEY]);
    expect(wordsOf(open, [])).toEqual(WORDS);
    expect(headAndEnd(open, open.subarray(-600), []).summary).toMatchObject({ end: 'caller' });
  });
});
