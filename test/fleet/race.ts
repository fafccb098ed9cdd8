// Two engines, each with a store of its own on one Redis server, as two processes have them, answer the same input of the same
// call. For a test and for `npm run check:race`.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { loadSignalEngines } from '../../src/app/signal-engines.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { bot, go, say } from '../../src/bot/index.ts';
import { Catalog } from '../../src/bot/catalog.ts';
import { Admission } from '../../src/session/admission.ts';
import type { SessionStore } from '../../src/session/ports.ts';
import type { SessionRecord } from '../../src/session/record.ts';
import { Sessions } from '../../src/session/sessions.ts';
import { Listener } from '../../src/speech/listener.ts';
import { RedisConnection } from '../../src/store/redis/connection.ts';
import { RedisInterruptions } from '../../src/store/redis/redis-interruptions.ts';
import { RedisStore } from '../../src/store/redis/redis-store.ts';
import { FakeVoice, TEST_SETTINGS } from '../support/engine.ts';
import { MemoryCall, type MemorySink } from '../support/memory-transport.ts';
import { within } from '../support/until.ts';

/**
 * `same_version`: both have claimed the call, because the first one stood still for longer than its lease, and write at the same
 * moment. `same_moment`: both get the input at the same moment, and one waits for the other.
 */
export type RaceKind = 'same_version' | 'same_moment';

/** What came of the races. */
export interface RaceResult {
  readonly ok: boolean;
  readonly races: number;
  /** Records that were written in a race, and those that were refused because somebody else was faster. */
  readonly commits: number;
  readonly refused: number;
  /** Races in which both wrote the same version, in which nobody wrote, in which the two streams said different things, and in which what was written is not what was heard. */
  readonly twoWinners: number;
  readonly noWinner: number;
  readonly differentReplies: number;
  readonly lostUpdates: number;
  /** Races that one of the engines lost its first writer in, by engine: both must be able to win. */
  readonly wonBy: readonly [number, number];
}

/** Short, so that a race need not wait long for its end, ms. */
const LEASE_MS = 8;
/** Between two writers that must not meet, ms. */
const PATIENT_LEASE_MS = 10_000;
const TTL_MS = 60_000;
/** Longest that a race may take, ms. */
const RACE_LIMIT_MS = 30_000;
const RACES_AT_ONCE = 40;
const RACES_BETWEEN_LINES = 1000;
const ORGANIZATION = 'org';

const COUNTER = bot<{ readonly count: number }>({
  id: 'counter',
  name: 'Counter',
  version: 1,
  session_start: () => go({ count: 0 }, say('Welcome.').listen()),
  dtmf_input: ({ count }) => go({ count: count + 1 }, say(`Answer ${String(count + 1)}.`).listen()),
  otherwise: (state) => go(state, say('What?').listen()),
});

/** What both writers of a call are held at, so that they write at the same moment. */
class Gates {
  readonly #waiting = new Map<string, () => void>();
  readonly #armed = new Set<string>();

  arm(id: string): void {
    this.#armed.add(id);
  }

  /** Resolves for both when both are there and no lease is left. */
  async pass(id: string): Promise<void> {
    if (!this.#armed.has(id)) return;
    const other = this.#waiting.get(id);
    if (other === undefined) {
      await new Promise<void>((resolve) => this.#waiting.set(id, resolve));
      return;
    }
    this.#armed.delete(id);
    this.#waiting.delete(id);
    await pause(LEASE_MS + 2);
    other();
  }
}

/** The real store of a process that stands still again and again: it renews no lease. */
class StandingStore implements SessionStore {
  readonly leaseMs: number;
  readonly #store: RedisStore;
  readonly #gates: Gates;
  readonly #onCommit: (record: SessionRecord, isWritten: boolean) => void;
  readonly #onReleased = new Map<string, () => void>();

  constructor(store: RedisStore, gates: Gates, onCommit: (record: SessionRecord, isWritten: boolean) => void) {
    this.leaseMs = store.leaseMs;
    this.#store = store;
    this.#gates = gates;
    this.#onCommit = onCommit;
  }

  /** Resolves when the call is given back the next time. Nobody waits for that, but so short a lease must not end before. */
  released(conversationId: string): Promise<void> {
    return new Promise((resolve) => this.#onReleased.set(conversationId, resolve));
  }

  readonly load: SessionStore['load'] = (key) => this.#store.load(key);
  readonly open: SessionStore['open'] = (key) => this.#store.open(key);
  readonly serves: SessionStore['serves'] = (key) => this.#store.serves(key);
  readonly openClaimed: SessionStore['openClaimed'] = (key, first) => this.#store.openClaimed(key, first);
  readonly claim: SessionStore['claim'] = (key, first) => this.#store.claim(key, first);
  readonly renew: SessionStore['renew'] = (key) => (this.leaseMs === LEASE_MS ? Promise.resolve(true) : this.#store.renew(key));
  readonly release: SessionStore['release'] = async (key, spoken) => {
    await this.#store.release(key, spoken);
    this.#onReleased.get(key.conversationId)?.();
    this.#onReleased.delete(key.conversationId);
  };
  readonly touch: SessionStore['touch'] = (key) => this.#store.touch(key);
  readonly drop: SessionStore['drop'] = (key) => this.#store.drop(key);
  readonly commit: SessionStore['commit'] = async (record, expectedVersion, isReply) => {
    await this.#gates.pass(record.call.conversationId);
    const isWritten = await this.#store.commit(record, expectedVersion, isReply);
    this.#onCommit(record, isWritten);
    return isWritten;
  };
}

/** One of the two. */
interface Writer {
  readonly sessions: Sessions;
  readonly store: StandingStore;
  close(): Promise<void>;
}

/** What was written in one race. */
interface Written {
  won: (0 | 1)[];
  versions: number[];
  refused: number;
}

async function openWriter(
  url: string,
  keyPrefix: string,
  leaseMs: number,
  gates: Gates,
  onCommit: (record: SessionRecord, isWritten: boolean) => void,
): Promise<Writer> {
  const log = createLogger({ level: 'silent' });
  const nobody = { user: undefined, password: undefined, caFile: undefined };
  const connection = await RedisConnection.open({ url, ...nobody, timeoutMs: 5000, clock: systemClock, log });
  const owner = randomUUID();
  const kept = new RedisStore({ connection, owner, keyPrefix, leaseMs, ttlMs: TTL_MS, maxRecordBytes: 100_000 });
  const store = new StandingStore(kept, gates, onCommit);
  const engines = await loadSignalEngines();
  const limits = {
    maxSessions: 1_000_000,
    perOrganization: { maxSessions: 0, maxNewPerSecond: 0 },
    organizations: new Map(),
    maxStreams: Infinity,
    maxLoopDelayMs: 0,
    maxRssBytes: 0,
    maxHeapPercent: 0,
  };
  const sessions = new Sessions(
    {
      settings: { ...TEST_SETTINGS, maxSessions: limits.maxSessions },
      admission: new Admission({ limits, load: { reading: () => ({ loopDelayMs: 0, rssBytes: 0, heapPercent: 0 }) }, clock: systemClock }),
      store,
      shared: { interruptions: new RedisInterruptions({ connection, owner, keyPrefix }) },
      voice: new FakeVoice(),
      recognizer: undefined,
      observer: {},
      clock: systemClock,
      log,
      createListener: ({ onEvent, onFrame, isSelfEndpointing }) =>
        new Listener({ engines, onEvent, isSelfEndpointing, ...(onFrame === undefined ? {} : { onFrame }) }),
    },
    { current: new Catalog([COUNTER]) },
  );
  return {
    sessions,
    store,
    close: async () => {
      await sessions.close(0);
      await connection.close();
    },
  };
}

/** Runs so many races on a Redis server. @param onProgress - takes lines for people. */
export async function race(
  url: string,
  kind: RaceKind,
  races: number,
  onProgress: (line: string) => void = () => undefined,
): Promise<RaceResult> {
  const gates = new Gates();
  const written = new Map<string, Written>();
  const keyPrefix = randomUUID();
  const leaseMs = kind === 'same_version' ? LEASE_MS : PATIENT_LEASE_MS;
  const writer = (own: 0 | 1): Promise<Writer> =>
    openWriter(url, keyPrefix, leaseMs, gates, ({ call, version }, isWritten) => {
      const sum = written.get(call.conversationId);
      if (sum === undefined) return;
      if (isWritten) {
        sum.won.push(own);
        sum.versions.push(version);
      } else sum.refused += 1;
    });
  const writers = [await writer(0), await writer(1)] as const;
  const sum = { commits: 0, refused: 0, twoWinners: 0, noWinner: 0, differentReplies: 0, lostUpdates: 0 };
  const wonBy: [number, number] = [0, 0];
  let begun = 0;
  let done = 0;
  const lane = async (): Promise<void> => {
    while (begun < races) {
      begun += 1;
      const conversationId = `call-${String(begun)}`;
      const calls = writers.map(({ sessions }) => new MemoryCall(sessions, { organizationId: ORGANIZATION, conversationId }));
      const first = begun % 2;
      const released = writers[first]?.store.released(conversationId);
      await calls[first]?.start();
      await released;
      const own: Written = { won: [], versions: [], refused: 0 };
      written.set(conversationId, own);
      if (kind === 'same_version') gates.arm(conversationId);
      const sinks = await within(`race ${conversationId} is over`, Promise.all(calls.map((call) => call.press('1'))), RACE_LIMIT_MS);
      const record = await writers[0].store.load({ organizationId: ORGANIZATION, conversationId });
      written.delete(conversationId);
      judge(kind, own, sinks, record, sum);
      const [winner] = own.won;
      if (winner !== undefined) wonBy[winner] += 1;
      done += 1;
      if (done % RACES_BETWEEN_LINES === 0) onProgress(`${kind}: ${String(done)} of ${String(races)} races`);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(RACES_AT_ONCE, races) }, lane));
  } finally {
    await Promise.all(writers.map((each) => each.close()));
  }
  const wrong = sum.twoWinners + sum.noWinner + sum.differentReplies + sum.lostUpdates;
  // Where nobody was refused, nobody was beaten.
  const isProof = kind === 'same_moment' || sum.refused === races;
  return { ok: wrong === 0 && isProof && done === races && Math.min(...wonBy) > 0, races: done, ...sum, wonBy };
}

function judge(
  kind: RaceKind,
  { won, versions, refused }: Written,
  sinks: readonly MemorySink[],
  record: SessionRecord | undefined,
  sum: { commits: number; refused: number; twoWinners: number; noWinner: number; differentReplies: number; lostUpdates: number },
): void {
  const texts = sinks.map((sink) => sink.texts.join(' '));
  const isClosed = sinks.every(({ end }) => end === 'complete');
  sum.commits += won.length;
  sum.refused += refused;
  if (won.length === 0) sum.noWinner += 1;
  if (new Set(versions).size < versions.length) sum.twoWinners += 1;
  if (kind === 'same_version') {
    if (won.length > 1) sum.twoWinners += 1;
    // Both streams say the one reply, or one of them says nothing.
    const said = new Set(texts.filter((text) => text !== ''));
    if (!isClosed || said.size !== 1 || !said.has('Answer 1.')) sum.differentReplies += 1;
    if (record?.version !== 2) sum.lostUpdates += 1;
  } else {
    // Two inputs, one after the other: each is counted once. A key cuts what is being said on the other stream.
    const said = texts.filter((text) => text !== '');
    const isKnown = said.every((text) => text === 'Answer 1.' || text === 'Answer 2.');
    if (!isClosed || said.length === 0 || !isKnown || new Set(said).size < said.length) sum.differentReplies += 1;
    if (record?.version !== 3) sum.lostUpdates += 1;
  }
}
