// The connection to a server over WebSocket: one socket for each call, and another one for the list of agents (W-50).
import { waitAtMost } from '../../../base/abort.ts';
import { AppError } from '../../../base/errors.ts';
import { parseJson } from '../../../base/json.ts';
import { readListAnswer, readServerEnvelope } from '../../../contract/envelope.ts';
import type { Failure } from '../failure.ts';
import { limitedWait } from '../limited-wait.ts';
import type { Connection } from '../connection.ts';
import type { ListedAgent } from '../line.ts';
import type { CallIdentity } from '../to-wire.ts';
import { SocketClient } from './socket-client.ts';
import { failureOfError } from './socket-failure.ts';
import { SocketLine, socketPaths, type SocketLineOptions } from './socket-line.ts';

/** The sockets to one server. `close` must be called. */
export class SocketConnection implements Connection {
  readonly #options: SocketLineOptions;
  readonly #lines: SocketLine[] = [];

  constructor(options: SocketLineOptions) {
    this.#options = options;
  }

  async connect(signal?: AbortSignal): Promise<void> {
    const { clock, connectLimitMs } = this.#options;
    await waitAtMost(Promise.all(this.#lines.map((line) => line.dial())), connectLimitMs, clock, signal);
  }

  line(identity: CallIdentity): SocketLine {
    const line = new SocketLine(this.#options, identity);
    this.#lines.push(line);
    return line;
  }

  /** Closes the socket before it resolves. Marks no agent as the default (W-52). */
  async listAgents(organizationId: string, limitMs: number, signal?: AbortSignal): Promise<readonly ListedAgent[] | Failure> {
    const { listPath } = socketPaths(this.#options);
    const asking: { client?: SocketClient } = {};
    const wait = { clock: this.#options.clock, what: 'list its agents', limitMs, signal };
    const answer = await limitedWait<readonly ListedAgent[]>(wait, (settle) => {
      asking.client = new SocketClient(this.#options, listPath, {
        opened: () => asking.client?.send(JSON.stringify({ customer_org_id: organizationId, is_default_virtual_agent_enabled: true })),
        received: (text) => settle(agentsOf(text)),
        closed: (_, failure) => settle(failure),
      });
    });
    // A server that has not answered will not answer a close, either.
    if ('code' in answer) asking.client?.drop();
    await asking.client?.close();
    return answer;
  }

  async close(): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.closed()));
  }
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
