// Plays one program against the real engine and holds what happens against the reference. No timer, no socket, no
// randomness of its own: a program plays the same way every time.
import { getEventListeners } from 'node:events';
import { Catalog } from '../../src/bot/catalog.ts';
import { loadContract } from '../../src/contract/grpc.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { Admission } from '../../src/session/admission.ts';
import { throughJson, type JsonObject } from '../../src/base/json.ts';
import type { Restored } from '../../src/dialog/home.ts';
import type { SessionObserver, TurnSink } from '../../src/session/ports.ts';
import { firstSnapshot } from '../../src/session/snapshot/snapshot.ts';
import { Sessions } from '../../src/session/sessions.ts';
import { Listener } from '../../src/speech/listener.ts';
import { NO_SNAPSHOTS, recordingLog, TEST_SETTINGS } from '../support/engine.ts';
import { FakeClock, flushMicrotasks } from '../support/fake-clock.ts';
import { Gates } from './gates.ts';
import { Line, OPENING } from './line.ts';
import { scriptedPorts, type Ports } from './ports.ts';
import type { Act, Program } from './program.ts';
import { Reference } from './reference.ts';
import type { Rpc } from './rpc.ts';
import { BOT_NAME, scriptedBot, type ModelLine } from './scripted-bot.ts';
import { MODEL_PATIENCE, scriptedEngines } from './sounds.ts';
import { WireInspector } from './wire-inspector.ts';

/** What came of a program. */
export interface Played {
  /** What broke which rule; undefined when all is well. The first one counts. */
  readonly wrong: string | undefined;
  /** Everything that happened, one line each; empty unless asked for. */
  readonly exchange: readonly string[];
}

/** How to play. */
export interface PlayOptions {
  readonly isTraced?: boolean;
  /** Puts something between engine and line, to prove that mistakes are found. */
  readonly between?: (sink: TurnSink) => TurnSink;
}

const inspector = new WireInspector(loadContract(loadProfile('fake')));
/** Longest virtual time that quiet may take after the last act: every input of a run waits for its deadline. */
const QUIET_LIMIT_MS = 1_000_000;
const QUIET_STEP_MS = 5000;
/** Less than any deadline, so that a timer that was left behind is still there. */
const GRACE_LIMIT_MS = 8000;
const GRACE_STEP_MS = 300;
/** How long a caller acts who does not wait. */
const IMPATIENT_MS = 27_000;
/** A filler comes well before the deadline. */
const FILLER_MS = 2000;

/** Plays a program to its end. */
export async function play(program: Program, options: PlayOptions = {}): Promise<Played> {
  const lab = new Lab(program, options);
  await lab.begin();
  for (const act of program.acts) if (lab.wrong === undefined) await lab.act(act);
  if (lab.wrong === undefined) await lab.end();
  return { wrong: lab.wrong, exchange: lab.exchange };
}

class Lab {
  wrong: string | undefined;
  readonly exchange: string[] = [];
  readonly #program: Program;
  readonly #options: PlayOptions;
  readonly #clock = new FakeClock();
  readonly #gates: Gates;
  readonly #reference: Reference;
  readonly #ports: Ports;
  readonly #sessions: Sessions;
  readonly #lines: Line[] = [];
  readonly #signals = new Set<AbortSignal>();
  readonly #opened: ModelLine[] = [];
  readonly #detectors = scriptedEngines();
  #closing: Promise<unknown> | undefined;
  #isDraining = false;
  /** What another home has left. */
  #left: Restored | undefined;
  #moves = 0;

  constructor(program: Program, options: PlayOptions) {
    this.#program = program;
    this.#options = options;
    this.#gates = new Gates(this.#note);
    const reference = new Reference({
      isHeardExact: program.mode === 'chunk' && program.voice !== 'mute' && !program.slow.voice,
      isSpokenInPieces: program.voice === 'streamed',
      nowMs: () => this.#clock.monotonicMs(),
      snapshot: () => this.#sessionNow()?.snapshot,
      isFloorHeld: () => this.#lines.some(({ turn }) => turn?.holdsFloor === true && turn.state !== 'done'),
      isEnding: () => this.#isEnding(),
      isLeaving: () => this.#sessionNow()?.leaving !== undefined,
      mayHandOver: () => this.#closing !== undefined || this.#sessionNow()?.leaving !== undefined,
      wrong: this.#wrong,
    });
    this.#reference = reference;
    const shared = {
      gates: this.#gates,
      reference,
      opened: this.#opened,
      keepSignal: (signal: AbortSignal): void => {
        this.#signals.add(signal);
      },
      wrong: this.#wrong,
    };
    this.#ports = scriptedPorts({ program, ...shared });
    const { behaviours, hasNotes } = program;
    const bot = scriptedBot({ behaviours, hasNotes, rpcOf: this.#rpcOf, note: this.#note, ...shared });
    this.#sessions = this.#engine(new Catalog([bot]));
  }

  async begin(): Promise<void> {
    const { beginning } = this.#program;
    if (beginning === 'here') {
      await this.act({ kind: 'open', first: 'session_start', halfClose: true, together: false });
      await this.act({ kind: 'settle', together: false });
    }
    if (beginning === 'elsewhere') {
      this.#note(() => '— another process has begun the call —');
      const { organizationId, conversationId } = OPENING;
      const call = { organizationId, conversationId, agentId: BOT_NAME.id, startedAtMs: 0, vendorConfig: '', parameters: {} };
      const snapshot = {
        ...firstSnapshot({ call, bot: BOT_NAME, mode: this.#program.mode }),
        started: true,
        state: { asked: [] },
        turns: 1,
      };
      // The form of a snapshot is an object.
      this.#left = { snapshot: throughJson(snapshot) as JsonObject, generation: 1 };
    }
  }

  async act(act: Act): Promise<void> {
    switch (act.kind) {
      case 'open': {
        const line = this.#open();
        line.send(act.first);
        if (act.halfClose) line.halfClose();
        break;
      }
      case 'send':
        this.#at(act.rpc)?.send(act.input);
        break;
      case 'half_close':
        this.#at(act.rpc)?.halfClose();
        break;
      case 'cancel':
        this.#at(act.rpc)?.cancel();
        break;
      case 'stop_reading':
        this.#at(act.rpc)?.stopReading();
        break;
      case 'read':
        this.#at(act.rpc)?.read();
        break;
      case 'answer':
        this.#gates.answer(act.pick);
        break;
      case 'break':
        this.#gates.refuse(act.pick);
        break;
      case 'settle':
        await this.#settle();
        break;
      case 'wait':
        await this.#wait(act.ms);
        break;
      case 'impatient':
        for (let ms = 0; ms < IMPATIENT_MS && this.wrong === undefined; ms += act.everyMs) {
          await this.act({ kind: 'open', first: 'dtmf', halfClose: true, together: false });
          await this.act({ kind: 'wait', ms: act.everyMs, together: false });
        }
        break;
      case 'move':
        this.#move();
        break;
      case 'drain':
        this.#note(() => 'the server takes no new calls');
        this.#isDraining = true;
        this.#sessions.drain();
        break;
      case 'close':
        this.#close(act.limitMs);
    }
    if (!act.together) await flushMicrotasks();
    this.#reference.settled();
    this.#reference.silence.look(this.#reference.open, this.#isHeld());
  }

  /** Lets everything come to its end and looks at what is left. */
  async end(): Promise<void> {
    this.#note(() => '— the acts are over; everything is answered and half-closed —');
    this.#gates.isOpen = true;
    for (const line of this.#lines) line.read();
    await this.#settle();
    for (const line of this.#lines) line.halfClose();
    await this.#quiet();
    if (this.#isEnding()) await this.#collectEnd();
    this.#reference.quiet();
    await this.#leave();
    this.#lookForRemains();
  }

  /** An end that could not be told on the RPC it was decided on is told on the next (G-77). */
  async #collectEnd(): Promise<void> {
    const line = this.#open();
    line.send('no_input');
    line.halfClose();
    await this.#quiet();
    if (line.rpc.finals === 0) this.#wrong('G-76 G-77', 'the end was decided and never told');
  }

  async #quiet(): Promise<void> {
    await flushMicrotasks();
    for (let waitedMs = 0; this.#lines.some(({ isOver }) => !isOver) && waitedMs < QUIET_LIMIT_MS; waitedMs += QUIET_STEP_MS) {
      await this.#wait(QUIET_STEP_MS);
    }
    // Bots whose turns were ended have a moment left, one after the other.
    for (let waitedMs = 0; this.#clock.pendingTimers > 1 && waitedMs < GRACE_LIMIT_MS; waitedMs += GRACE_STEP_MS)
      await this.#wait(GRACE_STEP_MS);
    // The sweep goes on until the server stops; stopping has timers of its own.
    const timers = this.#clock.pendingTimers;
    if (this.#closing === undefined && timers !== 1) this.#wrong('G-93', `${String(timers)} timers run although nothing is awaited`);
    await this.#wait(QUIET_STEP_MS);
    this.#reference.settled();
  }

  async #leave(): Promise<void> {
    const { leaving } = this.#program;
    if (leaving === 'hang_up') {
      const line = this.#open();
      line.send('session_end');
      line.halfClose();
      await flushMicrotasks();
      if (!line.isOver) this.#wrong('G-75', 'the hang-up never completed');
    }
    if (leaving === 'shutdown') this.#close(1000);
    await this.#wait(TEST_SETTINGS.idleTimeoutMs + 3 * TEST_SETTINGS.sweepMs);
    this.#reference.settled();
  }

  #lookForRemains(): void {
    const { size, openTurns } = this.#sessions;
    const isStopped = this.#closing !== undefined;
    if (size + openTurns !== 0) this.#wrong('G-93', `${String(size)} sessions and ${String(openTurns)} turns are left`);
    // The sweep goes on until the server stops.
    if (this.#opened.some(({ isOpen }) => isOpen)) this.#wrong('G-93', 'something that the bot keeps for a session is left');
    const timers = this.#clock.pendingTimers;
    if (timers !== (isStopped ? 0 : 1)) this.#wrong('G-93', `${String(timers)} timers are left`);
    const detectors = this.#detectors.unclosed();
    if (detectors !== 0) this.#wrong('G-93', `${String(detectors)} voice detectors are left`);
    for (const { turn } of this.#lines) if (turn !== undefined) this.#signals.add(turn.wanted.signal).add(turn.over.signal);
    for (const signal of this.#signals)
      if (getEventListeners(signal, 'abort').length > 0) this.#wrong('G-16', 'a listener is left on a signal');
  }

  async #settle(): Promise<void> {
    await flushMicrotasks();
    while (this.#gates.answer(0)) await flushMicrotasks();
  }

  async #wait(ms: number): Promise<void> {
    this.#note(() => `${String(ms)} ms pass`);
    await this.#clock.advanceAsync(ms);
  }

  #open(): Line {
    const line: Line = new Line({
      sessions: () => this.#sessions,
      // A home that stops takes no call any more.
      restored: () => (this.#closing === undefined ? this.#left : undefined),
      reference: this.#reference,
      note: this.#note,
      wrong: this.#wrong,
      inspect: (output) => {
        for (const problem of inspector.problemsOf(output)) this.#wrong(problem.rule, `${line.name}: ${problem.what}`);
      },
      mayRefuse: (code) => {
        if (code === 'overloaded') return this.#lines.length > 8;
        return code === 'shutting_down' && this.#isDraining;
      },
      between: this.#options.between ?? ((sink) => sink),
    });
    this.#lines.push(line);
    return line;
  }

  /** The RPC so many places behind the newest that is still open. */
  #at(place: number): Line | undefined {
    const open = this.#lines.filter(({ isOver }) => !isOver);
    return open.at(-1 - (place % Math.max(1, open.length)));
  }

  /** As when another home takes the call over: what it is given is JSON, and does not know what was playing. */
  #move(): void {
    const session = this.#sessionNow();
    const mayMove = this.#closing === undefined && this.#sessions.openTurns === 0 && session?.leaving === undefined;
    if (session === undefined || !mayMove || session.isEnded || session.hasPendingEnd) return;
    this.#note(() => '— the call moves to another process —');
    this.#moves += 1;
    this.#left = { snapshot: throughJson({ ...session.snapshot, played: undefined }) as JsonObject, generation: this.#moves + 1 };
    this.#reference.inputs.moved();
    this.#sessions.lose(OPENING);
  }

  #close(limitMs: number): void {
    this.#note(() => `the server stops within ${String(limitMs)} ms`);
    this.#isDraining = true;
    this.#closing = this.#sessions.close(limitMs);
  }

  /** The caller hears something, or the engine waits for what it has no limit for, or has one of its own for. */
  #isHeld(): boolean {
    const isSounding = this.#reference.outputs.player.remainingMs(this.#clock.monotonicMs()) > 0;
    return isSounding || this.#gates.isWaiting(/^the (?:voice|next piece)/u) || this.#reference.open.some(({ isUnread }) => isUnread);
  }

  #isEnding(): boolean {
    const session = this.#sessionNow();
    return session?.hasPendingEnd === true && !session.isEnded;
  }

  #sessionNow() {
    const sessions = this.#lines.flatMap(({ session }) => session ?? []);
    // One that begins anew may have been found first by a later stream than its own (G-28).
    return sessions.findLast(({ isEnded }) => !isEnded) ?? sessions.at(-1);
  }

  /** A call that begins again counts its turns anew: the one that is open is meant. */
  readonly #rpcOf = (turnId: string): Rpc | undefined => {
    const named = this.#lines.filter(({ turn }) => turn?.id === turnId);
    return (named.findLast(({ isOver }) => !isOver) ?? named.at(-1))?.rpc;
  };

  readonly #note = (line: () => string): void => {
    if (this.#options.isTraced === true) this.exchange.push(line());
  };

  readonly #wrong = (rule: string, what: string): void => {
    this.#note(() => `!!! ${rule}: ${what}`);
    this.wrong ??= `${rule}: ${what}`;
  };

  #engine(catalog: Catalog): Sessions {
    const { mode, welcomeBargeIn, maxDurationMs, hasFiller } = this.#program;
    const fillerAfterMs = hasFiller ? FILLER_MS : 0;
    const limits = {
      maxSessions: 10,
      perOrganization: { maxSessions: 0, maxNewPerSecond: 0 },
      organizations: new Map(),
      maxStreams: 1000,
      maxLoopDelayMs: 0,
      maxRssBytes: 0,
      maxHeapPercent: 0,
    };
    const load = { reading: () => ({ loopDelayMs: 0, rssBytes: 0, heapPercent: 0 }) };
    const { engines } = this.#detectors;
    return new Sessions(
      {
        settings: { ...TEST_SETTINGS, mode, welcomeBargeIn, maxDurationMs, fillerAfterMs, patience: MODEL_PATIENCE },
        admission: new Admission({ limits, load, clock: this.#clock }),
        snapshots: NO_SNAPSHOTS,
        voice: this.#ports.voice,
        recognizer: this.#ports.recognizer,
        observer: this.#observer(),
        clock: this.#clock,
        log: recordingLog(),
        createListener: (given) => new Listener({ engines, patience: MODEL_PATIENCE, ...given }),
      },
      { current: catalog },
    );
  }

  #observer(): SessionObserver {
    return {
      sessionStarted: (_call, isContinued = false) => {
        this.#note(() => (isContinued ? 'a session goes on' : 'a session begins'));
        this.#reference.sessionStarted(isContinued ? Number(this.#left?.snapshot['turns'] ?? 0) : 0, isContinued);
        this.#left = undefined;
      },
      sessionEnded: (_call, end) => {
        this.#note(() => `the session is over: ${end}`);
        if (end === 'moved') {
          if (this.#left === undefined) this.#wrong('G-15', 'a call that nobody else serves moved away');
        } else this.#reference.sessionEnded(end);
      },
      botFailed: (_call, turnId, error) => {
        this.#note(() => `the bot failed: ${error.code} (${turnId})`);
        if (error.code === 'bot_timeout') this.#reference.inputs.timedOut(this.#rpcOf(turnId));
      },
      promptResumed: (_call, turnId) => {
        this.#note(() => `the prompts go on (${turnId})`);
        this.#reference.inputs.resumed(this.#rpcOf(turnId));
      },
    };
  }
}
