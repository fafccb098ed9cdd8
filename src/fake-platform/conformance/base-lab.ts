// What a check works with whatever carries the calls: what is known of the server, the words by which it ends, the calls that
// were placed for several checks, and tokens that are presented. Knows no wire and no rule.
import { pause } from '../../base/abort.ts';
import type { ProbeCall, ProbeIds, ProbeTurn } from './call.ts';
import { ExchangeLog, type Proof } from './exchange.ts';
import type { Slots } from './slots.ts';
import type { RecordedCall, Survey } from './survey.ts';
import type { Suspect } from './suspect.ts';
import { CheckOutcome } from './verdict.ts';

/** What became of a call or a question with a token. */
export interface Presented {
  /** The server answered: the token was let in. */
  readonly isTaken: boolean;
  /** It was refused as a token is: by UNAUTHENTICATED, by 401 before the upgrade. */
  readonly isRefused: boolean;
  /** It was refused so, or as a token may be that is good for another organization. */
  readonly isForbidden: boolean;
  /** The server ended it by any error, and answered nothing. */
  readonly isError: boolean;
  /** What became of it, for a sentence that begins with its name: `ended with UNAVAILABLE`. */
  readonly how: string;
  /** What the server said when it refused. */
  readonly words: string;
}

/** What a check opens on the wire. */
export interface Connection {
  /** Whether the server said that it has no room. */
  readonly isOverloaded: boolean;
  drop(): void;
}

/** A call that has begun. */
export interface Begun<Call, Turn> {
  readonly call: Call;
  readonly welcome: Turn;
}

/** The surroundings of one check. `Recorded` is how a call that was placed for several of them is recorded. */
export abstract class BaseLab<
  Turn extends ProbeTurn = ProbeTurn,
  Call extends ProbeCall<Turn> = ProbeCall<Turn>,
  Recorded extends RecordedCall<Turn> = RecordedCall<Turn>,
  Wire extends Connection = Connection,
> {
  readonly suspect: Suspect;
  readonly log: ExchangeLog;
  protected readonly open: Wire[] = [];
  readonly #survey: Pick<Survey<Turn, Call, Recorded>, 'calls' | 'welcomes'>;
  readonly #slots: Slots;
  #shown: readonly Proof[] | undefined;
  #isClosed = false;
  /** Since when it waits for calls of the survey, ms, and how long it has waited for others before. */
  #lentFromMs: number | undefined;
  #lentMs = 0;

  /** @param slots - of which the check holds one, and which it lends to the survey while it waits for that. */
  constructor(suspect: Suspect, survey: Pick<Survey<Turn, Call, Recorded>, 'calls' | 'welcomes'>, slots: Slots) {
    this.suspect = suspect;
    this.#survey = survey;
    this.#slots = slots;
    this.log = new ExchangeLog(suspect.clock);
  }

  /** How a token is refused here, for sentences. */
  abstract readonly refusal: string;
  /** The schema of the other transport, whose tokens are refused here (J-2E). */
  abstract readonly otherSchemaId: string;
  /** A call on a connection of its own, or on this one. */
  abstract call(ids?: Partial<ProbeIds>, connection?: Wire): Call;
  /** Begins a call with this header; null sends none. */
  abstract present(authorization: string | null, organizationId?: string): Promise<Presented>;
  /** Asks for the agents with this header; null sends none. */
  abstract presentToList(authorization: string | null, organizationId?: string): Promise<Presented>;
  /** The header that presents a token. */
  abstract authorization(token: string): string;
  /** Demands what must hold before a call can go on behind its welcome; the check does not apply otherwise. */
  async demandKnown(): Promise<void> {
    // A transport may have nothing to demand.
  }

  /** A call that has begun; the check does not apply when it cannot. */
  async begun(ids: Partial<ProbeIds> = {}, connection?: Wire): Promise<Begun<Call, Turn>> {
    const call = this.call(ids, connection);
    const welcome = await call.begin();
    if (welcome.final === undefined) this.skip('the call did not begin with a welcome and its FINAL');
    return { call, welcome };
  }

  /** A call that has begun and whose welcome has been heard. */
  async ready(ids: Partial<ProbeIds> = {}): Promise<Call> {
    await this.demandKnown();
    const { call, welcome } = await this.begun(ids);
    await call.heardOut(welcome);
    return call;
  }

  /** Demands that the keys of the profile are answered by a call that nothing happened to; the check does not apply otherwise. */
  async demandKeysWork(): Promise<void> {
    if ((await this.#firstOf('keys', 'dtmf'))?.isAnswered !== true)
      this.skip('the keys of this run are not answered in an ordinary call: name others with --press');
  }

  /** Demands that plain speech is heard by this bot; the check does not apply otherwise. */
  async demandHeard(): Promise<void> {
    const heard = await this.#firstOf('speech', 'speech');
    if (heard?.answers.some(({ answer }) => answer.event?.kind === 'start_of_input') !== true)
      this.skip('this bot reported no start of speech when it was spoken to in the plain form');
  }

  /** The calls that every check may look at. */
  calls(): Promise<readonly Recorded[]> {
    return this.lent(() => this.#survey.calls());
  }

  /** Calls to every listed agent, up to their welcomes. */
  welcomes(): Promise<readonly Recorded[]> {
    return this.lent(() => this.#survey.welcomes());
  }

  /** The check has found a breach. */
  fail(reason: string): never {
    throw new CheckOutcome('fail', reason);
  }

  /** There is nothing to be found out here. */
  skip(reason: string): never {
    throw new CheckOutcome('not_applicable', reason);
  }

  /** The check applies, and what came back says nothing of the server. */
  giveUp(reason: string): never {
    throw new CheckOutcome('undecided', reason);
  }

  /** A remark in the exchange. */
  note(text: string): void {
    this.log.add('suite', '', text);
  }

  /** Waits, ms of real time. */
  async wait(ms: number): Promise<void> {
    await pause(ms, this.suspect.clock);
  }

  /** What proves the verdict is the exchange of a call that was placed for several checks. */
  showCalls(calls: readonly Proof[]): void {
    this.#shown = calls;
  }

  /** The exchanges that prove the verdict. */
  get proof(): readonly ExchangeLog[] {
    return this.#shown?.map(({ log }) => log) ?? [this.log];
  }

  /** Whether the server said on what proves the verdict that it has no room. */
  get isOverloaded(): boolean {
    return this.open.some(({ isOverloaded }) => isOverloaded) || (this.#shown ?? []).some(({ isOverloaded }) => isOverloaded);
  }

  /** How long the check has waited for the calls of the survey so far, ms: no time of its own. */
  get lentMs(): number {
    return this.#lentMs + (this.#lentFromMs === undefined ? 0 : this.suspect.clock.monotonicMs() - this.#lentFromMs);
  }

  /** Whether the check is over or was given up. */
  protected get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What the caller says. The check needs `speech`. */
  get speech(): Uint8Array {
    return this.suspect.speech ?? this.skip('the caller has no voice');
  }

  /** Closes what the check has opened and gives its slot back: the check can ask nothing of the server any more. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.open) connection.drop();
    if (this.#lentFromMs === undefined) this.#slots.give();
  }

  /** Waits for calls of the survey. Does not hold its slot meanwhile: they need some. */
  protected async lent<Result>(work: () => Promise<Result>): Promise<Result> {
    const { clock } = this.suspect;
    this.#lentFromMs = clock.monotonicMs();
    this.#slots.give();
    const result = await work().finally(async () => {
      await this.#slots.take();
      // Nobody gives it back for a check that was given up.
      if (this.#isClosed) this.#slots.give();
    });
    this.#lentMs = this.lentMs;
    this.#lentFromMs = undefined;
    return result;
  }

  async #firstOf(name: string, kind: ProbeTurn['kind']): Promise<Turn | undefined> {
    return (await this.calls()).find((call) => call.name === name)?.turns.find((turn) => turn.kind === kind);
  }
}
