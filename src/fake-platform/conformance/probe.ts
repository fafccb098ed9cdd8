// What a transport offers to a check, to the survey and to the reachability test: calls, and tokens to present. Owns what it
// opens. Knows no rule.
import type { Failure } from '../lines/failure.ts';
import type { ListedAgent } from '../lines/line.ts';
import type { ProbeCall, ProbeIds, ProbeTurn } from './call.ts';
import { ExchangeLog } from './exchange.ts';
import type { GivenSuspect } from './suspect.ts';
import { CheckGivenUp } from './verdict.ts';

/** The result of a call or a question with a token. */
export interface Presented {
  /** The server answered: it accepted the token. */
  readonly isTaken: boolean;
  /** It rejected the token properly: with UNAUTHENTICATED, with 401 before the upgrade. */
  readonly isRefused: boolean;
  /** It rejected the token with a code that another rule may forbid, too: also with 403 before the upgrade (W-06). */
  readonly isDenied: boolean;
  /** The server rejected the token with one of these codes, or with one for tokens of another organization. */
  readonly isForbidden: boolean;
  /** The server ended it with any error, and answered nothing. */
  readonly isError: boolean;
  /** The result, for a sentence that begins with its name: `ended with UNAVAILABLE`. */
  readonly how: string;
  /** What the server said when it refused. */
  readonly words: string;
  /** Whether the failure shows that no server answers there. */
  readonly isNobody: boolean;
}

/** The result of a call that was begun with a token. */
export interface PresentedCall extends Presented {
  /** It began with a welcome and its FINAL. */
  readonly hasFinal: boolean;
  /** Why no call can be placed like this: a sentence without a capital. */
  readonly whyNot: string;
  /** How it was not answered. */
  readonly failure: Failure;
}

export interface Connection {
  /** Whether the server said that it has no room. */
  readonly isOverloaded: boolean;
  drop(): void;
}

/** One transport for one check, or for whoever places calls for several. `close` must be called. */
export abstract class Probe<
  Turn extends ProbeTurn = ProbeTurn,
  Call extends ProbeCall<Turn> = ProbeCall<Turn>,
  Wire extends Connection = Connection,
> {
  readonly suspect: GivenSuspect;
  readonly log: ExchangeLog;
  readonly #open: Wire[] = [];
  #isClosed = false;

  constructor(suspect: GivenSuspect) {
    this.suspect = suspect;
    this.log = new ExchangeLog(suspect.clock);
  }

  /** How this transport rejects a token, for sentences. */
  abstract readonly refusal: string;
  /** The schema of the other transport, whose tokens this one rejects (J-2E). */
  abstract readonly otherSchemaId: string;
  /** Whether a server may accept a call's welcome and then none of its turns: each turn has its own RPC (G-12). */
  abstract readonly mayEndWithWelcome: boolean;
  abstract authorization(token: string): string;
  /** A call on its own connection, or on this one. */
  abstract call(ids?: Partial<ProbeIds>, connection?: Wire): Call;
  /** Begins a call with this header; null sends none. */
  abstract present(authorization: string | null, organizationId?: string): Promise<PresentedCall>;
  /** Asks for the agents with this header; null sends none. */
  abstract presentToList(authorization: string | null, organizationId?: string): Promise<Presented>;
  /** The agents that the server offers; otherwise why it does not list them. */
  abstract agents(): Promise<readonly ListedAgent[] | string>;

  /** The header with the good token; undefined without one. */
  get goodAuthorization(): string | undefined {
    const { token } = this.suspect;
    return token === undefined ? undefined : this.authorization(token);
  }

  /** Whether the server said that it has no room. */
  get isOverloaded(): boolean {
    return this.#open.some(({ isOverloaded }) => isOverloaded);
  }

  /** Cancels what was opened: the server can be asked nothing more. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.drop();
  }

  /** Opens something, which is cancelled at the end. @throws CheckGivenUp when this is closed. */
  protected opened<Opened extends Wire>(open: (count: number) => Opened): Opened {
    if (this.#isClosed) throw new CheckGivenUp();
    const opened = open(this.#open.length + 1);
    this.#open.push(opened);
    return opened;
  }
}
