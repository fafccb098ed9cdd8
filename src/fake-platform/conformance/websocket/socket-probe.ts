// Calls on sockets, as checks use them. Knows no rule.
import type { JsonObject } from '../../../base/json.ts';
import { failureOfClose, failureOfUpgrade } from '../../lines/socket/socket-failure.ts';
import type { Failure } from '../../lines/failure.ts';
import type { ListedAgent } from '../../lines/line.ts';
import type { ProbeIds } from '../call.ts';
import type { Lab } from '../lab.ts';
import { Probe, type Presented, type PresentedCall } from '../probe.ts';
import type { RecordedCall } from '../survey.ts';
import { agentsIn, askForAgents, listIn } from './list-question.ts';
import { errorsIn, type Message } from './message.ts';
import { ProbeSocket, type SocketOptions } from './probe-socket.ts';
import { SocketCall, type SocketTurn } from './socket-call.ts';

/** What a check for sockets alone works with. */
export type SocketLab = Lab<SocketTurn, SocketCall, SocketProbe>;
/** A recorded call on a socket that several checks share. */
export type SocketRecord = RecordedCall<SocketTurn, SocketCall>;

/** Statuses that reject a token, or may reject one that is good for another organization. */
const DENIED: readonly number[] = [401, 403];

/** Calls on sockets. */
export class SocketProbe extends Probe<SocketTurn, SocketCall, ProbeSocket> {
  readonly refusal = 'HTTP 401 before the upgrade';
  readonly mayEndWithWelcome = false;

  get otherSchemaId(): string {
    return this.suspect.profile.schemas.grpc;
  }

  /** The token after `Bearer` (W-05). */
  authorization(token: string): string {
    return `Bearer ${token}`;
  }

  /** A socket with the good token, or with this header; null sends none. @throws CheckGivenUp. */
  connect(
    channel: SocketOptions['channel'] = 'voice',
    authorization: string | null | undefined = this.goodAuthorization,
    isCompressing = false,
  ): ProbeSocket {
    const { suspect } = this;
    const options = {
      ...{ ...suspect, channel, isCompressing },
      ...{ authorization: authorization ?? undefined, handshakeMs: suspect.timing.answerMs },
    };
    return this.opened((count) => new ProbeSocket(`WS${String(count)}`, options, this.log));
  }

  call(ids: Partial<ProbeIds> = {}, socket: ProbeSocket = this.connect()): SocketCall {
    const { organizationId, agentId } = this.suspect;
    return new SocketCall(socket, this.suspect, { organizationId, agentId, ...ids });
  }

  /** Asks for the agents, by default with the good token. */
  async list(
    organizationId = this.suspect.organizationId,
    authorization: string | null | undefined = this.goodAuthorization,
    more: JsonObject = {},
  ): Promise<{ readonly socket: ProbeSocket; readonly messages: readonly Message[] }> {
    const socket = this.connect('list', authorization);
    return { socket, messages: await askForAgents(socket, organizationId, this.suspect.timing.answerMs, more) };
  }

  async agents(): Promise<readonly ListedAgent[] | string> {
    const { messages } = await this.list();
    return listIn(messages) === undefined ? 'the server did not list its agents' : agentsIn(messages);
  }

  async present(authorization: string | null, organizationId = this.suspect.organizationId): Promise<PresentedCall> {
    const call = this.call({ organizationId }, this.connect('voice', authorization));
    const { answers, messages, final } = await call.begin();
    const isTaken = answers.length > 0;
    const { socket } = call;
    const found = {
      ...presented(socket, isTaken),
      hasFinal: final !== undefined,
      whyNot: whyNot(socket, isTaken, authorization !== null),
      failure: this.#failure(socket),
    };
    if (messages.length > 0) await call.hangUp();
    else await socket.close();
    return found;
  }

  async presentToList(authorization: string | null, organizationId = this.suspect.organizationId): Promise<Presented> {
    const { socket, messages } = await this.list(organizationId, authorization);
    return presented(socket, listIn(messages) !== undefined);
  }

  /** How a call was not answered. */
  #failure({ handshake, closing }: ProbeSocket): Failure {
    if (handshake?.kind === 'failed') return handshake.failure;
    if (handshake?.kind === 'refused') return failureOfUpgrade(handshake.status);
    if (closing !== undefined) return failureOfClose(closing.code, '');
    return { code: 'no_answer', message: `the server did not answer within ${String(this.suspect.timing.answerMs)} ms` };
  }
}

function presented(socket: ProbeSocket, isTaken: boolean): Presented {
  const { handshake, received, closing } = socket;
  const code = handshake?.kind === 'refused' ? handshake.status : undefined;
  const isDenied = code !== undefined && DENIED.includes(code);
  // Also a close because the first message names another organization (W-22).
  const isClosedAsForeign = !isTaken && (closing?.code === 1008 || errorsIn(received).some((error) => error['code'] === 'unauthorized'));
  return {
    ...{ isTaken, isDenied },
    isRefused: code === 401,
    isForbidden: isDenied || isClosedAsForeign,
    isError: code !== undefined,
    how: isTaken ? 'got an answer' : socket.stateText,
    words: handshake?.kind === 'refused' ? handshake.words : '',
    isNobody: handshake?.kind === 'failed',
  };
}

function whyNot({ handshake, closing }: ProbeSocket, isAnswered: boolean, hasToken: boolean): string {
  if (handshake?.kind === 'refused' && DENIED.includes(handshake.status))
    return hasToken ? 'the server refuses the token that was given' : 'the server wants a token, and none was given';
  if (handshake?.kind === 'refused') return `the upgrade was answered with HTTP ${String(handshake.status)}`;
  if (handshake?.kind === 'failed') return handshake.failure.message;
  const closed = closing === undefined ? '' : ` and the socket was closed with ${String(closing.code)}`;
  return isAnswered ? `SESSION_START got no FINAL${closed}` : `SESSION_START was not answered${closed}`;
}
