// Checks of the methods, of the list of agents, and of who may use them.
import { status } from '@grpc/grpc-js';
import { loadContract } from '../../../contract/grpc.ts';
import type { Runs } from '../catalog.ts';
import { isHeard } from '../heard.ts';
import { endingText, eventInput, RpcTurn } from '../rpc-call.ts';
import type { RpcLab, RpcRecord } from '../rpc-probe.ts';
import { FOREIGN_ORGANIZATION } from '../suspect.ts';
import { MAX_AGENTS } from '../survey.ts';

/** The standard health service of gRPC. */
const COMMON_HEALTH = 'grpc.health.v1.Health';
/** Statuses with which a server may refuse another organization: the contract names none (G-08). */
const NOT_YOURS: readonly number[] = [status.PERMISSION_DENIED, status.UNAUTHENTICATED, status.INVALID_ARGUMENT, status.NOT_FOUND];

/** Names of the health services: the standard one and the platform's own (U-01). */
function healthServices({ suspect }: RpcLab): readonly string[] {
  return [COMMON_HEALTH, loadContract(suspect.profile).health.serviceName];
}

/** The sound and words of a welcome, for comparison. */
function welcomeText(record: Pick<RpcRecord, 'turns'> | undefined): string {
  const prompts = record?.turns[0]?.rpc.answers.flatMap((answer) => answer.prompts.filter(isHeard)) ?? [];
  return prompts.map(({ text, uri, audio }) => `${text}|${uri}|${Buffer.from(audio).toString('base64')}`).join('\n');
}

export const TRANSPORT_CHECKS: Runs<RpcLab> = {
  'other-methods-unimplemented': async (lab) => {
    const { media } = loadContract(lab.suspect.profile);
    const connection = lab.probe.connect();
    for (const path of [`/${media.serviceName}/NoSuchMethod`, '/conformance.NoSuchService/Ask']) {
      const answer = await connection.ask(path, new Uint8Array(0), lab.suspect.timing.answerMs, lab.log);
      // A server may check the token before it reads the path.
      if (answer.kind === 'status' && [status.UNIMPLEMENTED, status.UNAUTHENTICATED].includes(answer.ending.code)) continue;
      const said = answer.kind === 'answer' ? 'got an answer' : endingText(answer.ending);
      lab.fail(`${path} ${said} and not with UNIMPLEMENTED`);
    }
  },
  'both-methods-served': async (lab) => {
    const connection = lab.probe.connect();
    const list = await connection.list(lab.suspect.organizationId, lab.suspect.timing.answerMs, lab.log);
    if ('code' in list && list.code === status.UNIMPLEMENTED) lab.fail('ListVirtualAgents is UNIMPLEMENTED');
    const call = lab.probe.call({}, connection);
    const { rpc } = await call.begin();
    if (rpc.final !== undefined) await call.hangUp();
    if (rpc.ending?.code === status.UNIMPLEMENTED) lab.fail('ProcessCallerInput is UNIMPLEMENTED');
    // A server that checks the token first shows nothing about its methods.
    const isHidden = [rpc.ending, list].some(
      (ending) => ending !== undefined && 'code' in ending && ending.code === status.UNAUTHENTICATED,
    );
    if (isHidden) lab.skip('the server lets nobody see its methods without a good token');
  },
  'health-check-is-open': async (lab) => {
    const connection = lab.probe.connect(null);
    let served = 0;
    for (const service of healthServices(lab)) {
      const answer = await connection.ask(`/${service}/Check`, new Uint8Array(0), lab.suspect.timing.answerMs, lab.log);
      if (answer.kind === 'status' && answer.ending.code === status.UNIMPLEMENTED) continue;
      served += 1;
      if (answer.kind === 'status' && answer.ending.code === status.UNAUTHENTICATED) lab.fail(`${service}/Check asks for a token`);
      // A server that needs no token breaks another rule (G-02).
      if (!lab.suspect.wantsToken) continue;
      const watched = await connection.ask(`/${service}/Watch`, new Uint8Array(0), lab.suspect.timing.answerMs, lab.log);
      if (watched.kind === 'answer') lab.fail(`${service}/Watch answers without a token`);
    }
    if (served === 0) lab.skip('the server has no health service');
  },
  'list-wants-token': async (lab) => {
    // A server that needs no token for calls breaks another rule (G-02).
    if (!lab.suspect.wantsToken) lab.skip('calls need no token either');
    const list = await lab.probe.connect(null).list(lab.suspect.organizationId, lab.suspect.timing.answerMs, lab.log);
    if (!('code' in list)) lab.fail('the agents were listed without a token');
  },
  'listed-agents-can-be-called': async (lab) => {
    const list = await lab.probe.connect().list(lab.suspect.organizationId, lab.suspect.timing.answerMs, lab.log);
    if ('code' in list) {
      if (list.code === status.UNIMPLEMENTED) lab.skip('the server has no list, which is another breach');
      lab.fail(`ListVirtualAgents ${endingText(list)}, although calls are taken`);
    }
    const agents = await lab.agents();
    lab.note(`${String(Math.min(MAX_AGENTS, agents.length))} of ${String(agents.length)} agents are called`);
    if (agents.length === 0) lab.skip('the list is empty, which is legal');
    if (agents.some(({ id }) => id === '')) lab.fail('an agent on the list has no id');
    if (new Set(agents.map(({ id }) => id)).size !== agents.length) lab.fail('two agents on the list have the same id');
    for (const record of await lab.welcomes()) {
      const rpc = record.turns[0]?.rpc;
      // These cases break other rules: an RPC that stays open after its FINAL (G-13), and a completed RPC without a FINAL (G-21).
      if (rpc === undefined || rpc.isCompleted || rpc.final !== undefined) continue;
      lab.showCalls([record]);
      lab.fail(`a call to a listed agent ${endingText(rpc.ending)}`);
    }
  },
  'agent-ids-stable': async (lab) => {
    const [first, second] = [await lab.agents(), await lab.agents()];
    const ids = (agents: typeof first): string =>
      agents
        .map(({ id }) => id)
        .sort()
        .join('\n');
    if (first.length === 0) lab.skip('the list is empty');
    if (ids(first) !== ids(second)) lab.fail('two lists, asked for one after the other, name other ids');
  },
  'one-default-agent': async (lab) => {
    const defaults = new Set((await lab.agents()).filter(({ isDefault }) => isDefault).map(({ id }) => id));
    if (defaults.size > 1) lab.fail(`${String(defaults.size)} agents are marked as the default`);
  },
  'unnamed-call-gets-default': async (lab) => {
    const agents = await lab.agents();
    const chosen = agents.find(({ isDefault }) => isDefault)?.id ?? agents[0]?.id;
    if (agents.length < 2) lab.skip('the list has fewer than two agents');
    const unnamed = lab.probe.call({ agentId: '' });
    const { rpc } = await unnamed.begin();
    if (rpc.final === undefined) lab.fail('a call that names no agent got no welcome');
    await unnamed.hangUp();
    if (chosen === undefined) return;
    const welcomes = await lab.welcomes();
    const texts = new Map(welcomes.map((record) => [record.agentId, welcomeText(record)]));
    const own = texts.get(chosen);
    // Ids that differ between two lists break another rule (G-06).
    if (own === undefined) return;
    const heard = welcomeText({ turns: [new RpcTurn('session_start', rpc)] });
    const other = [...texts].find(([id, text]) => id !== chosen && text === heard && text !== own);
    if (other !== undefined)
      lab.fail('a call that names no agent got the welcome of another agent than the default, or the first where none is marked');
  },
  'foreign-organization-refused': async (lab) => {
    const connection = lab.probe.connect();
    const { rpc, hasPrompt } = await lab.probe
      .call({ organizationId: FOREIGN_ORGANIZATION }, connection)
      .turn('session_start', eventInput('SESSION_START'));
    if (hasPrompt || rpc.isCompleted) lab.fail('a call of another organization was answered');
    if (!NOT_YOURS.includes(rpc.ending?.code ?? status.OK)) lab.fail(`a call of another organization ${endingText(rpc.ending)}`);
    const list = await connection.list(FOREIGN_ORGANIZATION, lab.suspect.timing.answerMs, lab.log);
    if ('code' in list) {
      if (!NOT_YOURS.includes(list.code)) lab.fail(`the list for another organization ${endingText(list)}`);
    } else if ((list.virtual_agents ?? []).length > 0) lab.fail('the agents were listed for another organization');
  },
};
