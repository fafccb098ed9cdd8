// What a frame costs the server that forwards it, beside a bare pass-through of the gRPC library to which it comes directly: the same
// streams of silence, one after the other on both, and the CPU time of each process. The pass-through forwards nothing: the ratio says
// what a turn costs that comes to the wrong server.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { rpcHeaders, RpcConnection } from '../../src/fake-platform/lines/rpc-connection.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../../src/speech/audio-format.ts';
import type { HomeStage } from '../../test/fleet/home-stage.ts';
import { median } from '../bench/figures.ts';
import { startPassThrough } from '../bench/servers.ts';
import { audioMessagesOf, eventMessage, RPC_PATH, type CallName } from '../bench/traffic.ts';

/** CPU time of a frame, µs. */
export interface ForwardCost {
  readonly forwarderUs: number;
  readonly passThroughUs: number;
  /** Median of the rounds: one server right after the other, so that whatever else the machine does meets both. */
  readonly ratio: number;
}

const CALLS = 200;
/** As load balancers open them. In no ms has one of them two frames: a server that reads many at once would seem cheaper than it is. */
const CONNECTIONS = 20;
const CALLS_PER_CONNECTION = CALLS / CONNECTIONS;
const ROUNDS = 5;
const SETTLE_MS = 1500;
const WINDOW_MS = 4000;
/** Linux counts CPU time in hundredths of a second. */
const TICK_US = 10_000;
/** The pass-through must hear no start of speech. */
const NEVER_FRAME = 1_000_000_000;
const SILENCE = new Uint8Array(FRAME_SAMPLES).fill(0xff);
const CONNECT_LIMIT_MS = 10_000;

/** @param stage - its first server becomes the home of the calls, its second one forwards. */
export async function forwardCost(stage: HomeStage): Promise<ForwardCost> {
  const passThrough = await startPassThrough(undefined, { start: NEVER_FRAME, end: NEVER_FRAME });
  try {
    const rounds: { readonly forwarderUs: number; readonly passThroughUs: number }[] = [];
    const home = stage.replica(0).ports.grpc;
    const forwarder = stage.replica(1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const passThroughUs = await costPerFrame(stage, passThrough.port, { startPort: passThrough.port, pid: passThrough.process.pid });
      const forwarderUs = await costPerFrame(stage, forwarder.ports.grpc, { startPort: home, pid: forwarder.pid });
      rounds.push({ forwarderUs, passThroughUs });
    }
    return {
      forwarderUs: median(rounds.map(({ forwarderUs }) => forwarderUs)),
      passThroughUs: median(rounds.map(({ passThroughUs }) => passThroughUs)),
      ratio: median(rounds.map(({ forwarderUs, passThroughUs }) => forwarderUs / passThroughUs)),
    };
  } finally {
    passThrough.process.kill();
  }
}

/** Streams of silence to one server for a while, whose calls began at another one. */
async function costPerFrame(
  stage: HomeStage,
  port: number,
  { startPort, pid }: { readonly startPort: number; readonly pid: number },
): Promise<number> {
  const headers = rpcHeaders(RPC_PATH, { [loadProfile('fake').metadata.authorization]: stage.fleet.access.token });
  const starting = connectionTo(startPort);
  const carrying = Array.from({ length: CONNECTIONS }, () => connectionTo(port));
  const calls = Array.from({ length: CALLS }, (): CallName => ({
    ...{ conversationId: randomUUID(), organizationId: stage.fleet.access.organizationId, agentId: 'counter' },
  }));
  try {
    await all(starting, headers, calls, 'SESSION_START');
    const streams = calls.map((call, index) => {
      const connection = carrying[Math.floor(index / CALLS_PER_CONNECTION)] ?? starting;
      return {
        rpc: connection.open(headers, { message: () => undefined, ended: () => undefined }),
        first: audioMessagesOf(call, true)(SILENCE),
        frame: audioMessagesOf(call, false)(SILENCE),
      };
    });
    let frames = 0;
    let slot = 0;
    const startedAtMs = performance.now();
    const timer = setInterval(() => {
      // Callers are not in step: a part of them has a frame in each ms.
      for (; startedAtMs + slot <= performance.now(); slot += 1) {
        for (let index = slot % FRAME_MS; index < streams.length; index += FRAME_MS) {
          const stream = streams[index];
          if (stream === undefined || stream.rpc.isHeldBack()) continue;
          stream.rpc.send(slot < FRAME_MS ? stream.first : stream.frame);
          frames += 1;
        }
      }
    }, 1);
    await pause(SETTLE_MS);
    const [framesBefore, cpuBefore] = [frames, await cpuTicks(pid)];
    await pause(WINDOW_MS);
    const cpuUs = ((await cpuTicks(pid)) - cpuBefore) * TICK_US;
    clearInterval(timer);
    for (const { rpc } of streams) rpc.halfClose();
    await all(starting, headers, calls, 'SESSION_END');
    return cpuUs / (frames - framesBefore);
  } finally {
    starting.close();
    for (const connection of carrying) connection.close();
  }
}

/** Opens an RPC for each call with an event alone, and waits for all of them. */
async function all(
  connection: RpcConnection,
  headers: Readonly<Record<string, string>>,
  calls: readonly CallName[],
  event: 'SESSION_START' | 'SESSION_END',
): Promise<void> {
  const ended = calls.map(
    (call) =>
      new Promise<void>((resolve, reject) => {
        const rpc = connection.open(headers, {
          message: () => undefined,
          ended: (end) => {
            if (end.kind === 'completed') resolve();
            else reject(new Error(`an RPC with ${event} broke: ${end.failure.message}`));
          },
        });
        rpc.send(eventMessage(call, event));
        rpc.halfClose();
      }),
  );
  await Promise.all(ended);
}

function connectionTo(port: number): RpcConnection {
  return new RpcConnection({
    target: { host: '127.0.0.1', port, isSecure: false },
    clock: systemClock,
    connectLimitMs: CONNECT_LIMIT_MS,
  });
}

/** CPU time of a process, in the kernel and outside of it. */
async function cpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8');
  // The name of the program may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
