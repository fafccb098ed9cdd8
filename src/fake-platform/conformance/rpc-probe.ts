// Calls over RPCs, as checks use them. Knows no rule.
import { status } from '@grpc/grpc-js';
import { failureOf, statusName, type Failure } from '../lines/failure.ts';
import type { ListedAgent } from '../lines/line.ts';
import type { ProbeIds } from './call.ts';
import { WireConnection } from './connection.ts';
import { quoted } from './exchange.ts';
import type { Lab } from './lab.ts';
import { Probe, type Presented, type PresentedCall } from './probe.ts';
import { endingText, RpcCall, type RpcTurn } from './rpc-call.ts';
import type { RecordedCall } from './survey.ts';
import type { Ending } from './wire.ts';

/** The tools of a check that is for RPCs only. */
export type RpcLab = Lab<RpcTurn, RpcCall, RpcProbe>;
/** A recorded call over RPCs that several checks share. */
export type RpcRecord = RecordedCall<RpcTurn, RpcCall>;

/** Statuses with which a server may reject a token of another organization. */
const FORBIDDEN: readonly number[] = [status.UNAUTHENTICATED, status.PERMISSION_DENIED];
/** Statuses that are no error of the server: OK, and those with which our own library ends an RPC. */
const NO_ERROR: readonly status[] = [status.OK, status.DEADLINE_EXCEEDED, status.CANCELLED];
/** Codes of failures that show that no server listens: the first list in any case, the second only without a connection. */
const [DUMB, UNCONNECTED]: readonly [readonly string[], readonly string[]] = [
  ['garbage', 'no_answer'],
  ['refused', 'host_unknown', 'connect_timeout', 'tls_failed', 'closed_early'],
];

export class RpcProbe extends Probe<RpcTurn, RpcCall, WireConnection> {
  readonly refusal = 'UNAUTHENTICATED';
  readonly mayEndWithWelcome = true;

  get otherSchemaId(): string {
    return this.suspect.profile.schemas.websocket;
  }

  /** The token alone, or after `Bearer` if the run asks for it (G-03). */
  authorization(token: string): string {
    return this.suspect.isBearer === true ? `Bearer ${token}` : token;
  }

  /** A connection with this authorization, by default with the good token; null sends none. @throws CheckGivenUp. */
  connect(authorization: string | null | undefined = this.goodAuthorization): WireConnection {
    return this.opened(() => new WireConnection({ ...this.suspect, authorization: authorization ?? undefined }));
  }

  call(ids: Partial<ProbeIds> = {}, connection: WireConnection = this.connect()): RpcCall {
    const { organizationId, agentId } = this.suspect;
    return new RpcCall(connection, this.suspect, this.log, { organizationId, agentId, ...ids });
  }

  async present(authorization: string | null, organizationId = this.suspect.organizationId): Promise<PresentedCall> {
    const connection = this.connect(authorization);
    const call = this.call({ organizationId }, connection);
    const { rpc } = await call.begin();
    const isAnswered = rpc.answers.length > 0;
    const isTaken = isAnswered || rpc.isCompleted;
    if (isAnswered) await call.hangUp();
    return {
      ...this.#presented(connection, isTaken, rpc.ending),
      ...(isAnswered ? { how: 'got a response' } : {}),
      hasFinal: rpc.final !== undefined,
      whyNot: whyNot(rpc.ending, isTaken, authorization !== null),
      failure: this.#failure(rpc.ending),
    };
  }

  async presentToList(authorization: string | null, organizationId = this.suspect.organizationId): Promise<Presented> {
    const connection = this.connect(authorization);
    const list = await connection.list(organizationId, this.suspect.timing.answerMs, this.log);
    const isRefused = 'code' in list;
    return { ...this.#presented(connection, !isRefused, isRefused ? list : undefined), ...(isRefused ? {} : { how: 'got a response' }) };
  }

  async agents(): Promise<readonly ListedAgent[] | string> {
    const { organizationId, timing } = this.suspect;
    const answer = await this.connect().list(organizationId, timing.answerMs, this.log);
    if ('code' in answer) return `the server did not list its agents: ${statusName(answer.code)}`;
    return (answer.virtual_agents ?? []).map((agent) => ({
      id: agent.virtual_agent_id ?? '',
      name: agent.virtual_agent_name ?? '',
      isDefault: agent.is_default ?? false,
    }));
  }

  #presented(connection: WireConnection, isTaken: boolean, ending: Ending | undefined): Presented {
    const isRefused = ending?.code === status.UNAUTHENTICATED;
    const { code } = this.#failure(ending);
    return {
      ...{ isTaken, isRefused, isDenied: isRefused },
      isForbidden: ending !== undefined && FORBIDDEN.includes(ending.code),
      isError: !isTaken && ending !== undefined && !NO_ERROR.includes(ending.code),
      how: endingText(ending),
      words: ending?.details ?? '',
      isNobody: !isTaken && (DUMB.includes(code) || (UNCONNECTED.includes(code) && !connection.isConnected)),
    };
  }

  /** Why an RPC was not answered, in words. An RPC without an end timed out. */
  #failure(ending: Ending | undefined): Failure {
    return ending === undefined || ending.code === status.DEADLINE_EXCEEDED
      ? { code: 'no_answer', message: `the server did not answer within ${String(this.suspect.timing.answerMs)} ms` }
      : failureOf(ending);
  }
}

function whyNot(ending: Ending | undefined, isAnswered: boolean, hasToken: boolean): string {
  if (ending?.code === status.UNAUTHENTICATED)
    return hasToken
      ? `the server refuses the token that was given: ${quoted(ending.details)}`
      : 'the server wants a token, and none was given';
  const how =
    ending === undefined || ending.code === status.OK ? '' : ` and ended with ${statusName(ending.code)} ${quoted(ending.details)}`;
  return isAnswered ? `SESSION_START got no FINAL${how}` : `SESSION_START was not answered${how}`;
}
