// What a transport gives to a check, to the survey and to the first look at a server: calls, and tokens that are presented. Owns what
// it opens. Knows no rule.
import type { Failure } from '../lines/failure.ts';
import type { ListedAgent } from '../lines/line.ts';
import type { ProbeCall, ProbeIds, ProbeTurn } from './call.ts';
import { ExchangeLog } from './exchange.ts';
import type { GivenSuspect } from './suspect.ts';
import { CheckGivenUp } from './verdict.ts';

/** What became of a call or a question with a token. */
export interface Presented {
  /** The server answered: the token was let in. */
  readonly isTaken: boolean;
  /** It was refused as a token is: by UNAUTHENTICATED, by 401 before the upgrade. */
  readonly isRefused: boolean;
  /** It was refused for its token, by a code that another rule may forbid: also by 403 before the upgrade (W-06). */
  readonly isDenied: boolean;
  /** It was refused so, or as a token may be that is good for another organization. */
  readonly isForbidden: boolean;
  /** The server ended it by any error, and answered nothing. */
  readonly isError: boolean;
  /** What became of it, for a sentence that begins with its name: `ended with UNAVAILABLE`. */
  readonly how: string;
  /** What the server said when it refused. */
  readonly words: string;
  /** Whether it says that there is nobody to talk to. */
  readonly isNobody: boolean;
}

/** What became of a call that was begun with a token. */
export interface PresentedCall extends Presented {
  /** It began with a welcome and its FINAL. */
  readonly hasFinal: boolean;
  /** Why no call can be placed like this: a sentence without a capital. */
  readonly whyNot: string;
  /** How it was not answered. */
  readonly failure: Failure;
}

/** What is opened on the wire. */
export interface Connection {
  /** Whether the server said that it has no room. */
  readonly isOverloaded: boolean;
  drop(): void;
}

/** One transport in the hands of one check, or of whoever places calls for several. `close` must be called. */
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

  /** How a token is refused here, for sentences. */
  abstract readonly refusal: string;
  /** The schema of the other transport, whose tokens are refused here (J-2E). */
  abstract readonly otherSchemaId: string;
  /** Whether a server may take a call's welcome and then none of its turns: each turn has an RPC of its own (G-12). */
  abstract readonly mayEndWithWelcome: boolean;
  /** The header that presents a token. */
  abstract authorization(token: string): string;
  /** A call on a connection of its own, or on this one. */
  abstract call(ids?: Partial<ProbeIds>, connection?: Wire): Call;
  /** Begins a call with this header; null sends none. */
  abstract present(authorization: string | null, organizationId?: string): Promise<PresentedCall>;
  /** Asks for the agents with this header; null sends none. */
  abstract presentToList(authorization: string | null, organizationId?: string): Promise<Presented>;
  /** The agents that the server offers; why it does not say, otherwise. */
  abstract agents(): Promise<readonly ListedAgent[] | string>;

  /** The header with the good token; undefined when there is none. */
  get goodAuthorization(): string | undefined {
    const { token } = this.suspect;
    return token === undefined ? undefined : this.authorization(token);
  }

  /** Whether the server said that it has no room. */
  get isOverloaded(): boolean {
    return this.#open.some(({ isOverloaded }) => isOverloaded);
  }

  /** Drops what was opened: nothing can be asked of the server any more. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.drop();
  }

  /** Opens something, which is dropped in the end. @throws CheckGivenUp when this is closed. */
  protected opened<Opened extends Wire>(open: (count: number) => Opened): Opened {
    if (this.#isClosed) throw new CheckGivenUp();
    const opened = open(this.#open.length + 1);
    this.#open.push(opened);
    return opened;
  }
}
