// Asks a server which agents it offers, on a socket of its own (W-50).
import { AppError } from '../../../base/errors.ts';
import { parseJson } from '../../../base/json.ts';
import { readListAnswer, readServerEnvelope } from '../../../contract/envelope.ts';
import type { Failure } from '../failure.ts';
import type { ListedAgent } from '../line.ts';
import { SocketClient, type SocketOptions } from './socket-client.ts';
import { failureOfError } from './socket-failure.ts';

/**
 * Asks for the agents of an organization, and closes the socket before the answer is given.
 *
 * @param limitMs - longest wait for the answer, ms.
 * @param signal - gives up before.
 * @returns the agents, none of them marked (W-52), or why there is no answer.
 * @throws RangeError when the profile names no paths of a WebSocket.
 */
export async function listSocketAgents(
  options: SocketOptions,
  organizationId: string,
  limitMs: number,
  signal?: AbortSignal,
): Promise<readonly ListedAgent[] | Failure> {
  const { websocket } = options.profile;
  if (websocket === undefined) throw new RangeError('the platform profile names no paths of a WebSocket (section "websocket")');
  const stopWaiting: (() => void)[] = [];
  const asking: { client?: SocketClient } = {};
  const answer = await new Promise<readonly ListedAgent[] | Failure>((resolve) => {
    const notWaited = (): void => {
      resolve({ code: 'no_answer', message: 'the server was not waited for to list its agents' });
    };
    asking.client = new SocketClient(options, websocket.listPath, {
      opened: () => {
        asking.client?.send(JSON.stringify({ customer_org_id: organizationId, is_default_virtual_agent_enabled: true }));
      },
      received: (text) => {
        resolve(agentsOf(text));
      },
      closed: (_, failure) => {
        resolve(failure);
      },
    });
    signal?.addEventListener('abort', notWaited, { once: true });
    stopWaiting.push(
      () => signal?.removeEventListener('abort', notWaited),
      options.clock.after(limitMs, () => {
        resolve({ code: 'no_answer', message: `the server did not list its agents within ${String(limitMs)} ms` });
      }),
    );
    if (signal?.aborted === true) notWaited();
  });
  for (const stop of stopWaiting) stop();
  // A server that has nothing to say is not asked to close, either.
  if ('code' in answer) asking.client?.drop();
  await asking.client?.close();
  return answer;
}

function agentsOf(text: string): readonly ListedAgent[] | Failure {
  try {
    if (isEnvelope(text)) {
      const envelope = readServerEnvelope(text);
      if (envelope.type === 'ERROR') return failureOfError(envelope);
    }
    return readListAnswer(text).virtual_agents.map(({ id, name }) => ({ id, name, isDefault: false }));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: 'garbage', message: `the list cannot be read: ${error.message}` };
  }
}

function isEnvelope(text: string): boolean {
  const json = parseJson(text);
  return typeof json === 'object' && json !== null && 'type' in json;
}
