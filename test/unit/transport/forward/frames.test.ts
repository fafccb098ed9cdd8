// Messages in a body that is cut wherever the wire likes.
import { describe, expect, it } from 'vitest';
import { framed, FrameReader, messageOf } from '../../../../src/transport/forward/frames.ts';
import { HeldInput } from '../../../../src/transport/forward/held-input.ts';

describe('a body of messages', () => {
  const messages = ['', 'a', 'words', 'x'.repeat(300)].map((text) => Buffer.from(text));
  const body = Buffer.concat(messages.map(framed));

  it.each([1, 2, 3, 7, 64, body.length])('is taken apart in chunks of %i bytes', (size) => {
    const reader = new FrameReader();
    const read: Buffer[] = [];
    for (let at = 0; at < body.length; at += size) read.push(...reader.read(body.subarray(at, at + size)));
    expect(read).toEqual(messages);
    expect(reader.isInside).toBe(false);
  });

  it('is known to end inside a message', () => {
    const reader = new FrameReader();
    reader.read(body.subarray(0, body.length - 1));
    expect(reader.isInside).toBe(true);
  });

  it.each([
    ['compressed', [1, 0, 0, 0, 1, 65]],
    ['too large', [0, 0xff, 0, 0, 0, 65]],
  ])('is refused for a message that is %s', (_why, bytes) => {
    expect(() => new FrameReader().read(Buffer.from(bytes))).toThrow('compressed or too large');
  });

  it('gives a framed message back', () => {
    expect(messageOf(framed(Buffer.from('words'))).toString()).toBe('words');
  });
});

describe('what is held of a turn', () => {
  it('never grows beyond its limit, whatever comes, and begins with the first message', () => {
    const held = new HeldInput(Buffer.from('first'), 1000);
    for (let n = 0; n < 5000; n += 1) {
      held.add(Buffer.alloc(1 + (n % 97), n));
      expect(held.bytes).toBeLessThanOrEqual(1000);
    }
    const { messages } = held;
    expect(String(messages[0])).toBe('first');
    expect(messages.at(-1)?.[0]).toBe(4999 % 256);
    expect(messages.reduce((sum, { length }) => sum + length, 0)).toBe(held.bytes);
  });

  it('keeps the newest message, however large it is', () => {
    const held = new HeldInput(Buffer.from('first'), 1000);
    held.add(Buffer.from('old'));
    held.add(Buffer.alloc(2000));
    expect(held.messages.map(({ length }) => length)).toEqual([5, 2000]);
  });
});
