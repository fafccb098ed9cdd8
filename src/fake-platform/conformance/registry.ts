// All checks for each transport, and what is needed to run them. Knows no server.
import type { Transport } from '../lines/target.ts';
import type { Check } from './check.ts';
import { ENDING_CHECKS } from './checks/endings.ts';
import { INPUT_CHECKS } from './checks/inputs.ts';
import { OVERLAP_CHECKS } from './checks/overlap.ts';
import { REPLY_CHECKS } from './checks/replies.ts';
import { ROBUSTNESS_CHECKS } from './checks/robustness.ts';
import { RPC_SIGNED_TOKEN_CHECKS, SIGNED_TOKEN_CHECKS } from './checks/signed-tokens.ts';
import { SPEECH_CHECKS } from './checks/speech.ts';
import { RPC_TOKEN_CHECKS, TOKEN_CHECKS } from './checks/tokens.ts';
import { TRANSPORT_CHECKS } from './checks/transport.ts';
import { TURN_CHECKS } from './checks/turns.ts';
import type { Lab } from './lab.ts';
import { RpcProbe, type RpcLab } from './rpc-probe.ts';
import { suiteOf } from './suite.ts';
import type { Level } from './verdict.ts';
import { ENVELOPE_CHECKS } from './websocket/checks/envelopes.ts';
import { INPUT_CHECKS as SOCKET_INPUT_CHECKS } from './websocket/checks/inputs.ts';
import { KEEP_ALIVE_CHECKS } from './websocket/checks/keep-alive.ts';
import { LIST_CHECKS } from './websocket/checks/lists.ts';
import { REPLY_CHECKS as SOCKET_REPLY_CHECKS } from './websocket/checks/replies.ts';
import { SESSION_CHECKS } from './websocket/checks/sessions.ts';
import { UPGRADE_CHECKS } from './websocket/checks/upgrade.ts';
import { SOCKET_ACTS } from './websocket/socket-acts.ts';
import { SocketProbe, type SocketLab } from './websocket/socket-probe.ts';

/** Every check of a gRPC server, in the order of the contract. */
export const CHECKS: readonly Check<RpcLab>[] = inOrder<RpcLab>([
  ...TRANSPORT_CHECKS,
  ...TURN_CHECKS,
  ...SPEECH_CHECKS,
  ...INPUT_CHECKS,
  ...REPLY_CHECKS,
  ...OVERLAP_CHECKS,
  ...ENDING_CHECKS,
  ...ROBUSTNESS_CHECKS,
  ...TOKEN_CHECKS,
  ...RPC_TOKEN_CHECKS,
  ...SIGNED_TOKEN_CHECKS,
  ...RPC_SIGNED_TOKEN_CHECKS,
]);

/** Every check of a WebSocket server, in the order of the contract. */
export const SOCKET_CHECKS: readonly Check<SocketLab>[] = inOrder<SocketLab>([
  ...UPGRADE_CHECKS,
  ...ENVELOPE_CHECKS,
  ...SESSION_CHECKS,
  ...SOCKET_REPLY_CHECKS,
  ...SOCKET_INPUT_CHECKS,
  ...KEEP_ALIVE_CHECKS,
  ...LIST_CHECKS,
  ...TOKEN_CHECKS,
  ...SIGNED_TOKEN_CHECKS,
]);

/** The name of a check, what it covers, and over which transports. */
export interface ListedCheck extends Pick<Check, 'id' | 'rules' | 'title' | 'needs'> {
  readonly level: Level;
  readonly transports: readonly Transport[];
}

/** All checks, those of tokens once. */
export const ALL_CHECKS: readonly ListedCheck[] = [
  ...new Set<ListedCheck | Check<RpcLab> | Check<SocketLab>>([...CHECKS, ...SOCKET_CHECKS]),
].map(({ id, rules, title, needs, level = 'must' }) => ({
  ...{ id, rules, title, needs, level },
  transports: [
    ...(CHECKS.some((check) => check.id === id) ? ['grpc' as const] : []),
    ...(SOCKET_CHECKS.some((check) => check.id === id) ? ['websocket' as const] : []),
  ],
}));

function inOrder<Surroundings extends Lab>(checks: readonly Check<Surroundings>[]): readonly Check<Surroundings>[] {
  return checks.toSorted(byRule);
}

function byRule({ rules: [one] }: Pick<Check, 'rules'>, { rules: [other] }: Pick<Check, 'rules'>): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** How to check gRPC servers. */
export const RPC_SUITE = suiteOf(CHECKS, (suspect) => new RpcProbe(suspect));

/** How to check WebSocket servers. */
export const SOCKET_SUITE = suiteOf(SOCKET_CHECKS, (suspect) => new SocketProbe(suspect), SOCKET_ACTS);
