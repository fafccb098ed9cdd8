// A speech-to-speech assistant whose connection breaks at each message of its service: the caller hears something, a tool runs once, and the
// call goes on.
import { WebSocket, WebSocketServer } from 'ws';
import { expect, it, onTestFinished } from 'vitest';
import { realtime, tool, z } from '../../../src/ai/index.ts';
import { TestCall } from '../../../src/bot/testing.ts';
import { fakeModels } from '../../../src/fake-platform/models/start-models.ts';

const RULES = [{ when: 'book', use: 'book', input: { slot: 'nine' } }, { after: 'book', say: 'It is booked.' }, { say: 'One two three.' }];

/** Longest time that a caller waits, ms. */
const PATIENCE_MS = 10_000;

/** A service that is reached over a line which breaks once, in place of its nth message. */
async function breaking(nth: number) {
  const models = await fakeModels({ heard: ['book it', 'book it', 'book it'], rules: RULES });
  const line = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  let hasBroken = false;
  line.on('connection', (near) => {
    const far = new WebSocket(models.realtimeUrl);
    const waiting: string[] = [];
    let left = nth;
    near.on('message', (data: Buffer) => {
      if (far.readyState === WebSocket.OPEN) far.send(data.toString());
      else waiting.push(data.toString());
    });
    far.on('open', () => {
      for (const text of waiting) far.send(text);
    });
    far.on('message', (data: Buffer) => {
      left -= 1;
      if (left === 0 && !hasBroken) {
        hasBroken = true;
        near.terminate();
      } else near.send(data.toString());
    });
    far.on('error', () => undefined);
    near.on('close', () => {
      far.terminate();
    });
  });
  await new Promise((resolve) => line.once('listening', resolve));
  onTestFinished(async () => {
    for (const socket of line.clients) socket.terminate();
    line.close();
    await models.close();
  });
  const { port } = line.address() as { port: number };
  return { url: `ws://127.0.0.1:${String(port)}`, hasBroken: () => hasBroken };
}

// Created, updated, instructed, committed, written down, the response with the tool (2), and the one with the words (8).
it.each(Array.from({ length: 15 }, (_, index) => index + 1))(
  'goes on when message %i of its service is lost with its connection',
  async (nth) => {
    const { url, hasBroken } = await breaking(nth);
    const booked: string[] = [];
    const book = tool({ description: 'Books', input: z.object({ slot: z.string() }), run: ({ slot }) => (booked.push(slot), 'done') });
    const bot = realtime({
      ...{ id: 'desk', name: 'Desk', url, model: 'fake', transcribe: 'fake', instructions: 'You book.', greeting: 'Hello.' },
      ...{ tools: { book }, limits: { firstTokenMs: 2000, stallMs: 2000 } },
    });
    const call = await new TestCall(bot).start();
    onTestFinished(async () => {
      await call.hangUp();
    });
    const beganAtMs = performance.now();
    (await call.speak()).hears(/\[audio\]|I lost my thread/u);
    expect(performance.now() - beganAtMs).toBeLessThan(PATIENCE_MS);
    expect(booked).toEqual(['nine']);
    (await call.press('1')).hears('[audio]');
    expect({ booked, hasBroken: hasBroken() }).toEqual({ booked: ['nine'], hasBroken: true });
  },
);
