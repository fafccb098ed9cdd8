// What a check of a server of sockets works with: sockets and calls of its own. Closes what a check leaves open. Knows no rule.
import type { JsonObject } from '../../../base/json.ts';
import { BaseLab, type Presented } from '../base-lab.ts';
import type { ProbeIds } from '../call.ts';
import type { Slots } from '../slots.ts';
import type { Suspect } from '../suspect.ts';
import { agentsIn, askForAgents, listIn } from './list-question.ts';
import { errorsIn, type Message } from './message.ts';
import { ProbeSocket, type SocketOptions } from './probe-socket.ts';
import { SocketCall, type SocketTurn } from './socket-call.ts';
import { bearer, socketOptionsOf, type MisdeedRecord, type SocketRecord, type SocketSurvey } from './socket-survey.ts';

/** Something was asked of a check that was given up: it stops by this. */
class CheckGivenUp extends Error {
  override readonly name = 'CheckGivenUp';
}

/** How a token is refused, and how it may be where it is good for another organization. */
const [REFUSED, FORBIDDEN]: readonly [readonly number[], readonly number[]] = [[401], [401, 403]];

/** The surroundings of one check of a server of sockets. */
export class SocketLab extends BaseLab<SocketTurn, SocketCall, SocketRecord, ProbeSocket> {
  readonly refusal = 'HTTP 401 before the upgrade';
  readonly #survey: SocketSurvey;

  /** @param slots - as of {@link BaseLab}. */
  constructor(suspect: Suspect, survey: SocketSurvey, slots: Slots) {
    super(suspect, survey, slots);
    this.#survey = survey;
  }

  get otherSchemaId(): string {
    return this.suspect.profile.schemas.grpc;
  }

  authorization(token: string): string {
    return bearer(token) ?? token;
  }

  /**
   * A socket with the good token, or with this header; null sends none.
   *
   * @throws CheckGivenUp when the check was given up.
   */
  connect(
    channel: SocketOptions['channel'] = 'voice',
    authorization: string | null | undefined = bearer(this.suspect.token),
    isCompressing = false,
  ): ProbeSocket {
    if (this.isClosed) throw new CheckGivenUp('the check was given up');
    const options = { ...socketOptionsOf(this.suspect, channel), authorization: authorization ?? undefined, isCompressing };
    const socket = new ProbeSocket(`WS${String(this.open.length + 1)}`, options, this.log);
    this.open.push(socket);
    return socket;
  }

  /** A call on a socket of its own, or on this one. */
  call(ids: Partial<ProbeIds> = {}, socket: ProbeSocket = this.connect()): SocketCall {
    const { organizationId, agentId } = this.suspect;
    return new SocketCall(socket, this.suspect, { organizationId, agentId, ...ids });
  }

  /** Demands that a call still answers. @param likewise - what else was done to it, for the call that it is compared with. */
  async demandAlive(call: SocketCall, after: string, likewise: (control: SocketCall) => void = () => undefined): Promise<SocketTurn> {
    const turn = await call.goOn(this.suspect.press);
    if (turn.isAnswered) return turn;
    this.note(`the same turn without ${after}`);
    const control = await this.ready();
    likewise(control);
    if (!(await control.goOn(this.suspect.press)).isAnswered) this.skip(`the same turn is not answered without ${after} either`);
    await control.hangUp();
    return this.fail(`after ${after} the next turn ${stateText(call.socket)}, and without it the same turn was answered`);
  }

  /** Asks for the agents, by default with the good token. */
  async list(
    organizationId = this.suspect.organizationId,
    authorization: string | null | undefined = bearer(this.suspect.token),
    more: JsonObject = {},
  ): Promise<{ readonly socket: ProbeSocket; readonly messages: readonly Message[] }> {
    const socket = this.connect('list', authorization);
    return { socket, messages: await askForAgents(socket, organizationId, this.suspect.timing.answerMs, more) };
  }

  /** The ids of the agents that the server offers; the check does not apply when it does not say. */
  async agents(): Promise<readonly string[]> {
    const { messages } = await this.list();
    if (listIn(messages) === undefined) this.skip('the server did not list its agents');
    return agentsIn(messages).map(({ id }) => id);
  }

  async present(authorization: string | null, organizationId = this.suspect.organizationId): Promise<Presented> {
    const call = this.call({ organizationId }, this.connect('voice', authorization));
    const { answers } = await call.begin();
    if (answers.length > 0) await call.hangUp();
    else await call.socket.close();
    return presented(call.socket, answers.length > 0);
  }

  async presentToList(authorization: string | null, organizationId = this.suspect.organizationId): Promise<Presented> {
    const { socket, messages } = await this.list(organizationId, authorization);
    return presented(socket, listIn(messages) !== undefined);
  }

  /** What the server did upon everything that no honest platform does. */
  misdeeds(): Promise<readonly MisdeedRecord[]> {
    return this.lent(() => this.#survey.misdeeds());
  }
}

function presented(socket: ProbeSocket, isTaken: boolean): Presented {
  const { handshake, received, closing } = socket;
  const code = handshake?.kind === 'refused' ? handshake.status : undefined;
  // As another organization is refused that is named only in the first message (W-22).
  const isClosedAsForeign = !isTaken && (closing?.code === 1008 || errorsIn(received).some((error) => error['code'] === 'unauthorized'));
  return {
    isTaken,
    isRefused: code !== undefined && REFUSED.includes(code),
    isForbidden: (code !== undefined && FORBIDDEN.includes(code)) || isClosedAsForeign,
    isError: code !== undefined,
    how: isTaken ? 'got an answer' : stateText(socket),
    words: handshake?.kind === 'refused' ? handshake.words : '',
  };
}

/** What became of a socket, for a sentence that begins with its name. */
export function stateText({ handshake, closing, isFlooded }: ProbeSocket): string {
  if (handshake?.kind === 'refused') return `was answered with HTTP ${String(handshake.status)}`;
  if (handshake?.kind === 'failed') return `was not upgraded: ${handshake.failure.message}`;
  if (handshake === undefined) return 'got no answer to the upgrade';
  if (isFlooded) return 'was flooded with more than any call can be';
  return closing?.isByServer === true ? `was closed with ${String(closing.code)}` : 'was left without an answer';
}
