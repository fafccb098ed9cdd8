// Checks of the list channel.
import type { Runs } from '../../catalog.ts';
import { FOREIGN_ORGANIZATION } from '../../suspect.ts';
import { type SocketLab, agentsIn, listIn } from '../socket-probe.ts';

/** How long a list channel may stay open without a request, ms. */
const IDLE_MS = 15_000;

export const LIST_CHECKS: Runs<SocketLab> = {
  'list-question-tolerated': async (lab: SocketLab) => {
    const plain = await lab.probe.list();
    if (listIn(plain.messages) === undefined) lab.skip('the list is not given at all');
    const { socket, messages } = await lab.probe.list(undefined, undefined, { conformance: { newer: true } });
    if (listIn(messages) === undefined) lab.fail(`a question with a field that is not known ${socket.stateText}`);
  },
  'list-answered-once': async (lab: SocketLab) => {
    const { socket, messages } = await lab.probe.list();
    if (socket.handshake?.kind === 'refused') lab.skip('the server has no list channel, which is another breach');
    const [answer] = messages;
    if (answer === undefined) lab.fail(`the question for the agents ${socket.stateText}`);
    if (messages.length > 1) lab.fail(`${String(messages.length)} messages came upon one question`);
    if (answer.json === undefined || !('virtual_agents' in answer.json)) lab.fail('the answer is no bare object with virtual_agents');
    if (!Array.isArray(answer.json['virtual_agents'])) lab.fail('virtual_agents is no list');
  },
  'list-closes': async (lab: SocketLab) => {
    const { socket, messages } = await lab.probe.list();
    if (listIn(messages) === undefined) lab.skip('the list is not given at all');
    if (socket.closing?.isByServer !== true) lab.fail('the list channel was left open behind its answer');
    if (socket.closing.code !== 1000) lab.fail(`the list channel was closed with ${String(socket.closing.code)} behind its answer`);
  },
  'listed-agents-answer': async (lab: SocketLab) => {
    const ids = (await lab.agents()).map(({ id }) => id);
    if (ids.length === 0) lab.skip('the list is empty, which is legal');
    if (new Set(ids).size !== ids.length) lab.fail('two agents on the list have the same id');
    for (const record of await lab.welcomes()) {
      if (record.turns[0]?.isAnswered === true) continue;
      lab.showCalls([record]);
      lab.fail(`a call to a listed agent ${record.call.socket.stateText}`);
    }
  },
  'list-fields-named': async (lab: SocketLab) => {
    const { messages } = await lab.probe.list();
    const list = listIn(messages) ?? lab.skip('the list is not given at all');
    if (list.length === 0) lab.skip('the list is empty');
    for (const agent of list) {
      if (typeof agent['id'] !== 'string' || typeof agent['name'] !== 'string') lab.fail('an agent on the list has no id or no name');
    }
  },
  'list-has-own-fields': async (lab: SocketLab) => {
    const { messages } = await lab.probe.list();
    for (const agent of listIn(messages) ?? lab.skip('the list is not given at all')) {
      const foreign = ['virtual_agent_id', 'virtual_agent_name', 'is_default', 'attributes'].find((name) => name in agent);
      if (foreign !== undefined) lab.fail(`an agent on the list has the field ${foreign}`);
    }
  },
  'foreign-list-refused': async (lab: SocketLab) => {
    // A server that lists agents without a token breaks another rule (W-06).
    if (!lab.suspect.listWantsToken) lab.skip('the list wants no token');
    const { messages } = await lab.probe.list(FOREIGN_ORGANIZATION);
    if (agentsIn(messages).length > 0) lab.fail('the agents were listed for another organization');
  },
  // Advice only: the time is that of one gateway.
  'silent-list-ends': async (lab: SocketLab) => {
    const socket = lab.probe.connect('list');
    if ((await socket.upgraded()).kind !== 'open') lab.skip('the list channel was not opened');
    await socket.until(() => socket.isOver, IDLE_MS);
    if (socket.closing === undefined) lab.fail('the list channel stayed open for 15 s without a question');
  },
};
