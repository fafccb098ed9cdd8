// All checks for each transport, and the means to run them. Knows no server.
import type { Transport } from '../lines/target.ts';
import type { ProbeCall, ProbeTurn } from './call.ts';
import { checksOf, type Check, type ListedCheck } from './catalog.ts';
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
import { Lab } from './lab.ts';
import type { Probe } from './probe.ts';
import { RpcProbe } from './rpc-probe.ts';
import { Survey, type Acts, type Slots } from './survey.ts';
import type { GivenSuspect, Suspect } from './suspect.ts';
import { ENVELOPE_CHECKS } from './websocket/checks/envelopes.ts';
import { INPUT_CHECKS as SOCKET_INPUT_CHECKS } from './websocket/checks/inputs.ts';
import { KEEP_ALIVE_CHECKS } from './websocket/checks/keep-alive.ts';
import { LIST_CHECKS } from './websocket/checks/lists.ts';
import { REPLY_CHECKS as SOCKET_REPLY_CHECKS } from './websocket/checks/replies.ts';
import { SESSION_CHECKS } from './websocket/checks/sessions.ts';
import { UPGRADE_CHECKS } from './websocket/checks/upgrade.ts';
import { SocketProbe, SOCKET_ACTS } from './websocket/socket-probe.ts';

/** The checks of one transport, and the means to run them. */
export interface Suite {
  readonly checks: readonly Check[];
  /** Opens the transport. Close it after use. */
  open(suspect: GivenSuspect): Probe;
  /** Starts what the checks of one run share. */
  start(suspect: Suspect, slots: Slots): StartedSuite;
}

/** The shared means of one run. `close` must be called. */
export interface StartedSuite {
  lab(): Lab;
  /** Stops the calls that are still running, and places no more. */
  close(): void;
}

/** The suite of one transport. @param acts - recorded calls that only this transport has. */
function suiteOf<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  checks: readonly Check[],
  open: (suspect: GivenSuspect) => Probe<Turn, Call>,
  acts: Acts<Call> = {},
): Suite {
  return {
    ...{ checks, open },
    start: (suspect, slots) => {
      const survey = new Survey<Turn, Call>(suspect, slots, () => open(suspect), acts);
      return {
        lab: () => new Lab(suspect, open(suspect), survey, slots),
        close: () => survey.close(),
      };
    },
  };
}

/** Every check of a gRPC server, in the order of the contract. */
export const CHECKS: readonly Check[] = checksOf({
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
});

/** Every check of a WebSocket server, in the order of the contract. */
export const SOCKET_CHECKS: readonly Check[] = checksOf({
  ...UPGRADE_CHECKS,
  ...ENVELOPE_CHECKS,
  ...SESSION_CHECKS,
  ...SOCKET_REPLY_CHECKS,
  ...SOCKET_INPUT_CHECKS,
  ...KEEP_ALIVE_CHECKS,
  ...LIST_CHECKS,
  ...TOKEN_CHECKS,
  ...SIGNED_TOKEN_CHECKS,
});

/** All checks; those for both transports once. */
export const ALL_CHECKS: readonly (ListedCheck & { readonly transports: readonly Transport[] })[] = [
  ...new Map([...CHECKS, ...SOCKET_CHECKS].map((check) => [check.id, check])).values(),
].map(({ id, rules, title, needs, level }) => ({
  ...{ id, rules, title, needs, level },
  transports: [
    ...(CHECKS.some((check) => check.id === id) ? ['grpc' as const] : []),
    ...(SOCKET_CHECKS.some((check) => check.id === id) ? ['websocket' as const] : []),
  ],
}));

export const RPC_SUITE = suiteOf(CHECKS, (suspect) => new RpcProbe(suspect));

export const SOCKET_SUITE = suiteOf(SOCKET_CHECKS, (suspect) => new SocketProbe(suspect), SOCKET_ACTS);

/** Why a rule cannot be tested from outside: a sentence. Rules with a check are missing here. */
export const UNSEEN: Readonly<Record<string, string>> = {
  'G-22': 'The platform plays prompts in the order of the list; what order a server meant cannot be known.',
  'G-26': 'The welcome of one sample server; others may say less or more.',
  'G-27': 'Whether the welcome can be cut is a setting of the server.',
  'G-3A': 'The times of one gateway; how long a server listens is its own affair.',
  'G-56': 'A freedom: prompts of one reply may differ.',
  'G-68': 'It is about what a server writes into its log.',
  'G-83': 'It is about logs, recordings and transcripts, and which input is sensitive is for the bot to say.',
  'G-91': 'It takes a reply larger than every buffer on the way, and nobody outside can order one.',
  'G-93': 'It takes ten minutes to an hour.',
  'J-01': 'A duty of whoever registers the server.',
  'J-02': 'A duty of whoever registers the server.',
  'J-03': 'The platform does it.',
  'J-05': 'Only the server itself renews its token; `npm run check -- renewal` shows it for ours.',
  'J-13': 'Only an issuer that answers badly would see it, and a server trusts no issuer of ours.',
  'J-2B': 'It takes an issuer that fails; the tests of the token check show it for our server.',
  'J-2D': 'Only the server itself renews its token; `npm run check -- renewal` shows it for ours.',
  'W-02': 'A freedom of whoever registers the server: behind a target a path may stand, and everything is served below it.',
  'W-03': 'A duty of whoever registers the server.',
  'W-04': 'A duty of whoever registers the server.',
  'W-08': 'The platform does it.',
  'W-09': 'A certificate of the client is neither shown nor asked for here, so a server that demands one cannot be reached at all.',
  'W-2A': 'A server need not send anything to a call whose socket is gone, and what it forgets cannot be seen.',
  'W-32': 'How soon a server has its sound is its own affair; nobody outside knows when it was produced.',
  'W-33': 'Older prose that W-30 and W-31 replace.',
  'W-50': 'The platform does it.',
};

/** A rule, and how it is tested from outside. */
interface RuleEntry {
  readonly rule: string;
  /** Checks of the rule; empty when it cannot be tested. */
  readonly checks: readonly Pick<ListedCheck, 'id' | 'level'>[];
  /** Why the rule cannot be tested; empty when it can. */
  readonly unseen: string;
}

export function ruleEntries(): readonly RuleEntry[] {
  const rules = new Set([...Object.keys(UNSEEN), ...ALL_CHECKS.flatMap((check) => check.rules)]);
  return [...rules].sort().map((rule) => ({
    rule,
    checks: ALL_CHECKS.filter((check) => check.rules.includes(rule)),
    unseen: UNSEEN[rule] ?? '',
  }));
}

/** The table of docs/conformance.md. */
export function rulesTable(): string {
  const marked = ({ id, level }: RuleEntry['checks'][number]): string => `\`${id}\`${level === 'must' ? '' : ` (${level})`}`;
  const rows = ruleEntries().map(({ rule, checks, unseen }) => `| ${rule} | ${checks.map(marked).join(', ') || unseen} |`);
  return ['| Rule | Check, or why it cannot be seen from outside |', '| --- | --- |', ...rows].join('\n');
}
