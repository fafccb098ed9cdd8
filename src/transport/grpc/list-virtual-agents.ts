// ListVirtualAgents: what administrators choose from when they build a flow.
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { AppError, toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Catalog } from '../../bot/catalog.ts';
import type { ListAgentsRequest, ListAgentsResponse } from '../../contract/grpc.ts';
import type { Gate } from '../gate.ts';
import type { UNDECODABLE } from './process-caller-input.ts';
import { grpcStatus } from './status.ts';
import type { CallMetadata } from './call-metadata.ts';

/** What the RPC is made of. */
export interface ListAgentsParts {
  readonly gate: Gate;
  readonly catalog: Catalog;
  readonly metadata: CallMetadata;
  readonly log: Logger;
}

type ListCall = ServerUnaryCall<ListAgentsRequest | typeof UNDECODABLE, ListAgentsResponse>;

/** The handler of the RPC: every agent of the catalog, ids stable across restarts (G-05, G-06). */
export function createListVirtualAgents(parts: ListAgentsParts): (call: ListCall, callback: sendUnaryData<ListAgentsResponse>) => void {
  const list = async (call: ListCall): Promise<ListAgentsResponse> => {
    const admission = await parts.gate.admit(parts.metadata.authorization(call.metadata));
    if (typeof call.request === 'symbol') throw new AppError('bad_message', 'the message could not be decoded');
    parts.gate.bind(admission, call.request.customer_org_id ?? '');
    return {
      virtual_agents: parts.catalog
        .agents()
        .map(({ id, name, isDefault }) => ({ virtual_agent_id: id, virtual_agent_name: name, is_default: isDefault })),
    };
  };
  return (call, callback) => {
    list(call).then(
      (response) => {
        callback(null, response);
      },
      (thrown: unknown) => {
        const error = toAppError(thrown);
        parts.log.warn(
          { code: error.code, ...error.details, trackingId: parts.metadata.trackingId(call.metadata) },
          `a list request was refused: ${error.message}`,
        );
        callback(grpcStatus(error));
      },
    );
  };
}
