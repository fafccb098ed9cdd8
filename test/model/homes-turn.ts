// One turn of a call that comes to one of several processes: finds its home as a server does, is forwarded there, and comes again when
// that home is gone. Keeps what its caller got.
import { toAppError, type AppError } from '../../src/base/errors.ts';
import type { Located } from '../../src/dialog/home.ts';
import type { Input } from '../../src/dialog/input.ts';
import type { FinalNext, Output } from '../../src/dialog/output.ts';
import type { TurnSink } from '../../src/session/ports.ts';
import type { Turn } from '../../src/session/turn/turn.ts';
import type { Brought } from './homes-program.ts';
import type { HomeProcess } from './homes-process.ts';

/** The call of every run. */
const CALL = { organizationId: 'org', conversationId: 'call' };
/** As often as a turn is forwarded. */
const MAX_ATTEMPTS = 5;

/** How one attempt ended. */
type Attempted = 'over' | 'given_back' | 'home_lost';

/** What a turn tells of itself. */
export interface HomesTurnParts {
  readonly note: (line: () => string) => void;
  readonly wrong: (rule: string, what: string) => void;
  readonly onPrompt: (turn: HomesTurn, text: string) => void;
  readonly onFinal: (turn: HomesTurn, next: FinalNext) => void;
}

/** One turn. */
export class HomesTurn {
  readonly id: number;
  readonly brings: Brought;
  /** Where it came to. */
  readonly process: HomeProcess;
  /** Where it is answered. */
  home: HomeProcess | undefined;
  /** `broken`: its process died with it; `refused`: nobody could take it. */
  state: 'open' | 'complete' | 'broken' | 'refused' = 'open';
  finals = 0;
  /** A home of it has stood still: what it says after that may be late, and nobody has to know of it. */
  isSuspect = false;
  /** It was greeted. */
  isWelcomed = false;
  readonly #parts: HomesTurnParts;
  /** Its caller has hung up on another turn meanwhile: nothing is owed on it (G-74). */
  isLeft = false;
  #attempt = 0;
  #end: (attempted: Attempted) => void = () => undefined;
  #turn: Turn | undefined;

  constructor(id: number, brings: Brought, process: HomeProcess, parts: HomesTurnParts) {
    this.id = id;
    this.brings = brings;
    this.process = process;
    this.#parts = parts;
  }

  /** Runs it to its end. Never rejects. */
  async run(): Promise<void> {
    const { process } = this;
    const asked = {
      opensWith: this.brings === 'hang_up' ? 'end' : this.brings === 'start' ? 'start' : this.brings === 'nothing' ? 'nothing' : 'input',
    } as const;
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS && this.#isOpen(); attempt += 1) {
        const located = await process.homes.locate(CALL, asked);
        if (!this.#isOpen()) return;
        if (located.kind !== 'at_peer') {
          await this.#answeredAt(process, located, undefined);
          return;
        }
        const { home, isTaking } = located;
        const peer = process.peer(home.id);
        if (!peer.isRunning) {
          process.homes.lost(CALL, home, 'refused');
          continue;
        }
        if (!(await this.#reaches(peer))) {
          process.homes.lost(CALL, home, lossOf(peer));
          continue;
        }
        const there = await peer.homes.locate(CALL, { ...asked, forwarded: { isTaking } });
        if (there.kind === 'not_mine') {
          process.homes.lost(CALL, home, 'not_mine');
          continue;
        }
        const attempted = await this.#answeredAt(peer, there, `turn-${String(this.id)}`);
        if (attempted === 'over') return;
        process.homes.lost(CALL, home, attempted === 'given_back' ? 'not_mine' : lossOf(peer));
      }
      if (this.#isOpen()) this.#refused('nobody takes it');
    } catch (thrown) {
      this.#refused(toAppError(thrown).code);
    }
  }

  /** The platform has sent everything. */
  halfClose(): void {
    if (this.state === 'open') this.#turn?.halfClose();
  }

  /** A process has died, or is taken for dead. */
  died(process: HomeProcess): void {
    if (this.state !== 'open') return;
    if (process === this.process) {
      this.#over('broken');
      // Its home sees that nobody reads any more.
      if (this.home?.isRunning === true) this.#turn?.abort('hang_up');
    } else if (process === this.home) this.#end('home_lost');
  }

  /** A look of its own: it may be over after each wait. */
  #isOpen(): boolean {
    return this.state === 'open';
  }

  /** Waits for one that stands still. @returns false when it is gone. */
  async #reaches(peer: HomeProcess): Promise<boolean> {
    if (!peer.isFrozen) return true;
    this.home = peer;
    const gone = new Promise<boolean>((resolve) => {
      this.#end = () => {
        resolve(false);
      };
    });
    return Promise.race([gone, peer.awake().then(() => true)]);
  }

  #answeredAt(process: HomeProcess, located: Located, forwardedId: string | undefined): Promise<Attempted> {
    this.home = process;
    this.#attempt += 1;
    this.#parts.note(
      () =>
        `turn ${String(this.id)} (${this.brings}) is at ${process.id}${located.kind === 'ended' ? ', which knows that the call is over' : ''}`,
    );
    const attempted = new Promise<Attempted>((resolve) => (this.#end = resolve));
    const attempt = this.#attempt;
    const sink = this.#sink(attempt, forwardedId);
    const restored = located.kind === 'here' ? located.restored : undefined;
    if (located.kind === 'ended') completeEmpty(sink);
    else if (this.brings === 'hang_up') {
      void process.sessions.find(CALL, restored).then((session) => {
        if (session === undefined) completeEmpty(sink);
        else this.#begin(session.beginTurn(sink, true), attempt);
      });
    } else {
      const opening = { ...CALL, agentId: '', vendorConfig: '', parameters: {}, restored };
      const acquired = process.sessions.acquire({ ...opening, opensWith: this.brings === 'start' ? 'start' : 'input' });
      if (!(acquired instanceof Promise)) this.#begin(acquired.beginTurn(sink), attempt);
      else
        acquired
          .then((session) => {
            this.#begin(session.beginTurn(sink), attempt);
          })
          .catch((thrown: unknown) => {
            sink.fail(toAppError(thrown));
          });
    }
    return attempted;
  }

  #begin(turn: Turn, attempt: number): void {
    // It stood still meanwhile, and goes on with a stream that was given up.
    if (attempt !== this.#attempt) {
      turn.abort('hang_up');
      return;
    }
    this.#turn = turn;
    turn.push(this.#input());
    if (this.brings !== 'nothing') turn.halfClose();
  }

  #input(): Input {
    switch (this.brings) {
      case 'start':
        return { kind: 'session_start', name: String(this.id), parameters: {} };
      case 'hang_up':
        return { kind: 'session_end' };
      case 'nothing':
        return { kind: 'audio', audio: new Uint8Array(160).fill(0xff) };
      default:
        return { kind: 'custom_event', name: `${this.brings} ${String(this.id)}`, parameters: {} };
    }
  }

  /** Nobody hears what an attempt says that is over. */
  #sink(attempt: number, forwardedId: string | undefined): TurnSink {
    const isHeard = (): boolean => this.#attempt === attempt && this.state === 'open' && this.home?.isRunning === true;
    let hasWritten = false;
    return {
      ...(forwardedId !== undefined && { forwardedId }),
      write: (output) => {
        hasWritten = true;
        if (isHeard()) this.#wrote(output);
        return true;
      },
      onceDrained: () => undefined,
      complete: () => {
        if (isHeard()) this.#over('complete');
      },
      fail: (error: AppError) => {
        if (isHeard()) this.#refused(error.code);
      },
      giveBack: () => {
        if (forwardedId === undefined || hasWritten || !isHeard()) return false;
        this.#parts.note(() => `turn ${String(this.id)} is given back`);
        this.#end('given_back');
        return true;
      },
    };
  }

  #wrote(output: Output): void {
    if (output.kind === 'prompt') this.#parts.onPrompt(this, output.prompt.text ?? '');
    if (output.kind !== 'final') return;
    this.finals += 1;
    if (this.finals > 1) this.#parts.wrong('G-14', `turn ${String(this.id)} got a second FINAL`);
    for (const { text } of output.prompts) this.#parts.onPrompt(this, text ?? '');
    this.#parts.onFinal(this, output.next);
  }

  #refused(code: string): void {
    this.#parts.note(() => `turn ${String(this.id)} is refused: ${code}`);
    this.#over('refused');
  }

  #over(state: 'complete' | 'broken' | 'refused'): void {
    if (this.state !== 'open') return;
    this.state = state;
    this.#parts.note(() => `turn ${String(this.id)} is ${state}`);
    this.#end('over');
  }
}

/** As a transport answers a turn of a call that is over. */
function completeEmpty(sink: TurnSink): void {
  sink.write({ kind: 'final', mode: 'wav', prompts: [], next: { kind: 'gone' } });
  sink.complete();
}

/** What a relay sees of a home that is gone. */
function lossOf({ isRunning }: HomeProcess): 'broken' | 'refused' {
  return isRunning ? 'broken' : 'refused';
}
