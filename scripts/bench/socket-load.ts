// Paced calls over WebSocket, in a process of its own: one connection each, a frame every 20 ms. It reads only as much of the
// answers as it needs to see that the server listens. Says on stdout when its window begins, and at its end what it has done.
// Arguments: a `SocketOrder` as JSON.
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { FRAME_MS } from '../../src/speech/audio-format.ts';
import { percentile } from './figures.ts';
import { audioFrame, endFrame, SOUND_FRAMES, startFrame, type AudioFrame } from './socket-traffic.ts';
import type { SocketOrder, SocketWindow } from './socket-rounds.ts';
import type { CallName } from './traffic.ts';

const order = JSON.parse(process.argv[2] ?? '{}') as SocketOrder;
const counted = { frames: 0, blocked: 0, failed: 0, starts: 0 };
/** Every connection reads into it; what is read is looked at at once. */
const shared = Buffer.alloc(65_536);
/** Answers that are longer carry sound. */
const MAX_EVENT_BYTES = 400;

/** One call; `tick` is called every 20 ms. */
class SocketCall {
  readonly #name: CallName;
  readonly #frame: AudioFrame;
  readonly #socket: net.Socket;
  #state: 'upgrading' | 'talking' | 'over' = 'upgrading';
  #sent = 0;

  constructor(offset: number) {
    this.#name = { conversationId: randomUUID(), organizationId: order.organizationId, agentId: order.agentId };
    this.#frame = audioFrame(this.#name, offset);
    this.#socket = net.connect({
      port: order.port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: shared,
        callback: (length, buffer) => {
          this.#read(Buffer.from(buffer.buffer, 0, length));
          return true;
        },
      },
    });
    this.#socket.on('error', () => undefined);
    this.#socket.once('close', () => {
      if (this.#state !== 'over') counted.failed += 1;
    });
    const key = Buffer.from(this.#name.conversationId).subarray(0, 16).toString('base64');
    const lines = [
      `GET ${order.path} HTTP/1.1`,
      ...['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`],
      `Authorization: Bearer ${order.token}`,
    ];
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  }

  /** The next frame is due. What the connection does not take at once holds the next ones back. */
  tick(): void {
    if (this.#state !== 'talking') return;
    if (this.#socket.writableLength > 0) {
      counted.blocked += 1;
      return;
    }
    this.#frame.fill(this.#sent);
    this.#socket.write(this.#frame.bytes);
    this.#sent += 1;
    counted.frames += 1;
  }

  hangUp(): void {
    this.#state = 'over';
    this.#socket.end(endFrame(this.#name, this.#sent));
  }

  #read(bytes: Buffer): void {
    if (this.#state === 'upgrading') {
      if (!bytes.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) {
        this.#socket.destroy();
        return;
      }
      this.#state = 'talking';
      this.#socket.write(startFrame(this.#name));
    } else if (bytes.length < MAX_EVENT_BYTES && bytes.includes('"START_OF_INPUT"')) counted.starts += 1;
  }
}

const slots: SocketCall[][] = Array.from({ length: FRAME_MS }, () => []);
let latenessMs: number[] = [];
let isOver = false;

const startedAtMs = performance.now();
let nextSlot = 0;
function tick(): void {
  const nowMs = performance.now();
  for (; startedAtMs + nextSlot <= nowMs; nextSlot += 1) {
    latenessMs.push(nowMs - startedAtMs - nextSlot);
    for (const call of slots[nextSlot % FRAME_MS] ?? []) call.tick();
  }
  if (!isOver) setTimeout(tick, 1);
}

/** Places the calls over a second, none of them in step with another. */
async function place(): Promise<void> {
  for (let index = 0; index < order.calls; index += 1) {
    slots[Math.floor(index * 7.3) % FRAME_MS]?.push(new SocketCall(Math.floor((index / order.calls) * SOUND_FRAMES)));
    if (index % 10 === 9) await pause(10_000 / order.calls);
  }
}

await place();
nextSlot = Math.ceil(performance.now() - startedAtMs);
tick();
await pause(order.settleMs);
const before = { ...counted };
latenessMs = [];
const cpu = process.cpuUsage();
const windowMs = performance.now();
console.log(JSON.stringify({ event: 'window' }));
await pause(order.windowMs);
const { user, system } = process.cpuUsage(cpu);
const wallMs = performance.now() - windowMs;
const result: SocketWindow = {
  frames: counted.frames - before.frames,
  blocked: counted.blocked - before.blocked,
  starts: counted.starts - before.starts,
  failed: counted.failed,
  wallMs,
  cpuPart: (user + system) / 1000 / wallMs,
  lateMs: percentile(latenessMs, 0.99),
};
console.log(JSON.stringify(result));
isOver = true;
for (const call of slots.flat()) call.hangUp();
await pause(1000);
process.exit(0);
