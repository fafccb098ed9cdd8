// The first look at a server, and the last: can it be talked to, does it want a token, can a call be placed. Judges no rule.
import { status } from '@grpc/grpc-js';
import { failureOf, type Failure } from '../lines/failure.ts';
import { statusName } from '../lines/status-name.ts';
import { ConnectionClosed, WireConnection } from './connection.ts';
import { ExchangeLog, quoted } from './exchange.ts';
import { RpcCall } from './rpc-call.ts';
import { authorizationOf, type GivenSuspect, type Reached } from './suspect.ts';
import type { Ending } from './wire.ts';

/** Findings that say that there is nobody to talk to: whoever answers, and where there is no connection. */
const [DUMB, UNCONNECTED]: readonly [readonly string[], readonly string[]] = [
  ['garbage', 'no_answer'],
  ['refused', 'host_unknown', 'connect_timeout', 'tls_failed', 'closed_early'],
];

/**
 * Lists the agents and begins a call, without a token and with the one that was given.
 *
 * @param signal - ends it at once; undefined is returned then.
 */
export async function reach(suspect: GivenSuspect, signal: AbortSignal | undefined): Promise<Reached | Failure | undefined> {
  const token = authorizationOf(suspect);
  const connections = [connect(suspect, token), ...(token === undefined ? [] : [connect(suspect, undefined)])];
  const [good, bare = good] = connections;
  if (good === undefined || bare === undefined) throw new TypeError('one connection is always made');
  const stop = (): void => {
    for (const connection of connections) connection.drop();
  };
  signal?.addEventListener('abort', stop, { once: true });
  try {
    if (signal?.aborted === true) return undefined;
    const list = await listEnding(suspect, good);
    const bareCall = await begin(suspect, bare);
    const bareList = bare === good ? list : await listEnding(suspect, bare);
    const call = bare === good ? bareCall : await begin(suspect, good);
    // What one method says may be the server's own words: only where neither answers is there nobody.
    if (list !== undefined && !call.isAnswered && !bareCall.isAnswered) {
      const why = failure(suspect, list);
      const isNobody = (code: string): boolean => DUMB.includes(code) || (UNCONNECTED.includes(code) && !good.isConnected);
      if (isNobody(why.code) && isNobody(failure(suspect, call.ending).code)) return why;
    }
    const isBareRefused = bareCall.ending?.code === status.UNAUTHENTICATED;
    return {
      // Which code a server refuses by is a rule of its own (G-02).
      wantsToken: !bareCall.isAnswered && (isBareRefused || call.hasFinal),
      listWantsToken: bareList !== undefined && (bareList.code === status.UNAUTHENTICATED || list === undefined),
      canCall: call.hasFinal,
      whyNot: call.hasFinal ? '' : whyNot(call, token !== undefined),
    };
  } catch (thrown) {
    if (thrown instanceof ConnectionClosed) return undefined;
    throw thrown;
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

/** Begins one more call as the first look did. @returns why it is not answered any more. */
export async function missed(suspect: GivenSuspect): Promise<Failure | undefined> {
  const connection = connect(suspect, authorizationOf(suspect));
  try {
    const { hasFinal, ending } = await begin(suspect, connection);
    // No room is no silence.
    return hasFinal || connection.isOverloaded ? undefined : failure(suspect, ending);
  } finally {
    connection.drop();
  }
}

interface Begun {
  readonly ending: Ending | undefined;
  readonly hasFinal: boolean;
  readonly isAnswered: boolean;
}

async function begin(suspect: GivenSuspect, connection: WireConnection): Promise<Begun> {
  const { organizationId, agentId } = suspect;
  const call = new RpcCall(connection, suspect, new ExchangeLog(suspect.clock), { organizationId, agentId });
  const { rpc } = await call.begin();
  const hasFinal = rpc.final !== undefined;
  if (hasFinal) await call.hangUp();
  return { ending: rpc.ending, hasFinal, isAnswered: rpc.received.length > 0 || rpc.isCompleted };
}

/** How the list of agents was not given; undefined when it was. */
async function listEnding({ clock, timing, organizationId }: GivenSuspect, connection: WireConnection): Promise<Ending | undefined> {
  const list = await connection.list(organizationId, timing.answerMs, new ExchangeLog(clock));
  return 'code' in list ? list : undefined;
}

function connect(suspect: GivenSuspect, authorization: string | undefined): WireConnection {
  return new WireConnection({ ...suspect, authorization });
}

/** The words for how something was not answered. An RPC without an end was waited for in vain. */
function failure({ timing }: GivenSuspect, ending: Ending | undefined): Failure {
  return ending === undefined || ending.code === status.DEADLINE_EXCEEDED
    ? { code: 'no_answer', message: `the server did not answer within ${String(timing.answerMs)} ms` }
    : failureOf(ending);
}

function whyNot({ ending, isAnswered }: Begun, hasToken: boolean): string {
  const how =
    ending === undefined || ending.code === status.OK ? '' : ` and ended with ${statusName(ending.code)} ${quoted(ending.details)}`;
  if (ending?.code === status.UNAUTHENTICATED)
    return hasToken
      ? `the server refuses the token that was given: ${quoted(ending.details)}`
      : 'the server wants a token, and none was given';
  return isAnswered ? `SESSION_START got no FINAL${how}` : `SESSION_START was not answered${how}`;
}
