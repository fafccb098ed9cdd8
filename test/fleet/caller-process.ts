// The callers of a fleet, in a process of their own: each call is that of the fake platform, over gRPC on connections that many calls
// share, and is listened to word by word. Does what it is told and nothing else.
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { holdCall } from '../../src/fake-platform/caller/caller.ts';
import { keysOf } from '../../src/fake-platform/caller/key.ts';
import { ConnectionPool } from '../../src/fake-platform/load/connection-pool.ts';
import { SocketPool } from '../../src/fake-platform/load/socket-pool.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import { parseTarget } from '../../src/fake-platform/lines/target.ts';
import { PLATFORM_NO_INPUT_MS } from '../../src/fake-platform/lines/wire-rules.ts';
import type { CallersOrder, CallersReport, CallersWish } from './caller-messages.ts';
import { heardCall } from './heard-call.ts';

/** A platform opens few connections and puts many calls on each. */
const CALLS_PER_CONNECTION = 25;
/** Longer than a caller on a busy machine has to wait for a server that died, ms. */
const LIMITS = { connectMs: 10_000, answerMs: 20_000, callMs: 180_000, hangUpMs: 10_000 };
/** Longest pause of a caller between two calls, ms. */
const MAX_PAUSE_MS = 500;
const PULSE_MS = 1000;
const LOOP_RESOLUTION_MS = 5;
/** Of the calls so many go to the bot that finds the end of speech itself. */
const OWN_EAR_PART = 0.3;
/** What is pressed; 9 is the goodbye. */
const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8'] as const;

const stopped = new AbortController();
const brokenOff = new AbortController();
// Every call hears them: more than the ten that Node takes for a leak.
setMaxListeners(0, stopped.signal, brokenOff.signal);
let running = 0;

function tell(report: CallersReport): void {
  process.send?.(report);
}

/** Silence of the same length: nobody listens, and how long it is is all that counts. */
function silence(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  return new Int16Array(Math.round((samples.length * toHz) / fromHz));
}

/** Connections; those that calls share are opened in advance. */
function poolFor({ access: { target, token, certificatePem }, callers = 1 }: CallersWish): ConnectionPool | SocketPool {
  const access = {
    ...(certificatePem === '' ? {} : { certificateAuthority: Buffer.from(certificatePem) }),
    ...{ target: parseTarget(target), profile: loadProfile('fake'), token },
    ...{ clock: systemClock, connectLimitMs: LIMITS.connectMs },
  };
  if (access.target.transport === 'websocket') return new SocketPool(access);
  const pool = new ConnectionPool(access, CALLS_PER_CONNECTION);
  pool.prepare(callers);
  return pool;
}

class Callers {
  readonly #wish: CallersWish;
  readonly #pool: ConnectionPool | SocketPool;
  readonly #phrases: readonly Uint8Array[];
  readonly #random: () => number;

  constructor(wish: CallersWish) {
    const { phrases, seed } = wish;
    this.#wish = wish;
    this.#phrases = phrases.map((phrase) => Buffer.from(phrase, 'base64'));
    this.#random = seededNumbers(seed);
    this.#pool = poolFor(wish);
  }

  /** Resolves when all calls are over after the end was ordered. */
  async hold(): Promise<void> {
    const { callers = 0, callsPerSecond } = this.#wish;
    if (callsPerSecond === undefined) await Promise.all(Array.from({ length: callers }, () => this.#oneAfterTheOther()));
    else await this.#atARate(callsPerSecond);
    this.#pool.close();
  }

  async #oneAfterTheOther(): Promise<void> {
    await this.#rest(this.#wish.spreadMs);
    while (!stopped.signal.aborted) {
      await this.#place(performance.now());
      await this.#rest(MAX_PAUSE_MS);
    }
  }

  async #atARate(callsPerSecond: number): Promise<void> {
    const open = new Set<Promise<void>>();
    const startMs = performance.now();
    for (let number = 0; ; number += 1) {
      const dueMs = startMs + (number * 1000) / callsPerSecond;
      await pause(Math.max(0, dueMs - performance.now()), undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) break;
      const call: Promise<void> = this.#place(dueMs).finally(() => open.delete(call));
      open.add(call);
    }
    await Promise.all(open);
  }

  async #rest(maxMs: number): Promise<void> {
    await pause(this.#random() * maxMs, undefined, { signal: stopped.signal }).catch(() => undefined);
  }

  async #place(dueMs: number): Promise<void> {
    const { access, repeatsLostTurns } = this.#wish;
    const script = this.#script();
    const identity = {
      conversationId: randomUUID(),
      organizationId: access.organizationId,
      agentId: this.#random() < OWN_EAR_PART ? 'own-ear' : 'counter',
      vendorConfig: '',
      allowPartial: false,
    };
    const line = this.#pool.line(identity, PLATFORM_NO_INPUT_MS);
    const beganAtMs = Date.now();
    let firstSoundMs: number | undefined;
    running += 1;
    try {
      const result = await holdCall(line, access.target, {
        ...{ script, repeatsLostTurns, limits: LIMITS, clock: systemClock, signal: brokenOff.signal },
        keepsSound: false,
        changeRate: silence,
        onSound: () => {
          firstSoundMs ??= performance.now() - dueMs;
        },
      });
      tell({ kind: 'call', call: heardCall(result, script, firstSoundMs), beganAtMs });
    } finally {
      running -= 1;
      line.close();
    }
  }

  /** Keys and speech, some of them into the middle of a prompt, and a goodbye. */
  #script(): readonly Step[] {
    const { inputs } = this.#wish;
    const steps = Array.from({ length: inputs }, (): Step => {
      const random = this.#random;
      const interruption = random() < 0.25 ? { interruptMs: Math.floor(300 + random() * 900) } : {};
      // The last phrase is the longest: a short one would be no interruption.
      const phrase = interruption.interruptMs === undefined ? Math.floor(random() * this.#phrases.length) : this.#phrases.length - 1;
      const mulaw = this.#phrases[phrase];
      if (mulaw !== undefined && random() < 0.4) return { kind: 'say', label: 'something', mulaw, ...interruption };
      return { kind: 'press', keys: keysOf(KEYS[Math.floor(random() * KEYS.length)] ?? '1') ?? [], ...interruption };
    });
    return [...steps, { kind: 'press', keys: keysOf('9') ?? [] }];
  }
}

function pulse(): void {
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  setInterval(() => {
    tell({ kind: 'pulse', running, lateMs: Math.max(0, loop.max / 1e6 - LOOP_RESOLUTION_MS) });
    loop.reset();
  }, PULSE_MS).unref();
}

process.on('message', (order: CallersOrder) => {
  if (order.kind === 'end') {
    stopped.abort();
    setTimeout(() => {
      brokenOff.abort();
    }, order.withinMs).unref();
    return;
  }
  pulse();
  new Callers(order.wish).hold().then(
    () => {
      tell({ kind: 'done' });
    },
    (error: unknown) => {
      tell({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : 'the callers failed' });
    },
  );
});
process.once('disconnect', () => process.exit(0));
