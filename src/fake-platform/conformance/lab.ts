// What a check of a server of RPCs works with: connections and calls of its own. Closes what a check leaves open. Knows no rule.
import { status } from '@grpc/grpc-js';
import type { ListedAgent } from '../lines/line.ts';
import { statusName } from '../lines/status-name.ts';
import { authorizationOf } from './suspect.ts';
import { BaseLab, type Presented } from './base-lab.ts';
import { ConnectionClosed, WireConnection } from './connection.ts';
import type { ProbeIds } from './call.ts';
import { endingText, plainSpeech, RpcCall, type SpokenForm, type TurnRecord } from './rpc-call.ts';
import type { CallRecord } from './rpc-survey.ts';
import type { Ending } from './wire.ts';

/** How a server refuses a token, and how it may refuse one that is good for another organization. */
const [REFUSED, FORBIDDEN]: readonly [readonly number[], readonly number[]] = [
  [status.UNAUTHENTICATED],
  [status.UNAUTHENTICATED, status.PERMISSION_DENIED],
];
/** What is no error of the server: its OK, and by what our own library ends an RPC. */
const NO_ERROR: readonly status[] = [status.OK, status.DEADLINE_EXCEEDED, status.CANCELLED];

/** The surroundings of one check of a server of RPCs. */
export class CheckLab extends BaseLab<TurnRecord, RpcCall, CallRecord, WireConnection> {
  readonly refusal = 'UNAUTHENTICATED';

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
    if (isTaken) await call.hangUp();
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
    this.open.push(connection);
    return connection;
  }

  /** A call on a connection of its own, or on this one. */
  call(ids: Partial<ProbeIds> = {}, connection: WireConnection = this.connect()): RpcCall {
    const { organizationId, agentId } = this.suspect;
    return new RpcCall(connection, this.suspect, this.log, { organizationId, agentId, ...ids });
  }

  /** Demands that calls are known after their first RPC; the check does not apply otherwise (G-12). */
  override async demandKnown(): Promise<void> {
    if (!(await this.calls()).some(({ turns }) => turns.length > 1)) this.skip('no RPC after a welcome is taken');
  }

  /** Speech as the platform sends it. The check needs `speech`. */
  get spoken(): SpokenForm {
    return plainSpeech(this.speech);
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
