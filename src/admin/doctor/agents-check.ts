// Is there an agent for the administrator of each organization to choose (G-05)?
import type { Check } from './check.ts';
import { organizationSubject } from './subject.ts';

/** Each organization has an agent. */
export const agentsCheck: Check = {
  id: 'agents',
  title: 'it has agents to choose from',
  needs: [],
  tasks: (context) =>
    [...new Set(context.wanted.map(({ organizationId }) => organizationId))].map((id) => ({
      subject: organizationSubject(id),
      async run({ signal }) {
        if ((await context.agents(id, signal)) > 0) return [];
        const where = `${organizationSubject(id).text}, list of agents`;
        const mend = 'put a bot module into the bots folder and let it serve this organization; `parley bots list` shows them';
        return [{ code: 'no_agents', severity: 'fault', what: 'there is no agent to choose', where, mend }];
      },
    })),
};
