// The first look at a server of sockets, and the last: can it be talked to, does it want a token, can a call be placed. Judges no
// rule.
import type { Failure } from '../../lines/failure.ts';
import { failureOfClose, failureOfUpgrade } from '../../lines/socket/socket-failure.ts';
import { ExchangeLog } from '../exchange.ts';
import type { GivenSuspect, Reached } from '../suspect.ts';
import { askForAgents, listIn } from './list-question.ts';
import { ProbeSocket, type Handshake } from './probe-socket.ts';
import { SocketCall } from './socket-call.ts';
import { bearer, socketOptionsOf } from './socket-survey.ts';

/** What became of a call that was begun. */
interface Begun {
  readonly handshake: Handshake | undefined;
  readonly hasFinal: boolean;
  readonly isAnswered: boolean;
  readonly isOverloaded: boolean;
  /** The code by which the server closed; undefined when it did not. */
  readonly code: number | undefined;
}

/** Statuses by which a token is refused; by which of them is a rule of its own (W-06). */
const REFUSED: readonly number[] = [401, 403];

/** Lists the agents and begins a call, without a token and with the one that was given. As {@link Suite.reach}. */
export async function reachSocket(suspect: GivenSuspect, signal: AbortSignal | undefined): Promise<Reached | Failure | undefined> {
  const sockets: ProbeSocket[] = [];
  const stop = (): void => {
    for (const socket of sockets) socket.drop();
  };
  signal?.addEventListener('abort', stop, { once: true });
  const open = (channel: 'voice' | 'list', token: string | undefined): ProbeSocket => {
    const socket = connect(suspect, channel, token);
    sockets.push(socket);
    if (signal?.aborted === true) socket.drop();
    return socket;
  };
  try {
    const good = await begin(suspect, open('voice', suspect.token));
    const list = await asked(suspect, open('list', suspect.token));
    const bare = suspect.token === undefined ? good : await begin(suspect, open('voice', undefined));
    const bareList = suspect.token === undefined ? list : await asked(suspect, open('list', undefined));
    if (signal?.aborted === true) return undefined;
    if (good.handshake?.kind === 'failed' && !list.isAnswered && !bare.isAnswered) return good.handshake.failure;
    return {
      wantsToken: !bare.isAnswered && (isRefused(bare.handshake) || good.hasFinal),
      listWantsToken: !bareList.isAnswered && (isRefused(bareList.handshake) || list.isAnswered),
      canCall: good.hasFinal,
      whyNot: good.hasFinal ? '' : whyNot(good, suspect.token !== undefined),
    };
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

/** Begins one more call. As {@link Suite.missed}. */
export async function missedSocket(suspect: GivenSuspect): Promise<Failure | undefined> {
  const socket = connect(suspect, 'voice', suspect.token);
  const { hasFinal, handshake, isOverloaded, code } = await begin(suspect, socket);
  socket.drop();
  // No room is no silence.
  if (hasFinal || isOverloaded) return undefined;
  if (handshake?.kind === 'failed') return handshake.failure;
  if (handshake?.kind === 'refused') return failureOfUpgrade(handshake.status);
  if (code !== undefined) return failureOfClose(code, '');
  return { code: 'no_answer', message: `the server did not answer within ${String(suspect.timing.answerMs)} ms` };
}

function connect(suspect: GivenSuspect, channel: 'voice' | 'list', token: string | undefined): ProbeSocket {
  const options = { ...socketOptionsOf(suspect, channel), authorization: bearer(token) };
  return new ProbeSocket('WS1', options, new ExchangeLog(suspect.clock));
}

async function begin(suspect: GivenSuspect, socket: ProbeSocket): Promise<Begun> {
  const call = new SocketCall(socket, suspect, suspect);
  const { final, messages, answers } = await call.begin();
  const isAnswered = answers.length > 0;
  const begun = {
    handshake: socket.handshake,
    hasFinal: final !== undefined,
    isAnswered,
    isOverloaded: socket.isOverloaded,
    code: socket.closing?.code,
  };
  if (messages.length > 0) await call.hangUp();
  else await socket.close();
  return begun;
}

async function asked({ organizationId, timing }: GivenSuspect, socket: ProbeSocket) {
  const messages = await askForAgents(socket, organizationId, timing.answerMs);
  return { handshake: socket.handshake, isAnswered: listIn(messages) !== undefined };
}

function isRefused(handshake: Handshake | undefined): boolean {
  return handshake?.kind === 'refused' && REFUSED.includes(handshake.status);
}

function whyNot({ handshake, isAnswered, code }: Begun, hasToken: boolean): string {
  if (isRefused(handshake))
    return hasToken ? 'the server refuses the token that was given' : 'the server wants a token, and none was given';
  if (handshake?.kind === 'refused') return `the upgrade was answered with HTTP ${String(handshake.status)}`;
  if (handshake?.kind === 'failed') return handshake.failure.message;
  const closed = code === undefined ? '' : ` and the socket was closed with ${String(code)}`;
  return isAnswered ? `SESSION_START got no FINAL${closed}` : `SESSION_START was not answered${closed}`;
}
