// What a check of a server of RPCs works with: connections and calls of its own. Closes what a check leaves open. Knows no rule.
import { status } from '@grpc/grpc-js';
import type { ListedAgent } from '../lines/line.ts';
import { statusName } from '../lines/status-name.ts';
import { authorizationOf, type Suspect } from './suspect.ts';
import { BaseLab, type Presented } from './base-lab.ts';
import { ConnectionClosed, WireConnection } from './connection.ts';
import type { Slots } from './slots.ts';
import { endingText, ProbeCall, plainSpeech, type ProbeIds, type SpokenForm, type TurnRecord } from './probe-call.ts';
import type { CallRecord, Survey } from './survey.ts';
import type { Ending } from './wire.ts';

/** How a server refuses a token, and how it may refuse one that is good for another organization. */
const [REFUSED, FORBIDDEN]: readonly [readonly number[], readonly number[]] = [
  [status.UNAUTHENTICATED],
  [status.UNAUTHENTICATED, status.PERMISSION_DENIED],
];
/** What is no error of the server: its OK, and by what our own library ends an RPC. */
const NO_ERROR: readonly status[] = [status.OK, status.DEADLINE_EXCEEDED, status.CANCELLED];

/** The surroundings of one check of a server of RPCs. */
export class CheckLab extends BaseLab<CallRecord> {
  readonly refusal = 'UNAUTHENTICATED';
  readonly #survey: Survey;
  readonly #open: WireConnection[] = [];

  /** @param slots - as of {@link BaseLab}. */
  constructor(suspect: Suspect, survey: Survey, slots: Slots) {
    super(suspect, slots);
    this.#survey = survey;
  }

  get otherSchemaId(): string {
    return this.suspect.profile.schemas.websocket;
  }

  authorization(token: string): string {
    return authorizationOf({ ...this.suspect, token }) ?? token;
  }

  async present(authorization: string | null, organizationId = this.suspect.organizationId): Promise<Presented> {
    const call = this.call({ organizationId }, this.connect(authorization));
    const { rpc } = await call.begin();
    const isTaken = rpc.answers.length > 0 || rpc.isCompleted;
    if (isTaken) await call.end();
    return presented(isTaken, rpc.ending, rpc.answers.length > 0);
  }

  async presentToList(authorization: string | null, organizationId = this.suspect.organizationId): Promise<Presented> {
    const list = await this.connect(authorization).list(organizationId, this.suspect.timing.answerMs, this.log);
    return 'code' in list ? presented(false, list, false) : presented(true, undefined, true);
  }

  /**
   * A connection with the good token, or with this authorization; null sends none.
   *
   * @throws ConnectionClosed when the check was given up.
   */
  connect(authorization: string | null | undefined = authorizationOf(this.suspect)): WireConnection {
    if (this.isClosed) throw new ConnectionClosed('the check was given up');
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

  /** Demands that the keys of the profile are answered by a call that nothing happened to; the check does not apply otherwise. */
  async demandKeysWork(): Promise<void> {
    const turn = (await this.calls()).find(({ name }) => name === 'keys')?.turns.find(({ kind }) => kind === 'dtmf');
    if (turn?.rpc.final === undefined) this.skip('the keys of this run are not answered in an ordinary call: name others with --press');
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
    return this.lent(() => this.#survey.calls());
  }

  /** Calls to every listed agent, up to their welcomes. */
  welcomes(): Promise<readonly CallRecord[]> {
    return this.lent(() => this.#survey.welcomes());
  }

  protected get isOwnOverloaded(): boolean {
    return this.#open.some(({ isOverloaded }) => isOverloaded);
  }

  protected closeOwn(): void {
    for (const connection of this.#open) connection.close();
  }
}

function presented(isTaken: boolean, ending: Ending | undefined, isAnswered: boolean): Presented {
  return {
    isTaken,
    isRefused: ending !== undefined && REFUSED.includes(ending.code),
    isForbidden: ending !== undefined && FORBIDDEN.includes(ending.code),
    isError: !isTaken && ending !== undefined && !NO_ERROR.includes(ending.code),
    how: isAnswered ? 'got a response' : endingText(ending),
    words: ending?.details ?? '',
  };
}
