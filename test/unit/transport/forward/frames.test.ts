// Messages in a body that is cut wherever the wire likes.
import { describe, expect, it } from 'vitest';
import { framed, FrameReader } from '../../../../src/transport/forward/frames.ts';
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
});

describe('what is held of a turn', () => {
  const first = framed(Buffer.from('first'));

  it('never grows beyond its limit, whatever comes, and begins with the first message', () => {
    const held = new HeldInput(first, 4000);
    for (let n = 0; n < 5000; n += 1) {
      held.add(Buffer.alloc(1 + (n % 97), n));
      const bytes = held.body.reduce((sum, { length }) => sum + length, 0);
      expect(bytes).toBeLessThanOrEqual(4000);
      if (n > 200) expect(bytes).toBeGreaterThan(2500);
    }
    expect(held.body[0]).toEqual(first);
  });

  it('gives back the newest messages, each of them whole and in order', () => {
    const held = new HeldInput(first, 4000);
    for (let n = 0; n < 500; n += 1) held.add(Buffer.alloc(1 + (n % 97), n));
    const { messages } = held;
    const oldest = 500 - messages.length;
    expect(messages).toEqual(messages.map((_, index) => Buffer.alloc(1 + ((oldest + index) % 97), oldest + index)));
    expect(Buffer.concat(held.body)).toEqual(Buffer.concat([first, ...messages.map(framed)]));
  });

  it('gives the frame of each message, which stays as it is while others come', () => {
    const held = new HeldInput(first, 1000);
    const frames = Array.from({ length: 100 }, (_, n) => held.add(Buffer.from(`message ${String(n)}`)));
    expect(frames.map(String)).toEqual(frames.map((_, n) => String(framed(Buffer.from(`message ${String(n)}`)))));
  });

  it('keeps the newest message, however large it is', () => {
    const held = new HeldInput(first, 1000);
    held.add(Buffer.from('old'));
    held.add(Buffer.alloc(2000));
    expect(held.messages.map(({ length }) => length)).toEqual([2000]);
  });
});
