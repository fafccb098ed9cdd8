// The load, in a process of its own: opens connections to one server and does what it is told, command by command. Reports
// its own CPU and lateness, because a load that cannot keep its own pace measures itself.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { FRAME_MS, FRAME_SAMPLES } from '../../src/speech/audio-format.ts';
import { Http2Line } from './http2-line.ts';
import type { Command, CommandResult, WindowResult } from './load.ts';
import { PacedCall, type Counted } from './paced-call.ts';
import { audioMessage, eventMessage, turnSound, type CallName } from './traffic.ts';

/** Short calls that are open at once. */
const SHORT_CALLS_AT_ONCE = 64;

const sound = turnSound();
const lines: Http2Line[] = [];
const slots: PacedCall[][] = Array.from({ length: FRAME_MS }, () => []);
const idle: CallName[] = [];
let organizationId = '';
let agentId = '';
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

function newCall(): CallName {
  return { conversationId: randomUUID(), organizationId, agentId };
}

function lineOf(index: number): Http2Line {
  const line = lines[index % lines.length];
  if (line === undefined) throw new Error('no connection is open');
  return line;
}

/** Opens an RPC, sends an event alone and waits until it is completed. */
function ask(line: Http2Line, call: CallName, event: 'SESSION_START' | 'SESSION_END', onFirst?: () => void): Promise<void> {
  return new Promise((resolve) => {
    let isFirst = true;
    const stream = line.open({
      message: () => {
        if (isFirst) onFirst?.();
        isFirst = false;
      },
      ended: (isWhole) => {
        if (!isWhole || isFirst) counted.failed += 1;
        resolve();
      },
    });
    line.sendWhole(stream, eventMessage(call, event));
  });
}

/** A call that only starts and ends, at its own time whatever the others do; latency counts from that time. */
async function probe(dueMs: number): Promise<void> {
  probes += 1;
  const line = lineOf(probes);
  const call = newCall();
  const latencies = firstResponseMs;
  await ask(line, call, 'SESSION_START', () => latencies.push(performance.now() - dueMs));
  await ask(line, call, 'SESSION_END');
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
  for (const line of lines) line.flush();
  if (isPaced) setTimeout(tick, 1);
}

function pace(calls: number, probesPerSecond: number, turnSpreadMs: number): void {
  for (let index = 0; index < calls; index += 1) {
    const waitTicks = Math.floor(((index / calls) * turnSpreadMs) / FRAME_MS);
    const call = new PacedCall(lineOf(index), newCall(), sound, waitTicks, () => counted);
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
  nextProbeMs = performance.now() + 2000;
  nextSlot = Math.ceil(performance.now() - startedAtMs);
  isPaced = true;
  tick();
}

async function hangUp(): Promise<void> {
  nextProbeMs = Number.POSITIVE_INFINITY;
  const over = slots.flatMap((calls) => calls.map((call) => call.hangUp()));
  for (const calls of slots) calls.length = 0;
  for (const line of lines) line.flush();
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
      const done = work(next);
      lineOf(next).flush();
      await done;
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function shortCall(index: number): Promise<void> {
  const call = newCall();
  const line = lineOf(index);
  await ask(line, call, 'SESSION_START');
  const ended = ask(line, call, 'SESSION_END');
  line.flush();
  await ended;
}

/** Every idle session opens an RPC and sends its line's noise as fast as it is taken; the RPC stays open. */
async function listen(frames: number): Promise<void> {
  for (const [index, call] of idle.entries()) {
    const line = lineOf(index);
    const state = { isOver: false };
    const stream = line.open({
      message: () => undefined,
      ended: () => {
        state.isOver = true;
        counted.failed += 1;
      },
    });
    const message = audioMessage(call, true);
    message.frame.set(sound.subarray(0, FRAME_SAMPLES), message.audioAt);
    for (let frame = 0; frame < frames && !state.isOver;) {
      if (line.send(stream, message)) frame += 1;
      else await pause(1);
    }
    line.flush();
  }
}

async function obey(command: Command): Promise<CommandResult> {
  switch (command.kind) {
    case 'connect':
      ({ organizationId, agentId } = command);
      for (let index = 0; index < command.connections; index += 1) lines.push(await Http2Line.connect(command.port, command.headers));
      return undefined;
    case 'pace':
      pace(command.calls, command.probesPerSecond, command.turnSpreadMs);
      return undefined;
    case 'begin_window':
      counted = nothingCounted();
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
        await ask(lineOf(index), call, 'SESSION_START');
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
