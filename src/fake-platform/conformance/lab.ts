// What a check works with: connections and calls of its own, what is known of the server, and the words by which it ends.
// Closes what a check leaves open. Knows no rule.
import type { ListedAgent } from '../grpc-line.ts';
import { statusName } from '../status-name.ts';
import { authorizationOf, type Suspect } from './suspect.ts';
import { CheckOutcome } from './verdict.ts';
import { ConnectionClosed, WireConnection } from './connection.ts';
import { ExchangeLog } from './exchange.ts';
import type { Slots } from './slots.ts';
import { ProbeCall, plainSpeech, type ProbeIds, type SpokenForm, type TurnRecord } from './probe-call.ts';
import type { CallRecord, Survey } from './survey.ts';
import type { Ending } from './wire.ts';

/** The surroundings of one check. */
export class CheckLab {
  readonly suspect: Suspect;
  readonly log: ExchangeLog;
  readonly #survey: Survey;
  readonly #slots: Slots;
  readonly #open: WireConnection[] = [];
  #shown: readonly CallRecord[] | undefined;
  #isClosed = false;
  /** Since when it waits for calls of the survey, ms, and how long it has waited for others before. */
  #lentFromMs: number | undefined;
  #lentMs = 0;

  /** @param slots - of which the check holds one, and which it lends to the survey while it waits for that. */
  constructor(suspect: Suspect, survey: Survey, slots: Slots) {
    this.suspect = suspect;
    this.#survey = survey;
    this.#slots = slots;
    this.log = new ExchangeLog(suspect.clock);
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

  /** What proves the verdict is the exchange of a call that was placed for several checks. */
  showCalls(calls: readonly CallRecord[]): void {
    this.#shown = calls;
  }

  /** The exchanges that prove the verdict. */
  get proof(): readonly ExchangeLog[] {
    return this.#shown?.map(({ log }) => log) ?? [this.log];
  }

  /** Whether the server said on what proves the verdict that it has no room. */
  get isOverloaded(): boolean {
    return [...this.#open, ...(this.#shown ?? [])].some(({ isOverloaded }) => isOverloaded);
  }

  /** How long the check has waited for the calls of the survey so far, ms: no time of its own. */
  get lentMs(): number {
    return this.#lentMs + (this.#lentFromMs === undefined ? 0 : this.suspect.clock.monotonicMs() - this.#lentFromMs);
  }

  /**
   * A connection with the good token, or with this authorization; null sends none.
   *
   * @throws ConnectionClosed when the check was given up.
   */
  connect(authorization: string | null | undefined = authorizationOf(this.suspect)): WireConnection {
    if (this.#isClosed) throw new ConnectionClosed('the check was given up');
    const connection = new WireConnection({ ...this.suspect, authorization: authorization ?? undefined });
    this.#open.push(connection);
    return connection;
  }

  /** A call on a connection of its own, or on this one. */
  call(ids: Partial<ProbeIds> = {}, connection: WireConnection = this.connect()): ProbeCall {
    const { clock, timing, organizationId, agentId } = this.suspect;
    return new ProbeCall(connection, clock, this.log, timing, { organizationId, agentId, ...ids });
  }

  /** A call that has begun; the check does not apply when it cannot. */
  async begun(
    ids: Partial<ProbeIds> = {},
    connection?: WireConnection,
  ): Promise<{ readonly call: ProbeCall; readonly welcome: TurnRecord }> {
    const call = this.call(ids, connection);
    const welcome = await call.begin();
    if (welcome.rpc.final === undefined) this.skip('the call did not begin with a welcome and its FINAL');
    return { call, welcome };
  }

  /** Demands that calls are known after their first RPC; the check does not apply otherwise (G-12). */
  async demandKnown(): Promise<void> {
    if (!(await this.calls()).some(({ turns }) => turns.length > 1)) this.skip('no RPC after a welcome is taken');
  }

  /** A call that has begun and whose welcome has been heard. */
  async ready(ids: Partial<ProbeIds> = {}): Promise<ProbeCall> {
    await this.demandKnown();
    const { call, welcome } = await this.begun(ids);
    await call.heardOut(welcome);
    return call;
  }

  /** What the caller says. The check needs `speech`. */
  get speech(): Uint8Array {
    return this.suspect.speech ?? this.skip('the caller has no voice');
  }

  /** Speech as the platform sends it. The check needs `speech`. */
  get spoken(): SpokenForm {
    return plainSpeech(this.speech);
  }

  /** Demands that plain speech is heard by this bot; the check does not apply otherwise. */
  async demandHeard(): Promise<void> {
    const heard = (await this.calls()).find(({ name }) => name === 'speech')?.turns.find(({ kind }) => kind === 'speech');
    if (heard?.rpc.answers.some(({ event }) => event?.kind === 'start_of_input') !== true)
      this.skip('this bot reported no start of speech when it was spoken to in the plain form');
  }

  /** The agents that the server offers; the check does not apply when it cannot say. */
  async agents(): Promise<readonly ListedAgent[]> {
    const { organizationId, timing } = this.suspect;
    const answer = await this.connect().list(organizationId, timing.answerMs, this.log);
    if ('code' in answer) return this.skip(`the server did not list its agents: ${statusName(answer.code)}`);
    return (answer.virtual_agents ?? []).map((agent) => ({
      id: agent.virtual_agent_id ?? '',
      name: agent.virtual_agent_name ?? '',
      isDefault: agent.is_default ?? false,
    }));
  }

  /** The calls that every check may look at. */
  calls(): Promise<readonly CallRecord[]> {
    return this.#lent(() => this.#survey.calls());
  }

  /** Calls to every listed agent, up to their welcomes. */
  welcomes(): Promise<readonly CallRecord[]> {
    return this.#lent(() => this.#survey.welcomes());
  }

  /** Closes what the check has opened and gives its slot back: the check can ask nothing of the server any more. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.close();
    if (this.#lentFromMs === undefined) this.#slots.give();
  }

  /** Does not hold its slot meanwhile: the calls of the survey need some. */
  async #lent<Result>(work: () => Promise<Result>): Promise<Result> {
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
}

/** How an RPC ended, in words. */
export function endingText(ending: Ending | undefined): string {
  return ending === undefined ? 'was left open' : `ended with ${statusName(ending.code)}`;
}
