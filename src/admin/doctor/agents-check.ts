// Checks that each organization's administrator can choose an agent (G-05, W-50): asks for the agents as the platform does, with the token
// of each data source at its registered address, or else examines the configuration.
import { shownText } from '../../base/shown-text.ts';
import type { Check, CheckTools, Verdict } from './check.ts';
import type { DoctorContext, ExaminedDataSource } from './context.ts';
import { fault, type Found } from './finding.ts';
import { dataSourceSubject, endpointsOf, endpointSubject, hostAndPort, type Subject } from './subject.ts';

/** Each data source offers an agent. */
export const agentsCheck: Check = {
  id: 'agents',
  title: 'it has agents to choose from',
  // Without these, the same problem would be reported twice.
  needs: ['test_token', 'certificate', 'alpn', 'health', 'upgrade'],
  tasks: (context) =>
    context.wanted.map((wanted) => ({ subject: subjectOf(wanted), run: (tools) => agentsFindings(wanted, context, tools) })),
};

/** A data source with its address, so that problems of the address come first. */
function subjectOf(wanted: ExaminedDataSource): Subject {
  const { text, path } = dataSourceSubject(wanted);
  const grounds = endpointsOf([wanted]).flatMap((endpoint) => endpointSubject(endpoint).path.slice(-1));
  return { text, path: [...path, ...grounds, `agents of ${wanted.organizationId} ${wanted.transport}`] };
}

async function agentsFindings(wanted: ExaminedDataSource, context: DoctorContext, { notes, signal }: CheckTools): Promise<Verdict> {
  const { organizationId, transport } = wanted;
  const { listAgents } = context;
  const { text } = dataSourceSubject(wanted);
  const record = notes.records.get(wanted);
  const [endpoint] = endpointsOf([wanted]);
  if (listAgents === undefined || endpoint === undefined || record?.jwsToken === undefined) {
    return (await context.agents(organizationId)) > 0 ? [] : [noAgents(`${text}, bots of the configuration`)];
  }
  const where = `${text}, list of agents at ${hostAndPort(endpoint)}`;
  const answer = await listAgents({ endpoint, transport, organizationId, token: record.jwsToken }, signal);
  if (answer.kind === 'listed') return answer.count > 0 ? [] : [noAgents(where)];
  const what = `the server there does not list its agents (${shownText(answer.why, [record.nonce, record.jwsToken])})`;
  const mend = 'look at its log, and whether it is this server with this configuration that answers there';
  return [fault('agents_not_listed', what, mend, where)];
}

function noAgents(where: string): Found {
  const mend = 'put a bot module into the bots folder and let it serve this organization; `parley bots list` shows them';
  return fault('no_agents', 'there is no agent to choose', mend, where);
}
