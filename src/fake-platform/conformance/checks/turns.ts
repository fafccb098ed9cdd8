// Checks of how the RPCs of a call belong together.
import { status } from '@grpc/grpc-js';
import type { Runs } from '../catalog.ts';
import { FLOW_EVENT, SILENCE, type RpcCall, type RpcTurn } from '../rpc-call.ts';
import type { RpcLab } from '../rpc-probe.ts';
import { FOREIGN_ORGANIZATION } from '../suspect.ts';

/** How long the server may take to notice a cancellation, ms. */
const CANCELLED_MS = 300;
/** An id that no server knows. */
const UNKNOWN_AGENT = 'conformance-no-such-agent';

function howItWent({ endProblem, final }: RpcTurn): string {
  return endProblem ?? (final === undefined ? 'got no FINAL' : 'got a FINAL');
}

/** Requires that a call still answers keys, as an undisturbed call does. */
async function demandAlive(lab: RpcLab, call: RpcCall, after: string): Promise<void> {
  const turn = await call.press(lab.suspect.press);
  if (!turn.isAnswered) {
    lab.note(`the same keys without ${after}`);
    const control = await lab.ready();
    if (!(await control.press(lab.suspect.press)).isAnswered) lab.skip(`these keys are not answered without ${after} either`);
    await control.hangUp();
    lab.fail(`after ${after} keys of the call ${howItWent(turn)}, and without it they got a FINAL`);
  }
  if (turn.terminal === undefined) await call.hangUp();
}

export const TURN_CHECKS: Runs<RpcLab> = {
  'half-close-goes-on': async (lab) => {
    const { call, welcome } = await lab.begun();
    await call.heardOut(welcome);
    const turn = await call.goOn(lab.suspect.press);
    const broken = turn.endProblem;
    // When the server accepts another kind of RPC after a half-close, only this kind is at fault.
    if (broken !== undefined && (await lab.calls()).some(({ turns }) => turns.length > 1))
      lab.skip(`${turn.kind} is not taken behind a welcome, and other input is`);
    if (broken !== undefined) lab.fail(`behind the half-closed RPC of the welcome the one of ${turn.kind} ${broken}`);
    if (turn.terminal === undefined) await call.hangUp();
  },
  'call-outlives-connection': async (lab) => {
    await lab.demandKeysWork();
    const first = await lab.ready();
    const elsewhere = lab.probe.call(first.ids);
    await demandAlive(lab, elsewhere, 'a change of the connection');
  },
  'cancel-ends-one-rpc': async (lab) => {
    await lab.demandKeysWork();
    const call = await lab.ready();
    const rpc = call.open(SILENCE, SILENCE);
    await lab.wait(100);
    rpc.cancel();
    await rpc.until(() => rpc.ending !== undefined, lab.suspect.timing.answerMs);
    // The cancellation reaches the server a little later.
    await lab.wait(CANCELLED_MS);
    await demandAlive(lab, call, 'the cancellation of an RPC');
  },
  'agent-does-not-change': async (lab) => {
    const agents = await lab.agents();
    const own = agents.find(({ isDefault }) => isDefault) ?? agents[0];
    const first = lab.suspect.agentId === '' ? (own?.id ?? '') : lab.suspect.agentId;
    const second = [...agents].find(({ id }) => id !== first && id !== '')?.id ?? UNKNOWN_AGENT;
    if (first === '') lab.skip('no agent can be named: the list is empty');
    await lab.demandKnown();
    if (second === UNKNOWN_AGENT) lab.note('the other agent is one that nobody knows');
    // On one connection, because the change of connections has its own rule (G-15).
    const connection = lab.probe.connect();
    const { call } = await lab.begun(lab.probe.call({ agentId: first }, connection));
    const changed = lab.probe.call({ ...call.ids, agentId: second }, connection);
    const turn = await changed.turn('custom_event', FLOW_EVENT);
    const { ending } = turn.rpc;
    // The server may report an unknown agent as unknown.
    const allowed: readonly number[] = second === UNKNOWN_AGENT ? [status.INVALID_ARGUMENT, status.NOT_FOUND] : [status.INVALID_ARGUMENT];
    if (ending === undefined || !allowed.includes(ending.code))
      lab.fail(`an RPC that names another agent than its call ${howItWent(turn)} and was not INVALID_ARGUMENT`);
    await call.hangUp();
  },
  'organization-does-not-change': async (lab) => {
    await lab.demandKnown();
    // On one connection, because the change of connections has its own rule (G-15).
    const connection = lab.probe.connect();
    const { call } = await lab.begun(lab.probe.call({}, connection));
    const foreign = lab.probe.call({ ...call.ids, organizationId: FOREIGN_ORGANIZATION }, connection);
    const turn = await foreign.turn('custom_event', FLOW_EVENT);
    if (turn.hasPrompt || turn.isCompleted || !turn.isOver)
      lab.fail(`an RPC that names another organization than its call ${howItWent(turn)} and was not refused`);
    await call.hangUp();
  },
  'message-without-input': async (lab) => {
    const call = await lab.ready();
    const { rpc, endProblem, hasPrompt } = await call.turn('custom_event', {});
    const broken = rpc.ending?.code === status.INVALID_ARGUMENT ? undefined : endProblem;
    if (broken !== undefined) lab.fail(`the RPC of a message without input ${broken}`);
    if (hasPrompt) lab.fail('a message without input was answered with a prompt');
    await call.hangUp();
  },
  'welcome-on-its-rpc': async (lab) => {
    if (lab.suspect.wantsToken && lab.suspect.token === undefined) lab.skip('the server wants a token, and none was given');
    const call = lab.probe.call();
    const welcome = await call.begin();
    // Another check reports that the token is rejected (J-20).
    if (welcome.rpc.ending?.code === status.UNAUTHENTICATED) lab.skip('the server refused the token');
    if (welcome.final === undefined) lab.fail(`SESSION_START ${howItWent(welcome)}`);
    if (!welcome.hasPrompt) lab.fail('SESSION_START was answered without a prompt');
    await call.hangUp();
  },
  'start-may-come-again': async (lab) => {
    await lab.demandKeysWork();
    const { call, welcome } = await lab.begun();
    // Another check reports a welcome without a prompt (G-21).
    if (!welcome.hasPrompt) lab.skip('the first SESSION_START was answered without a prompt');
    await call.heardOut(welcome);
    const again = await call.begin();
    if (again.endProblem !== undefined) lab.fail(`the RPC of a second SESSION_START ${again.endProblem}`);
    if (!again.hasPrompt) lab.fail('a second SESSION_START was answered without a prompt');
    await call.heardOut(again);
    await demandAlive(lab, call, 'a second SESSION_START');
  },
};
