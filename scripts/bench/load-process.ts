// The load, in a process of its own: opens connections to one server and obeys, command by command. Reports its own CPU and
// lateness, because a load that cannot keep its own pace measures itself.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { FRAME_MS, FRAME_SAMPLES } from '../../src/speech/audio-format.ts';
import { systemClock } from '../../src/base/clock.ts';
import { RpcConnection, type Rpc, type RpcListener } from '../../src/fake-platform/lines/rpc-connection.ts';
import type { Command, CommandResult, LoadTarget, WindowResult } from './load.ts';
import { RpcCall, type Counted, type PacedCall } from './paced-call.ts';
import { SocketCall } from './socket-call.ts';
import { SOUND_FRAMES } from './socket-traffic.ts';
import { audioMessagesOf, eventMessage, turnSound, type CallName } from './traffic.ts';

/** Short calls that are open at once. */
const SHORT_CALLS_AT_ONCE = 64;
const CONNECT_LIMIT_MS = 10_000;

const sound = turnSound();
/** By server. */
const connections: RpcConnection[][] = [];
const slots: PacedCall[][] = Array.from({ length: FRAME_MS }, () => []);
const idle: CallName[] = [];
let target: LoadTarget | undefined;
let counted = nothingCounted();
let latenessMs: number[] = [];
let firstResponseMs: number[] = [];
let window = { startMs: 0, cpu: process.cpuUsage() };
let probeIntervalMs = Number.POSITIVE_INFINITY;
let nextProbeMs = Number.POSITIVE_INFINITY;
let probes = 0;

function nothingCounted(): Counted {
  return { frames: 0, turns: 0, blocked: 0, failed: 0, starts: [], ends: [] };
}

function connected(): LoadTarget {
  if (target === undefined) throw new Error('no server is named');
  return target;
}

function newCall(): CallName {
  const { organizationId, agentId } = connected();
  return { conversationId: randomUUID(), organizationId, agentId };
}

/**
 * Opens an RPC.
 *
 * @param index - of its call: neighbours have different servers and connections.
 * @param nth - of the call, from 0.
 */
function open(index: number, nth: number, listener: RpcListener): Rpc {
  const { access, forwardedShare } = connected();
  const isForwarded = nth > 0 && Math.floor(nth * forwardedShare) > Math.floor((nth - 1) * forwardedShare);
  const ofServer = connections[(index + (isForwarded ? 1 : 0)) % connections.length] ?? [];
  const connection = ofServer[Math.floor(index / connections.length) % ofServer.length];
  if (connection === undefined || access.kind !== 'grpc') throw new Error('no connection is open');
  return connection.open(access.headers, listener);
}

/** Opens an RPC, sends an event alone and waits until it is completed. */
function ask(index: number, call: CallName, event: 'SESSION_START' | 'SESSION_END', onFirst?: () => void): Promise<void> {
  return new Promise((resolve) => {
    let isFirst = true;
    const rpc = open(index, 0, {
      message: () => {
        if (isFirst) onFirst?.();
        isFirst = false;
      },
      ended: ({ kind }) => {
        if (kind === 'broken' || isFirst) counted.failed += 1;
        resolve();
      },
    });
    rpc.send(eventMessage(call, event));
    rpc.halfClose();
  });
}

/** A call that only starts and ends, at its own time whatever the others do; latency counts from that time. */
async function probe(dueMs: number): Promise<void> {
  probes += 1;
  const index = probes;
  const call = newCall();
  const latencies = firstResponseMs;
  await ask(index, call, 'SESSION_START', () => latencies.push(performance.now() - dueMs));
  await ask(index, call, 'SESSION_END');
}

const startedAtMs = performance.now();
let nextSlot = 0;
let isPaced = false;
function tick(): void {
  const nowMs = performance.now();
  for (; startedAtMs + nextSlot <= nowMs; nextSlot += 1) {
    latenessMs.push(nowMs - startedAtMs - nextSlot);
    for (const call of slots[nextSlot % FRAME_MS] ?? []) call.tick();
  }
  for (; nextProbeMs <= nowMs; nextProbeMs += probeIntervalMs) void probe(nextProbeMs);
  if (isPaced) setTimeout(tick, 1);
}

function pace(calls: number, probesPerSecond: number, turnSpreadMs: number): void {
  for (let index = 0; index < calls; index += 1) {
    const call = pacedCall(index, index / calls, turnSpreadMs);
    // Neighbours on one connection stand in different slots.
    slots[Math.floor(index * 7.3) % FRAME_MS]?.push(call);
    setTimeout(
      () => {
        call.start();
      },
      Math.floor((index / calls) * 1000),
    );
  }
  probeIntervalMs = 1000 / probesPerSecond;
  if (probesPerSecond > 0) nextProbeMs = performance.now() + 2000;
  nextSlot = Math.ceil(performance.now() - startedAtMs);
  isPaced = true;
  tick();
}

/** @param part - of the calls that come before it: none is in step with another. */
function pacedCall(index: number, part: number, turnSpreadMs: number): PacedCall {
  const { access, ports, certificatePem } = connected();
  if (access.kind === 'websocket') {
    const port = ports[index % ports.length] ?? 0;
    return new SocketCall({ port, certificatePem }, access, newCall(), Math.floor(part * SOUND_FRAMES), () => counted);
  }
  const waitTicks = Math.floor((part * turnSpreadMs) / FRAME_MS);
  let rpcs = 0;
  const openNext = (listener: RpcListener): Rpc => {
    rpcs += 1;
    return open(index, rpcs - 1, listener);
  };
  return new RpcCall(openNext, newCall(), sound, waitTicks, () => counted);
}

async function hangUp(): Promise<void> {
  nextProbeMs = Number.POSITIVE_INFINITY;
  const over = slots.flatMap((calls) => calls.map((call) => call.hangUp()));
  for (const calls of slots) calls.length = 0;
  await Promise.race([Promise.all(over), pause(5000)]);
  isPaced = false;
}

function readWindow(): WindowResult {
  const { user, system } = process.cpuUsage(window.cpu);
  const wallMs = performance.now() - window.startMs;
  return { ...counted, wallMs, cpuPart: (user + system) / 1000 / wallMs, latenessMs, firstResponseMs };
}

async function inParallel(count: number, width: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function shortCall(index: number): Promise<void> {
  const call = newCall();
  await ask(index, call, 'SESSION_START');
  await ask(index, call, 'SESSION_END');
}

/** Every idle session opens an RPC and sends its line's noise as fast as it is taken; the RPC stays open. */
async function listen(frames: number): Promise<void> {
  for (const [index, call] of idle.entries()) {
    const state = { isOver: false };
    const rpc = open(index, 0, {
      message: () => undefined,
      ended: () => {
        state.isOver = true;
        counted.failed += 1;
      },
    });
    const message = audioMessagesOf(call, true)(sound.subarray(0, FRAME_SAMPLES));
    for (let frame = 0; frame < frames; frame += 1) rpc.send(message);
    while (rpc.isHeldBack() && !state.isOver) await pause(1);
  }
}

function connect(to: LoadTarget): void {
  target = to;
  const { access, certificatePem } = to;
  if (access.kind === 'websocket') return;
  const trust = certificatePem === undefined ? {} : { certificateAuthority: Buffer.from(certificatePem), serverName: 'localhost' };
  for (const port of to.ports) {
    const server = { host: '127.0.0.1', port, isSecure: certificatePem !== undefined };
    connections.push(
      Array.from(
        { length: access.connections },
        () => new RpcConnection({ target: server, clock: systemClock, connectLimitMs: CONNECT_LIMIT_MS, ...trust }),
      ),
    );
  }
}

async function obey(command: Command): Promise<CommandResult> {
  switch (command.kind) {
    case 'connect':
      connect(command.target);
      return undefined;
    case 'pace':
      pace(command.calls, command.probesPerSecond, command.turnSpreadMs);
      return undefined;
    case 'begin_window':
      counted = { ...nothingCounted(), failed: counted.failed };
      latenessMs = [];
      firstResponseMs = [];
      window = { startMs: performance.now(), cpu: process.cpuUsage() };
      return undefined;
    case 'end_window':
      return readWindow();
    case 'hang_up':
      await hangUp();
      return undefined;
    case 'start_idle':
      await inParallel(command.count, SHORT_CALLS_AT_ONCE, async (index) => {
        const call = newCall();
        idle.push(call);
        await ask(index, call, 'SESSION_START');
      });
      return undefined;
    case 'listen':
      await listen(command.frames);
      return undefined;
    case 'short_calls':
      await inParallel(command.count, SHORT_CALLS_AT_ONCE, shortCall);
      return undefined;
  }
}

process.on('message', (command: Command) => {
  obey(command).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : 'the load failed' }),
  );
});
process.once('disconnect', () => process.exit(0));
