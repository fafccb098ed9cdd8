// A request on the list channel, and what came back. Judges nothing.
import type { JsonObject } from '../../../base/json.ts';
import type { ListedAgent } from '../../lines/line.ts';
import { objectsOf, type Message } from './message.ts';
import type { ProbeSocket } from './probe-socket.ts';

/** How long a server may take to close a socket after its list, ms (W-51). */
const CLOSE_MS = 3000;

/** Asks for the agents and waits until the server closes or its time is over; then closes. */
export async function askForAgents(
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

/** The list in what came back; undefined without one. Also accepts a list in an envelope, and one with the names of gRPC. */
export function listIn(messages: readonly Message[]): readonly JsonObject[] | undefined {
  for (const { json } of messages) {
    const payload = json?.['payload'];
    const body = typeof payload === 'object' && payload !== null && 'virtual_agents' in payload ? payload : json;
    if (body !== undefined && 'virtual_agents' in body) return objectsOf(body['virtual_agents']);
  }
  return undefined;
}

/** The agents in what came back; the wire does not say which one is the default (W-52). */
export function agentsIn(messages: readonly Message[]): readonly ListedAgent[] {
  return (listIn(messages) ?? []).flatMap((agent) => {
    const id = agent['id'] ?? agent['virtual_agent_id'];
    const name = agent['name'] ?? agent['virtual_agent_name'];
    return typeof id === 'string' ? [{ id, name: typeof name === 'string' ? name : '', isDefault: false }] : [];
  });
}
