// Calls over real sockets with the tokens that the platform presents, and what became of them. A call has two turns, so
// that the second one may find another token or data source than the first. Knows no administration.
//
// Not a failure, on purpose: a refusal of a token that ended on its way, because the platform itself presents none that has
// ended (J-03); a call without a server, because then nobody answers, whatever the token; and a call of an organization whose
// tokens have all ended, because there is none to place it with. That one is counted where the tokens are: as lapsed.
import type { Clock } from '../../src/base/clock.ts';
import type { Lines, TurnEnd } from './lines.ts';
import type { PresentedToken, PresentedTokens } from './presented-tokens.ts';

/** Most refusals that are described. */
const MAX_DESCRIBED = 20;

/** What calls are made with. */
export interface CallersOptions {
  readonly tokens: PresentedTokens;
  readonly clock: Clock;
  /** The way to a server that takes calls there. */
  readonly open: (target: string) => Lines;
  /** Draws organizations and tokens: 0 to 1. */
  readonly random: () => number;
}

/** Places calls while a server is connected. */
export class Callers {
  /** Turns that were answered. */
  calls = 0;
  /** Refused for their token, which had not ended. */
  refused = 0;
  /** Ended badly in any other way. */
  broken = 0;
  /** What was wrong with the first of them; holds no token. */
  readonly described: string[] = [];
  readonly #options: CallersOptions;
  #lines: Lines | undefined;
  #callers: Promise<void>[] = [];
  #isOver = false;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  /** Whether a server takes calls. */
  get isConnected(): boolean {
    return this.#lines !== undefined;
  }

  /** A server listens: calls are placed from now on. */
  connect(target: string): void {
    this.#lines = this.#options.open(target);
  }

  /** The server is going: its calls are nobody's fault from now on. */
  disconnect(): void {
    this.#lines?.close();
    this.#lines = undefined;
  }

  /** Begins so many callers who never rest. */
  begin(callers: number): void {
    this.#callers = Array.from({ length: callers }, () => this.#callOn());
  }

  /** Resolves when the last call is over. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
  }

  /** One turn at the beginning of a call; `finish` is another one at its end. Resolves when it was answered. */
  async place(presented: PresentedToken, finishWith: () => PresentedToken = () => presented): Promise<() => Promise<void>> {
    // Nobody can be called, whatever the token.
    if (this.#lines === undefined) return () => Promise.resolve();
    const call = this.#lines.call(presented);
    const begun = await this.#turn('begin', call.begin(), presented);
    return async () => {
      if (begun !== 'answered') return;
      const last = finishWith();
      await this.#turn('end', call.end(last), last);
    };
  }

  /** One whole call with each token that the platform presents for the organization. */
  async callWithAll(organizationId: string): Promise<void> {
    for (const presented of this.#options.tokens.of(organizationId)) await (await this.place(presented))();
  }

  async #callOn(): Promise<void> {
    const { tokens, random } = this.#options;
    while (!this.#isOver) {
      const { organizations } = tokens;
      const organizationId = organizations[Math.floor(random() * organizations.length)] ?? '';
      const pick = (): PresentedToken | undefined => {
        const presented = tokens.of(organizationId);
        return presented[Math.floor(random() * presented.length)];
      };
      const presented = pick();
      // Until a server is there: the time of the server stands still or runs, as it likes.
      if (this.#lines === undefined || presented === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      else await (await this.place(presented, () => pick() ?? presented))();
    }
  }

  /** Counts a turn. Undefined: its server has gone meanwhile. */
  async #turn(name: 'begin' | 'end', running: Promise<TurnEnd>, presented: PresentedToken): Promise<TurnEnd | undefined> {
    const lines = this.#lines;
    const end = await running;
    // Whoever is on the line when the server goes is no caller of ours any more.
    if (lines === undefined || lines !== this.#lines) return undefined;
    this.calls += 1;
    if (end === 'answered') return end;
    // A token may end while it is on its way; by the platform's clock, which decides how long it is presented.
    if (end === 'refused' && this.#options.tokens.hasEnded(presented)) return end;
    if (end === 'refused') this.refused += 1;
    else this.broken += 1;
    const leftMs = presented.endsAtMs - this.#options.clock.nowMs();
    const what = end === 'refused' ? end : end.broken;
    if (this.described.length < MAX_DESCRIBED)
      this.described.push(`${name} of ${presented.organizationId}: ${what}, ${String(leftMs)} ms before the end of its token`);
    return end;
  }
}
