// ListVirtualAgents: what administrators choose from when they build a flow.
import type { Catalog } from '../../bot/catalog.ts';
import type { ListAgentsRequest, ListAgentsResponse } from '../../contract/grpc.ts';
import type { Gate } from '../gate.ts';
import type { OneRequestOptions } from './one-request.ts';

/** The RPC: every agent of the catalog, ids stable across restarts (G-05, G-06). */
export function listVirtualAgents(gate: Gate, catalog: Catalog): OneRequestOptions<ListAgentsRequest, ListAgentsResponse> {
  return {
    gate,
    what: 'a list request',
    answer: (request, call, admission) => {
      gate.bind(admission, request.customer_org_id ?? '');
      call.write({
        virtual_agents: catalog
          .agents()
          .map(({ id, name, isDefault }) => ({ virtual_agent_id: id, virtual_agent_name: name, is_default: isDefault })),
      });
      call.end();
    },
  };
}
