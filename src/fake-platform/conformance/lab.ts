// What a check works with: connections and calls of its own, what is known of the server, and the words by which it ends.
// Closes what a check leaves open. Knows no rule.
import { status } from '@grpc/grpc-js';
import type { ListedAgent } from '../grpc-line.ts';
import type { Suspect } from './suspect.ts';
import { CheckOutcome } from './verdict.ts';
import { ExchangeLog } from './exchange.ts';
import { ProbeCall, plainSpeech, type ProbeIds, type SpokenForm, type TurnRecord } from './probe-call.ts';
import type { CallRecord, Survey } from './survey.ts';
import { WireConnection, statusName, type Ending } from './wire.ts';

/** The surroundings of one check. */
export class CheckLab {
  readonly suspect: Suspect;
  readonly log: ExchangeLog;
  readonly #survey: Survey;
  readonly #open: WireConnection[] = [];
  #shown: readonly ExchangeLog[] | undefined;

  constructor(suspect: Suspect, survey: Survey) {
    this.suspect = suspect;
    this.#survey = survey;
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

  /** A remark in the exchange. */
  note(text: string): void {
    this.log.add('suite', '', text);
  }

  /** What proves the verdict is the exchange of a call that was placed for several checks. */
  showCalls(calls: readonly CallRecord[]): void {
    this.#shown = calls.map(({ log }) => log);
  }

  /** The exchanges that prove the verdict. */
  get proof(): readonly ExchangeLog[] {
    return this.#shown ?? [this.log];
  }

  /** A connection with the good token, or with this authorization; null sends none. */
  connect(authorization: string | null | undefined = this.suspect.token): WireConnection {
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
    if (!(await this.#survey.calls()).some(({ turns }) => turns.length > 1)) this.skip('no RPC after a welcome is taken');
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
    const heard = (await this.#survey.calls()).find(({ name }) => name === 'speech')?.turns.find(({ kind }) => kind === 'speech');
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
    return this.#survey.calls();
  }

  /** Calls to every listed agent, up to their welcomes. */
  welcomes(): Promise<readonly CallRecord[]> {
    return this.#survey.welcomes();
  }

  /** Closes what the check has opened. */
  close(): void {
    for (const connection of this.#open) connection.close();
  }
}

/** Whether an RPC ended as refused for its token, whatever the code was. */
export function isRefused(ending: Ending | undefined): boolean {
  return ending !== undefined && ending.code !== status.OK && ending.code !== status.DEADLINE_EXCEEDED;
}
