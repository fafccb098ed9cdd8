// Plays one call over several real engines with real homes: processes die, stand still, stop and begin between its turns and in the
// middle of them. Whatever happens, a caller who is still connected is answered once, and the bot forgets nothing that was answered.
import type { Clock } from '../../src/base/clock.ts';
import type { Bot } from '../../src/bot/bot.ts';
import { bot, go, say } from '../../src/bot/index.ts';
import { BEAT_MS } from '../../src/cluster/instances.ts';
import type { FinalNext } from '../../src/dialog/output.ts';
import { ClusterWorld } from '../support/cluster-world.ts';
import { TEST_SETTINGS } from '../support/engine.ts';
import { flushMicrotasks } from '../support/fake-clock.ts';
import type { HomesAct, HomesProgram } from './homes-program.ts';
import { HomeProcess } from './homes-process.ts';
import { HomesTurn, type HomesTurnParts } from './homes-turn.ts';

/** What came of a program. */
export interface HomesPlayed {
  /** What broke which rule; undefined when all is well. The first one counts. */
  readonly wrong: string | undefined;
  /** Everything that happened, one line each. */
  readonly exchange: readonly string[];
}

/** What the bot keeps: the inputs it has answered since the start of the conversation. */
interface Kept {
  readonly start: string;
  readonly asked: readonly number[];
}

/** How many processes run, as far as the program lets them. */
const PROCESSES = 3;
/** Long enough for whatever is under way: a drain, a silent death, a farewell. */
const SETTLE_MS = 40_000;
/** How long a call that is over is remembered at least, ms. */
const REMEMBERED_MS = 55_000;
/** How long the bot thinks about a late answer, ms. */
const LATE_MS = 500;

/** Plays a program to its end. @param forgets - a bot that loses its state, to prove that this is found. */
export async function playHomes(program: HomesProgram, { forgets = false } = {}): Promise<HomesPlayed> {
  const lab = new HomesLab(forgets);
  await lab.begin();
  for (const act of program.acts) if (lab.wrong === undefined) await lab.act(act);
  if (lab.wrong === undefined) await lab.end();
  return { wrong: lab.wrong, exchange: lab.exchange };
}

class HomesLab {
  wrong: string | undefined;
  readonly exchange: string[] = [];
  readonly #world = new ClusterWorld();
  readonly #processes = new Map<string, HomeProcess>();
  readonly #turns: HomesTurn[] = [];
  readonly #forgets: boolean;
  /** When the call has ended; undefined while it has not, or has begun again. */
  #overAtMs: number | undefined;
  /** Answered since the start of the conversation, with a FINAL that was heard. */
  #answered: HomesTurn[] = [];
  /** Ids of turns, with the input that the bot was asked about under it. */
  readonly #names = new Map<string, string>();
  /** Processes that did: one that goes on in the middle of a farewell ends a call that has ended elsewhere by then. */
  readonly #stoodStill = new Set<string>();
  /** When a process went on, by its id, ms. */
  readonly #wentOnAtMs = new Map<string, number>();
  /** Of which the bot was told, in the other processes. */
  #ends = 0;
  #starts = 0;
  #started = 0;

  constructor(forgets: boolean) {
    this.#forgets = forgets;
  }

  async begin(): Promise<void> {
    for (let each = 0; each < PROCESSES; each += 1) await this.#start();
    await this.#pass(3000);
    await this.act({ kind: 'turn', at: 0, brings: 'start' });
    await this.#pass(1000);
  }

  async act(act: HomesAct): Promise<void> {
    switch (act.kind) {
      case 'turn': {
        const process = this.#at(act.at, ({ takesTurns }) => takesTurns);
        // A platform does not begin and end a conversation at the same moment.
        const isFrame = ({ brings }: Pick<HomesTurn, 'brings'>): boolean => brings === 'start' || brings === 'hang_up';
        if (isFrame(act) && this.#turns.some((turn) => turn.state === 'open' && isFrame(turn))) break;
        if (process !== undefined) this.#turn(act.brings, process);
        break;
      }
      case 'half_close':
        for (const turn of this.#turns) if (turn.brings === 'nothing') turn.halfClose();
        break;
      case 'wait':
        await this.#pass(act.ms);
        break;
      case 'kill': {
        const process = this.#at(act.at, ({ isRunning, isStopping }) => isRunning && !isStopping);
        if (process === undefined) break;
        this.#note(() => `${process.id} dies`);
        process.kill();
        for (const turn of this.#turns) turn.died(process);
        // As somebody sees to it that it is started again.
        await this.#start();
        break;
      }
      case 'freeze': {
        const process = this.#at(act.at, ({ takesTurns }) => takesTurns);
        // One who goes on is there to see it.
        if (process === undefined || [...this.#processes.values()].filter(({ takesTurns }) => takesTurns).length < 2) break;
        this.#note(() => `${process.id} stands still`);
        process.freeze();
        this.#stoodStill.add(process.id);
        for (const turn of this.#turns) if (turn.home === process || turn.process === process) turn.isSuspect = true;
        break;
      }
      case 'thaw':
        await this.#thaw(this.#at(act.at, ({ isRunning, isFrozen }) => isRunning && isFrozen));
        break;
      case 'drain': {
        const process = this.#at(act.at, ({ takesTurns }) => takesTurns);
        if (process === undefined) break;
        this.#note(() => `${process.id} stops`);
        await this.#start();
        void process.stop().then(() => {
          this.#note(() => `${process.id} has stopped`);
          for (const turn of this.#turns) turn.died(process);
        });
      }
    }
    await flushMicrotasks();
  }

  /** Lets everything come to its end, and looks at what is left. */
  async end(): Promise<void> {
    this.#note(() => '— the acts are over —');
    for (const process of this.#processes.values()) if (process.isFrozen && process.isRunning) await this.#thaw(process);
    await this.#pass(SETTLE_MS);
    for (const turn of this.#turns) turn.halfClose();
    await this.#pass(SETTLE_MS);
    for (const { id, brings, state, finals, isSuspect, isLeft } of this.#turns) {
      if (state === 'open') this.#wrong('G-13', `turn ${String(id)} never completed`);
      if (state === 'complete' && brings !== 'nothing' && brings !== 'hang_up' && finals === 0 && !isSuspect && !isLeft)
        this.#wrong('G-13', `turn ${String(id)} completed without a FINAL`);
    }
    const homes = [...this.#processes.values()].filter(({ isRunning, sessions }) => isRunning && sessions.size > 0);
    if (homes.length > 1) this.#wrong('home', `the call lives in ${homes.map(({ id }) => id).join(' and ')}`);
    const last = this.#at(0, ({ takesTurns }) => takesTurns);
    if (last === undefined) return;
    const turn = this.#turn(this.#overAtMs === undefined ? 'key' : 'start', last);
    await this.#pass(SETTLE_MS);
    if (turn.state !== 'complete') this.#wrong('G-12', `the last turn is ${turn.state}`);
    await this.#pass(TEST_SETTINGS.idleTimeoutMs + 2 * TEST_SETTINGS.sweepMs, 1000);
    for (const { id, isRunning, sessions } of this.#processes.values())
      if (isRunning && sessions.size + sessions.openTurns > 0) this.#wrong('G-93', `a session or a turn is left in ${id}`);
    if (this.#ends > this.#starts) this.#wrong('G-75', 'the bot was told of more ends than there were conversations');
    await this.#world.stop();
  }

  #turn(brings: HomesTurn['brings'], process: HomeProcess): HomesTurn {
    const turn = new HomesTurn(this.#turns.length + 1, brings, process, this.#parts);
    this.#note(() => `turn ${String(turn.id)} (${brings}) comes to ${process.id}`);
    const open = this.#turns.filter(({ state }) => state === 'open');
    if (brings === 'hang_up') for (const other of open) other.isLeft = true;
    turn.isLeft = open.some((other) => other.brings === 'hang_up');
    this.#turns.push(turn);
    void turn.run();
    return turn;
  }

  async #start(): Promise<void> {
    this.#started += 1;
    const id = `p${String(this.#started)}`;
    await HomeProcess.start(this.#world, id, this.#processes, (clock) => this.#counting(id, clock));
    this.#note(() => `${id} begins`);
  }

  async #thaw(process: HomeProcess | undefined): Promise<void> {
    if (process === undefined) return;
    this.#note(() => `${process.id} goes on`);
    this.#wentOnAtMs.set(process.id, this.#world.clock.monotonicMs());
    process.thaw();
    await flushMicrotasks();
  }

  /** Time passes; what was forwarded to a process that is taken for dead moves on. */
  async #pass(ms: number, stepMs = 50): Promise<void> {
    for (let leftMs = ms; leftMs > 0 && this.wrong === undefined; leftMs -= stepMs) {
      await this.#world.pass(Math.min(stepMs, leftMs));
      for (const turn of this.#turns) {
        const { home, process } = turn;
        if (turn.state === 'open' && home !== undefined && home !== process && home.isFrozen && process.lifeOf(home.id) === 'dead')
          turn.died(home);
      }
    }
  }

  #at(place: number, which: (process: HomeProcess) => boolean): HomeProcess | undefined {
    const fitting = [...this.#processes.values()].filter(which);
    return fitting[place % Math.max(1, fitting.length)];
  }

  readonly #parts: HomesTurnParts = {
    note: (line) => {
      this.#note(line);
    },
    wrong: (rule, what) => {
      this.#wrong(rule, what);
    },
    onPrompt: (turn, text) => {
      this.#note(() => `turn ${String(turn.id)} < "${text}"`);
      turn.isWelcomed ||= text === 'Welcome.';
      if (this.#isRemembered && turn.brings !== 'start' && !this.#mayBeLate(turn))
        this.#wrong('G-7C', `turn ${String(turn.id)} got "${text}" after the end`);
    },
    onFinal: (turn, next) => {
      this.#note(() => `turn ${String(turn.id)} < FINAL ${next.kind}`);
      this.#final(turn, next);
    },
  };

  /** It is over, and that is not long ago (G-7C). */
  get #isRemembered(): boolean {
    return this.#overAtMs !== undefined && this.#world.clock.monotonicMs() - this.#overAtMs < REMEMBERED_MS;
  }

  #final(turn: HomesTurn, { kind }: FinalNext): void {
    // A key that begins the conversation anew is answered with the welcome, and the bot is not asked about it.
    const wasAsked = turn.brings === 'start' || !turn.isWelcomed;
    if (kind === 'listen' && wasAsked && !this.#mayBeLate(turn)) this.#answered.push(turn);
    if (kind === 'end' || kind === 'transfer' || turn.brings === 'hang_up') this.#overAtMs ??= this.#world.clock.monotonicMs();
  }

  /** Its home has stood still, or goes on at the moment when another takes the call: it learns that with its next beat, and answers until then. */
  #mayBeLate({ isSuspect, home }: HomesTurn): boolean {
    const wentOnAtMs = (home && this.#wentOnAtMs.get(home.id)) ?? -Infinity;
    return isSuspect || this.#world.clock.monotonicMs() - wentOnAtMs < 2 * BEAT_MS;
  }

  /** Knows every input by its number, and keeps in its state which it has answered. */
  #counting(process: string, clock: Clock): Bot {
    const keep = (state: Kept, input: number, turnId: string): Kept => {
      const known = this.#names.get(turnId);
      if (known !== undefined && known !== String(input)) this.#wrong('id', `${turnId} is the name of two turns`);
      this.#names.set(turnId, String(input));
      if (state.asked.includes(input)) this.#wrong('005', `the bot was asked about turn ${String(input)} again`);
      const lost = this.#answered.find(({ id }) => id !== input && !state.asked.includes(id));
      if (lost !== undefined)
        this.#wrong('G-15', `the state for turn ${String(input)} does not know the answer to turn ${String(lost.id)}`);
      return { ...state, asked: this.#forgets ? [] : [...state.asked, input] };
    };
    return bot<Kept>({
      id: 'counting',
      name: 'Counting',
      version: 1,
      session_start: ({ name }, { turnId }) => {
        this.#starts += 1;
        // Another conversation, whose turns are named anew.
        this.#names.clear();
        [this.#overAtMs, this.#answered] = [undefined, []];
        this.#note(() => `the bot is asked: session_start ${name} (${turnId})`);
        return go({ start: name, asked: name === '' ? [] : [Number(name)] }, say('Welcome.').listen());
      },
      custom_event: async (state, { name }, { turnId }) => {
        const [brings = '', id = ''] = name.split(' ');
        this.#note(() => `the bot is asked: ${name} (${turnId})`);
        const kept = keep(state, Number(id), turnId);
        if (brings === 'key_late') await new Promise<void>((resolve) => clock.after(LATE_MS, resolve));
        if (brings === 'bye') return go(kept, say('Goodbye.').end('done'));
        return go(kept, say(brings === 'long' ? 'x'.repeat(300) : `Input ${id}.`).listen());
      },
      otherwise: (state) => go(state, say('What?').listen()),
      session_end: (_state, { by }) => {
        if (!this.#stoodStill.has(process)) this.#ends += 1;
        this.#note(() => `the bot is told: session_end ${by}`);
      },
    });
  }

  readonly #note = (line: () => string): void => {
    this.exchange.push(line());
  };

  readonly #wrong = (rule: string, what: string): void => {
    this.#note(() => `!!! ${rule}: ${what}`);
    this.wrong ??= `${rule}: ${what}`;
  };
}
