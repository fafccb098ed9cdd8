// Messages of many streams, taken together once the event loop has read what there is.
import { describe, expect, it } from 'vitest';
import { MessageBatch } from '../../../src/transport/grpc/message-batch.ts';

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a batch of messages', () => {
  it('is taken in the order in which the messages came, once the event loop has read what there is', async () => {
    const batch = new MessageBatch();
    const taken: string[] = [];
    const stream = (name: string) => (bytes: Buffer) => void taken.push(name + bytes.toString());
    const [one, other] = [batch.listener(stream('one ')), batch.listener(stream('other '))];
    one(Buffer.from('1'));
    other(Buffer.from('1'));
    one(Buffer.from('2'));
    expect(taken).toEqual([]);
    await turnOfTheLoop();
    expect(taken).toEqual(['one 1', 'other 1', 'one 2']);
  });

  it('is taken at once when somebody may not get ahead of it, and each message once', async () => {
    const batch = new MessageBatch();
    const taken: string[] = [];
    batch.listener((bytes) => void taken.push(bytes.toString()))(Buffer.from('1'));
    batch.flush();
    expect(taken).toEqual(['1']);
    await turnOfTheLoop();
    expect(taken).toEqual(['1']);
  });

  it('takes what comes while it is taken in the next turn of the event loop', async () => {
    const batch = new MessageBatch();
    const taken: string[] = [];
    const listener = batch.listener((bytes) => {
      taken.push(bytes.toString());
      if (taken.length < 3) listener(Buffer.from(String(taken.length)));
    });
    listener(Buffer.from('0'));
    await turnOfTheLoop();
    expect(taken).toEqual(['0']);
    await turnOfTheLoop();
    await turnOfTheLoop();
    expect(taken).toEqual(['0', '1', '2']);
  });
});
