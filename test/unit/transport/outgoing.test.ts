import { describe, expect, it } from 'vitest';
import { Outgoing } from '../../../src/transport/outgoing.ts';

/** A stream whose client reads one message whenever a test says so. */
class Client {
  readonly unread: { readonly bytes: Buffer; readonly onTaken: () => void }[] = [];

  write(bytes: Buffer, onTaken: () => void): boolean {
    this.unread.push({ bytes, onTaken });
    return true;
  }

  read(): void {
    this.unread.shift()?.onTaken();
  }
}

const message = (bytes: number): Buffer => Buffer.alloc(bytes);

describe('Outgoing', () => {
  it('is full when more than 64 KiB wait, and drained when less do', () => {
    const client = new Client();
    const outgoing = new Outgoing(client, 1_000_000);
    let drained = 0;
    expect([outgoing.send(message(65_536)), outgoing.isFull]).toEqual([true, false]);
    expect([outgoing.send(message(65_536)), outgoing.isFull]).toEqual([true, true]);
    expect([outgoing.send(message(1)), outgoing.isFull]).toEqual([true, true]);
    outgoing.onceDrained(() => (drained += 1));
    client.read();
    expect([outgoing.isFull, drained]).toEqual([true, 0]);
    client.read();
    expect([outgoing.isFull, drained]).toEqual([false, 1]);
    client.read();
    expect(drained).toBe(1);
  });

  it('does not let a writer wait that nothing stands in the way of', () => {
    let drained = 0;
    new Outgoing(new Client(), 100).onceDrained(() => (drained += 1));
    expect(drained).toBe(1);
  });

  it('G-91 writes nothing beyond its limit, and lets a message pass that is larger alone', () => {
    const client = new Client();
    const outgoing = new Outgoing(client, 10_000);
    expect(outgoing.send(message(50_000))).toBe(true);
    expect(outgoing.send(message(1))).toBe(false);
    expect(client.unread.length).toBe(1);
    client.read();
    expect([outgoing.send(message(6000)), outgoing.send(message(4000)), outgoing.send(message(1))]).toEqual([true, true, false]);
  });

  it('G-91 lets a message pass that is larger alone behind a notice that has not left yet, and then no more', () => {
    const outgoing = new Outgoing(new Client(), 10_000);
    expect([outgoing.send(message(20)), outgoing.send(message(50_000)), outgoing.send(message(20))]).toEqual([true, true, false]);
  });
});
