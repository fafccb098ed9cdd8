// One process of a run with several: its homes of calls and its engine, on a clock of its own that stands still with it.
import type { Clock } from '../../src/base/clock.ts';
import { Catalog } from '../../src/bot/catalog.ts';
import type { Bot } from '../../src/bot/bot.ts';
import type { CallHomes } from '../../src/cluster/call-homes.ts';
import { Admission } from '../../src/session/admission.ts';
import { Sessions } from '../../src/session/sessions.ts';
import { Listener } from '../../src/speech/listener.ts';
import type { ClusterProcess, ClusterWorld } from '../support/cluster-world.ts';
import { FakeVoice, recordingLog, TEST_SETTINGS } from '../support/engine.ts';
import { MODEL_PATIENCE, scriptedEngines } from './sounds.ts';

const LIMITS = {
  maxSessions: 10,
  perOrganization: { maxSessions: 0, maxNewPerSecond: 0 },
  organizations: new Map(),
  maxStreams: 1000,
  maxLoopDelayMs: 0,
  maxRssBytes: 0,
  maxHeapPercent: 0,
};
/** Longest that a process may take to stop, ms. */
const STOP_MS = 4000;

/** One process. */
export class HomeProcess {
  readonly sessions: Sessions;
  isStopping = false;
  readonly #process: ClusterProcess;
  readonly #peers: ReadonlyMap<string, HomeProcess>;
  #thawed: (() => void)[] = [];

  private constructor(process: ClusterProcess, peers: ReadonlyMap<string, HomeProcess>, botOf: (clock: Clock) => Bot) {
    this.#process = process;
    this.#peers = peers;
    const { clock, homes } = process;
    const { engines } = scriptedEngines();
    this.sessions = new Sessions(
      {
        settings: { ...TEST_SETTINGS, maxFarewellMs: 30_000, patience: MODEL_PATIENCE },
        admission: new Admission({ limits: LIMITS, load: { reading: () => ({ loopDelayMs: 0, rssBytes: 0, heapPercent: 0 }) }, clock }),
        snapshots: homes,
        voice: new FakeVoice(),
        recognizer: undefined,
        observer: {},
        clock,
        log: recordingLog(),
        createListener: (given) => new Listener({ engines, patience: MODEL_PATIENCE, ...given }),
      },
      { current: new Catalog([botOf(clock)]) },
    );
    homes.onTaken((call) => {
      this.sessions.lose(call);
    });
  }

  /**
   * @param peers - all processes, this one as soon as it is started.
   * @param botOf - makes its bot, whose time stands still with it.
   */
  static async start(world: ClusterWorld, id: string, peers: Map<string, HomeProcess>, botOf: (clock: Clock) => Bot): Promise<HomeProcess> {
    const started = new HomeProcess(await world.start(id, { maxSnapshotBytes: 1_000_000 }), peers, botOf);
    peers.set(id, started);
    return started;
  }

  get id(): string {
    return this.#process.id;
  }

  get homes(): CallHomes {
    return this.#process.homes;
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  get isFrozen(): boolean {
    return this.#process.isFrozen;
  }

  /** A load balancer sends turns here. */
  get takesTurns(): boolean {
    return this.isRunning && !this.isFrozen && !this.isStopping;
  }

  peer(id: string): HomeProcess {
    const peer = this.#peers.get(id);
    if (peer === undefined) throw new Error(`no process ${id}`);
    return peer;
  }

  lifeOf(id: string): string {
    return this.#process.instances.lifeOf(id);
  }

  /** Resolves at once unless it stands still. */
  async awake(): Promise<void> {
    if (this.isFrozen) await new Promise<void>((resolve) => this.#thawed.push(resolve));
  }

  kill(): void {
    this.#process.kill();
  }

  freeze(): void {
    this.#process.freeze();
  }

  thaw(): void {
    this.#process.thaw();
    for (const thawed of this.#thawed.splice(0)) thawed();
  }

  /** Stops as a server does. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.homes.drain();
    this.sessions.drain();
    await this.sessions.close(STOP_MS);
    await this.homes.close();
    await this.#process.instances.close();
    this.#process.isRunning = false;
  }
}
