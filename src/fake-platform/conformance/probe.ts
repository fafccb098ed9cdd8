// What a transport offers to checks, to the survey and to the reachability test: calls, and tokens to present. Owns what it
// opens. Knows no rule.
import type { Failure } from '../lines/failure.ts';
import type { ListedAgent } from '../lines/line.ts';
import type { ProbeCall, ProbeIds, ProbeTurn } from './call.ts';
import { ExchangeLog } from './exchange.ts';
import type { GivenSuspect } from './suspect.ts';
import { CheckGivenUp } from './verdict.ts';

/** The result of a call, or of a request for the list, with a token. */
export interface Presented {
  /** The server answered, so it accepted the token. */
  readonly isTaken: boolean;
  /** The server rejected the token with the right code: UNAUTHENTICATED, or 401 before the upgrade. */
  readonly isRefused: boolean;
  /** As `isRefused`, and also with a code that another rule may forbid: 403 before the upgrade (W-06). */
  readonly isDenied: boolean;
  /** The server rejected the token as in `isDenied`, or with a code for tokens of another organization. */
  readonly isForbidden: boolean;
  /** The server ended the call or the request with any error, and answered nothing. */
  readonly isError: boolean;
  /** The result, as the rest of a sentence: `ended with UNAVAILABLE`. */
  readonly how: string;
  /** The server's text for the rejection. */
  readonly words: string;
  /** Whether the failure shows that no server listens there. */
  readonly isNobody: boolean;
}

/** The result of a call that was begun with a token. */
export interface PresentedCall extends Presented {
  /** The call began with a welcome and its FINAL. */
  readonly hasFinal: boolean;
  /** Why no call can be placed like this: a sentence that begins with a small letter. */
  readonly whyNot: string;
  /** Why the call was not answered. */
  readonly failure: Failure;
}

export interface Connection {
  /** Whether the server said that it has no room. */
  readonly isOverloaded: boolean;
  drop(): void;
}

/** One transport, for one check or for code that places calls for several checks. `close` must be called. */
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
  /** Whether a server may accept the welcome of a call and no turn after it: possible where each turn has its own RPC (G-12). */
  abstract readonly mayEndWithWelcome: boolean;
  abstract authorization(token: string): string;
  /** A call on `connection`; by default on a new one. */
  abstract call(ids?: Partial<ProbeIds>, connection?: Wire): Call;
  /** Begins a call with this authorization header; null sends none. */
  abstract present(authorization: string | null, organizationId?: string): Promise<PresentedCall>;
  /** Asks for the agents with this authorization header; null sends none. */
  abstract presentToList(authorization: string | null, organizationId?: string): Promise<Presented>;
  /** The agents that the server lists; otherwise why it does not list them. */
  abstract agents(): Promise<readonly ListedAgent[] | string>;

  /** The authorization header with the good token; undefined when no token was given. */
  get goodAuthorization(): string | undefined {
    const { token } = this.suspect;
    return token === undefined ? undefined : this.authorization(token);
  }

  /** Whether the server said that it has no room. */
  get isOverloaded(): boolean {
    return this.#open.some(({ isOverloaded }) => isOverloaded);
  }

  /** Cancels everything that was opened. After that, nothing more can be sent. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.drop();
  }

  /** Opens a connection, which `close` cancels. @throws CheckGivenUp after `close`. */
  protected opened<Opened extends Wire>(open: (count: number) => Opened): Opened {
    if (this.#isClosed) throw new CheckGivenUp();
    const opened = open(this.#open.length + 1);
    this.#open.push(opened);
    return opened;
  }
}
