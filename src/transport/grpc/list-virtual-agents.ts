// ListVirtualAgents: what administrators choose from when they build a flow.
import type { CatalogSource } from '../../bot/catalog.ts';
import type { ListAgentsRequest, ListAgentsResponse } from '../../contract/grpc.ts';
import type { Gate } from '../gate.ts';
import type { OneRequestOptions } from './one-request.ts';

/** The RPC: every agent that the organization may choose, ids stable across restarts (G-05, G-06). */
export function listVirtualAgents(gate: Gate, catalog: CatalogSource): OneRequestOptions<ListAgentsRequest, ListAgentsResponse> {
  return {
    gate,
    what: 'a list request',
    answer: (request, call, visitor) => {
      const organizationId = request.customer_org_id ?? '';
      gate.bind(visitor, organizationId);
      call.write({
        virtual_agents: catalog.current
          .agents(organizationId)
          .map(({ id, name, isDefault }) => ({ virtual_agent_id: id, virtual_agent_name: name, is_default: isDefault })),
      });
      call.end();
    },
  };
}
