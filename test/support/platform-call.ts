// One conversation of a platform client: adds the ids of its call to every message.
import { randomUUID } from 'node:crypto';
import type { MediaRequest } from '../../src/contract/grpc.ts';
import type { ClientTurn, Ending } from './platform-client.ts';

/** What a call needs of its client. */
interface CallingClient {
  readonly organizationId: string;
  open(): ClientTurn;
}

/** What names a call on the wire. */
export interface CallIds {
  readonly conversationId: string;
  readonly organizationId: string;
  readonly agentId: string;
}

/** What one message carries beside the ids of its call. */
type Input = Omit<MediaRequest, 'conversation_id' | 'customer_org_id' | 'virtual_agent_id'>;

/** One conversation: adds its ids to every message. */
export class PlatformCall {
  readonly ids: CallIds;
  readonly #client: CallingClient;

  /** @param ids - default: a new conversation of the client's organization, no agent named. */
  constructor(client: CallingClient, ids: Partial<CallIds> = {}) {
    this.#client = client;
    this.ids = { conversationId: randomUUID(), organizationId: client.organizationId, agentId: '', ...ids };
  }

  /** A message of this conversation. */
  message(input: Input): MediaRequest {
    const { conversationId, organizationId, agentId } = this.ids;
    return { conversation_id: conversationId, customer_org_id: organizationId, virtual_agent_id: agentId, ...input };
  }

  /** Opens a turn and sends these inputs on it. */
  open(...inputs: readonly Input[]): ClientTurn {
    return this.#client.open().send(...inputs.map((input) => this.message(input)));
  }

  /** A whole turn: these inputs, half-close, and everything that comes back. */
  async turn(...inputs: readonly Input[]): Promise<ClientTurn & { readonly ending: Ending }> {
    const turn = this.open(...inputs).halfClose();
    const ending = await turn.ended();
    return Object.assign(turn, { ending });
  }
}
