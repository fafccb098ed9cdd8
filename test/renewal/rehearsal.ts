// A real server renews the nonces of many organizations against a fake platform that fails in every way, while calls keep
// coming in with the tokens that the platform would present at that moment, and the server is started again now and then.
// What counts is that no call is refused whose token has not ended, that no data source is registered twice, and that no
// renewal is made twice. Real sockets and a real token check; only the time is not real.
import { randomUUID } from 'node:crypto';
import type { App } from '../../src/app/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import { DrivenClock } from '../support/driven-clock.ts';
import { openSurroundings, type OpenSurroundings, type SignedToken } from '../support/open-surroundings.ts';
import { Callers } from './callers.ts';
import { grpcLines } from './lines.ts';
import { outage, strike, type Struck } from './misfortune.ts';
import { PresentedTokens } from './presented-tokens.ts';
import { startServed } from './served.ts';

/** What is asked for. */
export interface RehearsalOptions {
  /** Tokens that take the place of another before it ends. */
  readonly rotations: number;
  readonly organizations: number;
  readonly restarts: number;
  /** Who never rest; default 3. */
  readonly callers?: number;
  /** Draws misfortunes and calls; sockets are not drawn, so that two runs are alike and not the same. */
  readonly seed: number;
  readonly onProgress?: (line: string) => void;
}

/** What came of it. */
export interface RehearsalResult {
  readonly ok: boolean;
  readonly rotations: number;
  /** Calls refused for a token that the platform had a right to present. */
  readonly refusedCalls: number;
  readonly duplicateDataSources: number;
  /** New tokens although the one before was not due and nothing had happened to the data source. */
  readonly doubleRenewals: number;
  /** Tokens that ended before the next one was there: the platform makes no calls then (J-03). */
  readonly lapsedTokens: number;
  /** Turns of calls that were answered. */
  readonly calls: number;
  /** Calls that ended badly in any other way. */
  readonly brokenCalls: number;
  readonly restarts: number;
  /** Requests that got no answer, or one that fails. */
  readonly faults: number;
  /** Timers that the server left behind. */
  readonly leftTimers: number;
  /** What was wrong, and the last lines of the log; without secrets. */
  readonly described: readonly string[];
}

const MINUTE_MS = 60_000;
/** A token lives for ten minutes and is renewed after five, at the earliest after four and a half. */
const LIFETIME_MINUTES = 10;
const LEAD_MINUTES = 5;
const EARLIEST_MS = 1.1 * LEAD_MINUTES * MINUTE_MS;
const PACE = { stepMs: 200, leapMs: 800 };
const CALLERS = 3;
/** Real ms without any renewal after which it is given up. */
const STUCK_MS = 120_000;
const LOOK_MS = 1000;
const KEPT_LINES = 20;
const PROGRESS_EACH = 50;

const SERVER_FLAGS = [
  `--admin.data_sources.token_lifetime_minutes=${String(LIFETIME_MINUTES)}`,
  `--admin.data_sources.renewal_lead_minutes=${String(LEAD_MINUTES)}`,
  '--admin.data_sources.retry_interval_s=10',
  '--admin.data_sources.check_interval_s=90',
  '--log.level=warn',
];

/** Plays it to its end. @throws Error when nothing is renewed any more. */
export async function rehearse(options: RehearsalOptions): Promise<RehearsalResult> {
  const rehearsal = new Rehearsal(options);
  try {
    await rehearsal.begin();
    await rehearsal.play();
  } finally {
    await rehearsal.end();
  }
  return rehearsal.result;
}

class Rehearsal {
  readonly #options: RehearsalOptions;
  readonly #clock = new DrivenClock();
  readonly #random: () => number;
  readonly #tokens: PresentedTokens;
  readonly #callers: Callers;
  readonly #organizations: readonly string[];
  /** Those that have not authorized the app yet. */
  readonly #waiting: string[];
  readonly #lines: string[] = [];
  readonly #endings = new Set<Promise<void>>();
  #around: OpenSurroundings | undefined;
  #app: App | undefined;
  #restarting: Promise<void> | undefined;
  #restarts = 0;
  #duplicates = 0;
  #faults = 0;
  #nextStrikeMs = 0;

  constructor(options: RehearsalOptions) {
    this.#options = options;
    this.#random = seededNumbers(options.seed);
    const clock = this.#clock;
    const skewMs = (): number => this.#around?.api.switches.skewMs ?? 0;
    this.#tokens = new PresentedTokens({ clock, skewMs, earliestMs: EARLIEST_MS });
    this.#callers = new Callers({ tokens: this.#tokens, clock, open: grpcLines, random: this.#random });
    this.#organizations = Array.from({ length: options.organizations }, () => randomUUID());
    this.#waiting = this.#organizations.slice(Math.ceil(options.organizations / 2));
  }

  get result(): RehearsalResult {
    const { rotations, doubles, lapsed } = this.#tokens;
    const { calls, refused, broken, described } = this.#callers;
    const leftTimers = this.#clock.pendingTimers;
    const wrong = refused + this.#duplicates + doubles + lapsed + broken + leftTimers;
    return {
      ok: wrong === 0 && rotations >= this.#options.rotations,
      ...{ rotations, refusedCalls: refused, duplicateDataSources: this.#duplicates, doubleRenewals: doubles, lapsedTokens: lapsed },
      ...{ calls, brokenCalls: broken, restarts: this.#restarts, faults: this.#faults, leftTimers },
      described: wrong === 0 ? [] : [...described, ...this.#lines],
    };
  }

  /** Half of the organizations have authorized the app before the server is there. */
  async begin(): Promise<void> {
    this.#around = await openSurroundings({ clock: this.#clock, onSigned: (signed) => this.#signed(signed) });
    const { api } = this.#around;
    // Tokens of organizations are refreshed all the time as well. The platform's limit of requests is another matter.
    Object.assign(api.switches, { accessTokenSeconds: 1800, requestsPerMinute: 0 });
    api.journal.clear();
    this.#clock.drive(PACE);
    for (const organizationId of this.#authorized) api.authorize(organizationId);
    await this.#start();
    this.#callers.begin(this.#options.callers ?? CALLERS);
  }

  /** Until there are enough renewals. */
  async play(): Promise<void> {
    const { rotations, onProgress = () => undefined } = this.#options;
    let [shown, atMs] = [0, systemClock.monotonicMs()];
    while (this.#tokens.rotations < rotations) {
      await this.#clock.passed(LOOK_MS);
      await this.#restarting;
      // Its event is delivered once (H-24): the server is there.
      const next = this.#waiting.shift();
      if (next !== undefined) this.#api.authorize(next);
      this.#look();
      const count = this.#tokens.rotations;
      if (count === shown && systemClock.monotonicMs() - atMs > STUCK_MS) throw new Error(`nothing is renewed any more: ${this.#progress}`);
      if (count === shown) continue;
      if (Math.floor(count / PROGRESS_EACH) > Math.floor(shown / PROGRESS_EACH)) onProgress(this.#progress);
      [shown, atMs] = [count, systemClock.monotonicMs()];
    }
  }

  async end(): Promise<void> {
    await this.#restarting;
    await this.#callers.end();
    await Promise.all(this.#endings);
    this.#callers.disconnect();
    await this.#app?.close();
    await this.#clock.stop();
    await this.#around?.close();
  }

  /** The platform has signed a token and has not answered yet. */
  async #signed(signed: SignedToken): Promise<void> {
    const presented = this.#tokens.signed(signed);
    if (!this.#callers.isConnected) return;
    // The platform is free to present it at once (L-09). Time stands still: an answer that takes long is another misfortune.
    const finish = await this.#clock.hold(() => this.#callers.place(presented));
    const ending = finish().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    if (!this.#isRestartDue) return;
    // The server goes with the change made and its answer on the way, or never heard.
    const [closed, isHeard] = [this.#restart(), this.#random() < 0.5];
    if (this.#isPlatformGone || !isHeard) await closed;
  }

  get #isRestartDue(): boolean {
    const { rotations, restarts } = this.#options;
    const isTime = this.#tokens.rotations >= ((this.#restarts + 1) * rotations) / (restarts + 1);
    return this.#restarts < restarts && isTime && this.#callers.isConnected && this.#waiting.length === 0;
  }

  /** Calls of the time without a server do not count. @returns when it is closed; it is started again behind that. */
  #restart(): Promise<void> {
    this.#restarts += 1;
    this.#callers.disconnect();
    const closed = this.#app?.close() ?? Promise.resolve();
    // Every second one finds the platform gone for a while: what was good before it must be good without it.
    if (this.#isPlatformGone) {
      outage(this.#struck);
      this.#nextStrikeMs = Infinity;
    }
    this.#restarting = closed.then(() => this.#startAgain());
    return closed;
  }

  async #startAgain(): Promise<void> {
    await this.#start();
    for (const organizationId of this.#tokens.organizations) await this.#clock.hold(() => this.#callers.callWithAll(organizationId));
    if (this.#isPlatformGone) this.#nextStrikeMs = this.#clock.nowMs() + outage(this.#struck);
  }

  get #isPlatformGone(): boolean {
    return this.#restarts % 2 === 0;
  }

  async #start(): Promise<void> {
    this.#app = await startServed(this.#open, {
      clock: this.#clock,
      organizations: this.#authorized,
      flags: SERVER_FLAGS,
      write: (line) => void this.#lines.splice(0, this.#lines.length, ...this.#lines.slice(1 - KEPT_LINES), line),
    });
    this.#callers.connect(`localhost:${String(this.#app.ready.port)}`);
  }

  #look(): void {
    const { journal } = this.#api;
    this.#faults += journal.entries.filter(({ isAnswered, status }) => !isAnswered || status >= 400).length;
    journal.clear();
    this.#tokens.look();
    const extra = this.#organizations.map((organizationId) => Math.max(0, this.#api.dataSources(organizationId).length - 1));
    this.#duplicates = Math.max(
      this.#duplicates,
      extra.reduce((sum, count) => sum + count, 0),
    );
    if (this.#clock.nowMs() < this.#nextStrikeMs) return;
    this.#nextStrikeMs = this.#clock.nowMs() + strike(this.#struck);
  }

  get #struck(): Struck {
    const organizations = this.#tokens.organizations;
    const onDisabled = (organizationId: string): void => {
      this.#tokens.disturbed(organizationId);
    };
    return { api: this.#api, random: this.#random, organizations, onDisabled };
  }

  get #open(): OpenSurroundings {
    if (this.#around === undefined) throw new Error('the platform is not there');
    return this.#around;
  }

  get #api(): OpenSurroundings['api'] {
    return this.#open.api;
  }

  get #authorized(): readonly string[] {
    return this.#organizations.filter((organizationId) => !this.#waiting.includes(organizationId));
  }

  get #progress(): string {
    const { rotations, doubles, lapsed } = this.#tokens;
    const { calls, refused, broken } = this.#callers;
    const wrong = refused + broken + doubles + lapsed + this.#duplicates;
    return `${String(rotations)} of ${String(this.#options.rotations)} renewals, ${String(calls)} turns of calls, ${String(this.#faults)} faults, ${String(wrong)} wrong`;
  }
}
