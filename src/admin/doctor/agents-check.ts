// Is there an agent for the administrator of each organization to choose (G-05)? Asked as the platform asks, with the token
// of the data source at the registered address; where that cannot be, the configuration is looked at.
import type { Check, CheckTools, Finding } from './check.ts';
import type { DoctorContext, ExaminedDataSource } from './context.ts';
import { shownText } from '../shown-text.ts';
import { dataSourceSubject, endpointsOf, endpointSubject, hostAndPort, organizationSubject, type Subject } from './subject.ts';

/** Each organization has an agent. */
export const agentsCheck: Check = {
  id: 'agents',
  title: 'it has agents to choose from',
  // What these find would be found here again, in other words.
  needs: ['test_token', 'certificate', 'alpn'],
  tasks: (context) =>
    [...new Set(context.wanted.map(({ organizationId }) => organizationId))].map((id) => {
      const own = context.wanted.filter(({ organizationId }) => organizationId === id);
      return { subject: subjectOf(id, own), run: (tools) => agentsFindings(id, own, context, tools) };
    }),
};

/** An organization with its data sources and their addresses: whatever is wrong with these comes first. */
function subjectOf(organizationId: string, own: readonly ExaminedDataSource[]): Subject {
  const { text, path } = organizationSubject(organizationId);
  const grounds = [...own.map(dataSourceSubject), ...endpointsOf(own).map(endpointSubject)].flatMap((ground) => ground.path.slice(-1));
  return { text, path: [...path, ...grounds, `agents of ${organizationId}`] };
}

async function agentsFindings(
  organizationId: string,
  own: readonly ExaminedDataSource[],
  context: DoctorContext,
  { notes, signal }: CheckTools,
): Promise<readonly Finding[]> {
  const source = own.find(({ transport }) => transport === 'grpc');
  const record = source === undefined ? undefined : notes.records.get(source);
  const [endpoint] = source === undefined ? [] : endpointsOf([source]);
  const { listAgents } = context;
  if (listAgents === undefined || endpoint === undefined || record?.jwsToken === undefined) {
    const where = `${organizationSubject(organizationId).text}, bots of the configuration`;
    return (await context.agents(organizationId)) > 0 ? [] : [noAgents(where)];
  }
  const where = `${organizationSubject(organizationId).text}, list of agents at ${hostAndPort(endpoint)}`;
  const answer = await listAgents({ endpoint, organizationId, token: record.jwsToken }, signal);
  if (answer.kind === 'listed') return answer.count > 0 ? [] : [noAgents(where)];
  const what = `the server there does not tell its agents (${shownText(answer.why, [record.nonce, record.jwsToken])})`;
  const mend = 'look at its log, and whether it is this server with this configuration that answers there';
  return [{ code: 'agents_not_listed', severity: 'fault', what, where, mend }];
}

function noAgents(where: string): Finding {
  const mend = 'put a bot module into the bots folder and let it serve this organization; `parley bots list` shows them';
  return { code: 'no_agents', severity: 'fault', what: 'there is no agent to choose', where, mend };
}
