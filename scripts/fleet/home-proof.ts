// The proof that each call has one home: servers to which every RPC of a call comes by turns, all of them counted while calls begin,
// run and end; what forwarding costs a caller in time; and a server whose peer port is cut off.
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { LineRelay } from '../../test/fleet/line-relay.ts';
import type { HomeStage } from '../../test/fleet/home-stage.ts';
import { press, type RoutedCall } from '../../test/fleet/routed-call.ts';
import { waited } from '../../test/fleet/trial.ts';
import { freePort } from '../../test/support/free-port.ts';
import { hundredths, median, percentileFigure } from '../bench/figures.ts';

const SAMPLE_MS = 250;
const KEYS = ['1', '2', '3', '4'] as const;
/** Longest rest of a caller between two calls, ms: calls begin and end all the time. */
const MAX_REST_MS = 400;
const ROUNDS = 3;
const CALLS_OF_A_ROUND = 12;
/** Longest time with two owners, ms: a beat, and the time between two readings of the metrics. */
const MAX_TWO_OWNERS_MS = 900;
const CUT_CALLS = 8;
const CUT_LIMIT_MS = 5000;

/** What the count came to. */
export interface CountFigures {
  readonly samples: number;
  /** Samples in which the servers counted other calls than there were. */
  readonly wrongSamples: number;
  /** The same, each behind another one: no call that was just beginning or ending explains them. */
  readonly wrongInARow: number;
  readonly calls: number;
  readonly answers: number;
  /** Calls in which anything was missing, late by seconds, or twice. */
  readonly badCalls: number;
  readonly described: readonly string[];
}

/** Calls of which every RPC comes to the next server, one after the other, so many at once. */
export async function countCalls(stage: HomeStage, atOnce: number, seconds: number): Promise<CountFigures> {
  const over = new AbortController();
  // Every caller waits for it.
  setMaxListeners(0, over.signal);
  const running = new Set<RoutedCall>();
  const described: string[] = [];
  const figures = { samples: 0, wrongSamples: 0, wrongInARow: 0, calls: 0, answers: 0, badCalls: 0 };
  const caller = async (number: number): Promise<void> => {
    for (let nth = 0; await waited(((number * 37 + nth * 61) % 10) * (MAX_REST_MS / 10), over.signal); nth += 1) {
      const call = stage.call({ agentId: 'counter', script: KEYS.map((key) => press(key)), serverOf: (rpc) => rpc + number + nth });
      running.add(call);
      const { texts, findings, turnsLost, turnsRepeated } = await call.heard();
      running.delete(call);
      const answers = texts.filter((text) => text.startsWith('Answer')).length;
      figures.calls += 1;
      figures.answers += answers;
      if (answers === KEYS.length && texts.length === 1 + 2 * KEYS.length && findings.length + turnsLost + turnsRepeated === 0) continue;
      figures.badCalls += 1;
      described.push(call.story);
    }
  };
  const sampling = async (): Promise<void> => {
    let wasWrong = false;
    while (await waited(SAMPLE_MS, over.signal)) {
      // Reading all servers takes a moment: a call counts for certain that ran through all of it, and perhaps that ran in any of it.
      const before = new Set(running);
      const certain = [...before].filter((call) => call.isAnswered && !call.isLeaving);
      const counted = (await stage.homes()).reduce((sum, each) => sum + each, 0);
      const least = certain.filter((call) => running.has(call) && !call.isLeaving).length;
      const most = new Set([...before, ...running]).size;
      const isWrong = counted < least || counted > most;
      figures.samples += 1;
      if (isWrong) figures.wrongSamples += 1;
      if (isWrong && wasWrong) figures.wrongInARow += 1;
      if (isWrong) described.push(`sample ${String(figures.samples)}: ${String(counted)} counted, ${String(least)} to ${String(most)} ran`);
      wasWrong = isWrong;
    }
  };
  const all = Promise.all([sampling(), ...Array.from({ length: atOnce }, (_, number) => caller(number))]);
  await Promise.race([pause(seconds * 1000), all]);
  over.abort();
  await all;
  await stage.empty();
  return { ...figures, described };
}

/** From a key to the first sound of its answer, ms. */
export interface Waits {
  readonly p50: number;
  readonly p99: number;
}

/** The same calls at their home and through another server, by turns; the medians of the rounds. */
export async function firstAudio(stage: HomeStage): Promise<{ readonly direct: Waits; readonly forwarded: Waits; readonly turns: number }> {
  const round = async (isForwarded: boolean): Promise<Waits & { readonly turns: number }> => {
    const calls: RoutedCall[] = [];
    for (let number = 0; number < CALLS_OF_A_ROUND; number += 1) {
      // Cut short, so that a round has more answers in less time.
      const script = Array.from({ length: 3 * KEYS.length }, (_, nth) => press(KEYS[nth % KEYS.length] ?? '1', { interruptMs: 400 }));
      calls.push(stage.call({ agentId: 'counter', script, serverOf: (rpc) => (isForwarded && rpc > 0 ? 1 : 0) }));
      await pause(50);
    }
    const heard = await Promise.all(calls.map((call) => call.heard()));
    const waits = heard.flatMap(({ replies }) =>
      replies.flatMap(({ kind, latencyMs }) => (kind === 'dtmf' && latencyMs !== undefined ? [latencyMs] : [])),
    );
    return { p50: percentileFigure(waits, 0.5), p99: percentileFigure(waits, 0.99), turns: waits.length };
  };
  // Code is compiled in the first one.
  await round(true);
  const rounds: { readonly direct: Waits; readonly forwarded: Waits; readonly turns: number }[] = [];
  for (let number = 0; number < ROUNDS; number += 1) {
    const direct = await round(false);
    const forwarded = await round(true);
    rounds.push({ direct, forwarded, turns: forwarded.turns });
  }
  const medians = (of: (each: (typeof rounds)[number]) => Waits): Waits => ({
    p50: hundredths(median(rounds.map((each) => of(each).p50))),
    p99: hundredths(median(rounds.map((each) => of(each).p99))),
  });
  return {
    direct: medians(({ direct }) => direct),
    forwarded: medians(({ forwarded }) => forwarded),
    turns: rounds.reduce((sum, { turns }) => sum + turns, 0),
  };
}

/** What came of a peer port that was cut off while its server lived. */
export interface CutFigures {
  readonly ok: boolean;
  readonly calls: number;
  /** From the cut until all calls were open at the server that forwarded them. */
  readonly takenAfterMs: number;
  /** From then until the old home had given up all of them. */
  readonly twoOwnersMs: number;
  readonly heardWhole: number;
  readonly described: readonly string[];
}

/** Cuts the peer port of a home whose calls are all forwarded to it, while it beats on. */
export async function cutPeerPort(stage: HomeStage): Promise<CutFigures> {
  const home = stage.replica(0);
  const port = await freePort();
  // Its peers dial another address of loopback, where somebody stands between.
  const relay = await LineRelay.start(port, { host: '127.0.0.2', port });
  try {
    await home.stop();
    await home.start({ flags: ['--peers.host=127.0.0.1', `--peers.port=${String(port)}`, '--peers.address=127.0.0.2'] });
    const script = [press('1'), { kind: 'wait', waitMs: 4000 } as const, press('2')];
    const calls = Array.from({ length: CUT_CALLS }, () =>
      stage.call({ agentId: 'counter', script, serverOf: (rpc) => (rpc === 0 ? 0 : 1) }),
    );
    await Promise.all(calls.map((call) => call.reached('waits')));
    const cutAtMs = performance.now();
    await relay.down();
    await stage.live(calls, 1, [], CUT_LIMIT_MS);
    const takenAtMs = performance.now();
    // Until the old home has let go of them.
    await stage.live(calls, 1, [0], CUT_LIMIT_MS);
    const twoOwnersMs = Math.round(performance.now() - takenAtMs);
    const heard = await Promise.all(calls.map((call) => call.heard()));
    const whole = heard.filter(({ texts, turnsLost, findings }) => texts.length === 5 && turnsLost + findings.length === 0).length;
    return {
      ok: twoOwnersMs <= MAX_TWO_OWNERS_MS && whole === CUT_CALLS,
      calls: CUT_CALLS,
      takenAfterMs: Math.round(takenAtMs - cutAtMs),
      twoOwnersMs,
      heardWhole: whole,
      described: whole === CUT_CALLS ? [] : calls.map(({ story }) => story),
    };
  } finally {
    await relay.close();
  }
}
