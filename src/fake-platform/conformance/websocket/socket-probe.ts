// Calls on sockets, as checks use them. Knows no rule.
import type { JsonObject } from '../../../base/json.ts';
import { failureOfClose, failureOfUpgrade } from '../../lines/socket/socket-failure.ts';
import type { Failure } from '../../lines/failure.ts';
import type { ListedAgent } from '../../lines/line.ts';
import type { ProbeIds } from '../call.ts';
import type { Lab } from '../lab.ts';
import { Probe, type Presented, type PresentedCall } from '../probe.ts';
import type { RecordedCall, Acts } from '../survey.ts';
import { errorsIn, type Message, objectsOf } from './message.ts';
import { ProbeSocket, type SocketOptions } from './probe-socket.ts';
import { SocketCall, type SocketTurn, eventOf } from './socket-call.ts';

/** How long a server may take to close a socket after a hang-up, ms (W-28). */
export const HANG_UP_MS = 9000;

export const SOCKET_ACTS: Acts<SocketCall> = { 'hang-up': hangUpAndWait };

/** Hangs up after the welcome, and waits until the server closes. */
async function hangUpAndWait(call: SocketCall): Promise<void> {
  const welcome = await call.begin();
  if (welcome.final === undefined) return;
  await call.heardOut(welcome);
  call.open('session_end', eventOf('SESSION_END'));
  await call.socket.until(() => call.socket.isOver, HANG_UP_MS);
  await call.close();
}

/** How long a server may take to close a socket after it has sent its list, ms (W-51). */
const CLOSE_MS = 3000;

/** Asks for the agents, waits until the server closes or takes too long, and closes. */
async function askForAgents(
  socket: ProbeSocket,
  organizationId: string,
  limitMs: number,
  more: JsonObject = {},
): Promise<readonly Message[]> {
  await socket.upgraded();
  const question = { customer_org_id: organizationId, is_default_virtual_agent_enabled: true, ...more };
  socket.sendText(JSON.stringify(question), 'the question for the agents');
  await socket.until(() => socket.isOver || socket.received.length > 0, limitMs);
  if (socket.received.length > 0) await socket.until(() => socket.isOver, Math.min(CLOSE_MS, limitMs));
  await socket.close();
  return socket.received;
}

/** The list in these messages; undefined when there is none. Accepts also a list in an envelope, and the field names of gRPC. */
export function listIn(messages: readonly Message[]): readonly JsonObject[] | undefined {
  for (const { json } of messages) {
    const payload = json?.['payload'];
    const body = typeof payload === 'object' && payload !== null && 'virtual_agents' in payload ? payload : json;
    if (body !== undefined && 'virtual_agents' in body) return objectsOf(body['virtual_agents']);
  }
  return undefined;
}

/** The agents in these messages. The wire does not say which of them is the default (W-52). */
export function agentsIn(messages: readonly Message[]): readonly ListedAgent[] {
  return (listIn(messages) ?? []).flatMap((agent) => {
    const id = agent['id'] ?? agent['virtual_agent_id'];
    const name = agent['name'] ?? agent['virtual_agent_name'];
    return typeof id === 'string' ? [{ id, name: typeof name === 'string' ? name : '', isDefault: false }] : [];
  });
}

/** The tools of a check that is for sockets only. */
export type SocketLab = Lab<SocketTurn, SocketCall, SocketProbe>;
/** A recorded call on a socket that several checks share. */
export type SocketRecord = RecordedCall<SocketTurn, SocketCall>;

/** HTTP statuses with which servers reject a token. */
const DENIED: readonly number[] = [401, 403];

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

  /** A socket with this authorization header, by default with the good token; null sends none. @throws CheckGivenUp. */
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

  /** Asks for the agents; by default with the good token. */
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

  /** Why a call was not answered. */
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
  // Includes a close because the first message names another organization (W-22).
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
