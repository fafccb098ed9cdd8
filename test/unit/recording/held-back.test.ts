import { describe, expect, it } from 'vitest';
import { EventBlock, EventReader } from '../../../src/recording/event-block.ts';
import { HeldBack } from '../../../src/recording/held-back.ts';
import type { RecordedEvent } from '../../../src/recording/recording.ts';

/** Digits of a turn, in the block that is written. */
function press(block: EventBlock, turn: number, digits: string): void {
  const event: RecordedEvent = { kind: 'input', atMs: 0, turn: String(turn), input: { kind: 'dtmf', digits } };
  block.json(0, turn, JSON.stringify(event));
}

/** The digits in blocks; `-` where they are withheld. */
function digitsIn(...blocks: readonly EventBlock[]): readonly string[] {
  const reader = new EventReader(false);
  for (const { written } of blocks) reader.read(written);
  return reader.events.flatMap((event) => (event.kind === 'input' ? ['digits' in event.input ? event.input.digits : '-'] : []));
}

describe('what is held back', () => {
  it('is kept when no turn has asked for something sensitive, and only when all are decided', () => {
    const [held, full, block] = [new HeldBack(), new EventBlock(), new EventBlock()];
    held.wait(1, full);
    press(full, 1, '1');
    held.complete(1, full);
    held.wait(2, full);
    expect(held.take(full)).toBe(true);
    press(block, 2, '2');
    expect(held.decided(1, false, true, block)).toEqual([]);
    expect(held.decided(2, false, true, block)).toEqual([full]);
    expect(digitsIn(full, block)).toEqual(['1', '2']);
    expect(held.take(block)).toBe(false);
  });

  it('is withheld from a sensitive question on, without the harmless input that led to it', () => {
    const [held, full, block] = [new HeldBack(), new EventBlock(), new EventBlock()];
    press(full, 0, '0');
    held.wait(1, full);
    press(full, 1, '1');
    expect(held.take(full)).toBe(true);
    press(block, 1, '11');
    held.complete(1, block);
    // A second input on its stream, and one on another.
    press(block, 1, '111');
    held.complete(1, block);
    held.wait(2, block);
    press(block, 2, '2');
    held.complete(2, block);
    expect(held.decided(1, true, true, block)).toEqual([full]);
    expect(digitsIn(full, block)).toEqual(['0', '1', '11', '-', '-']);
    press(block, 2, '22');
    held.complete(2, block);
    held.decided(2, true, true, block);
    expect(digitsIn(block)).toEqual(['11', '-', '-', '-']);
  });

  it('is not decided by the end of a turn whose bot is asked, and withheld at the end of the recording', () => {
    const [held, block] = [new HeldBack(), new EventBlock()];
    held.wait(1, block);
    expect(held.isDecidedByEnd(1)).toBe(true);
    press(block, 1, '1');
    held.complete(1, block);
    held.asked(1);
    expect([held.isDecidedByEnd(1), held.isAsked, held.isIdle]).toEqual([false, true, false]);
    held.end(block);
    expect(digitsIn(block)).toEqual(['-']);
  });

  it('is bounded', () => {
    const [held, block] = [new HeldBack(), new EventBlock()];
    held.wait(1, block);
    for (let full = 0; full < 16; full += 1) {
      expect(held.isFull).toBe(false);
      held.take(new EventBlock(Buffer.alloc(1)));
    }
    expect(held.isFull).toBe(true);
  });
});
