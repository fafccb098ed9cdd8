// ListVirtualAgents: the agents that administrators can choose in a flow.
import type { CatalogSource } from '../../bot/catalog.ts';
import type { ListAgentsRequest, ListAgentsResponse } from '../../contract/grpc.ts';
import type { Gate } from '../gate.ts';
import type { OneRequestOptions } from './one-request.ts';
import type { StreamCheck } from './stream-check.ts';

/** The handler: returns every agent of the organization, with ids that are stable across restarts (G-05, G-06). */
export function listVirtualAgents(
  tokens: StreamCheck,
  gate: Gate,
  catalog: CatalogSource,
): OneRequestOptions<ListAgentsRequest, ListAgentsResponse> {
  return {
    tokens,
    what: 'a list request',
    answer: (request, call, visitor) => {
      const organizationId = gate.bind(visitor, request.customer_org_id ?? '');
      call.write({
        virtual_agents: catalog.current
          .agents(organizationId)
          .map(({ id, name, isDefault }) => ({ virtual_agent_id: id, virtual_agent_name: name, is_default: isDefault })),
      });
      call.end();
    },
  };
}
