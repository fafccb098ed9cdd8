// Checks of how the server ends and transfers calls.
import { ROUTING_HINT } from '../../../contract/limits.ts';
import { isTerminalEvent } from '../../caller/answer.ts';
import type { Runs } from '../catalog.ts';
import { playMs } from '../heard.ts';
import type { RpcTurn } from '../rpc-call.ts';
import type { RpcLab } from '../rpc-probe.ts';
import { eachTurn, NOTHING, eachCall } from '../shape-check.ts';
import type { Received } from '../wire.ts';
import { chunksOf } from './replies.ts';
import { farewellUncuttable, NO_END, silentAfterEnd } from './shared-inputs.ts';

/** Longest wait for a farewell before the terminal event, ms (G-7A). */
const MAX_FAREWELL_MS = 30_000;
/** Farewells shorter than this prove nothing, ms. */
const MIN_FAREWELL_MS = 600;

const NO_TRANSFER = 'the server handed no call over: name keys upon which it does with --transfer-press';

/** Inspects each response that carries a terminal event of these kinds. */
function eachTerminal(
  kinds: readonly string[],
  otherwise: string,
  inspect: (received: Received) => string | undefined,
): (lab: RpcLab) => Promise<void> {
  return eachTurn(otherwise, ({ rpc }: RpcTurn) => {
    const terminals = rpc.received.filter(({ answer }) => isTerminalEvent(answer.event) && kinds.includes(answer.event.kind));
    if (terminals.length === 0) return NOTHING;
    return terminals.map(inspect).find((said) => said !== undefined);
  });
}

function settingsProblem({ answer: { mode, config } }: Received): string | undefined {
  const carried = [...(mode === undefined ? [] : ['an input mode']), ...(config === undefined ? [] : ['input settings'])];
  return carried.length === 0 ? undefined : `a terminal response carries ${carried.join(' and ')}`;
}

export const ENDING_CHECKS: Runs<RpcLab> = {
  'end-on-final': eachTerminal(['session_end'], NO_END, ({ answer }) =>
    answer.type === 'final' ? undefined : 'SESSION_END came on a response that is no FINAL',
  ),
  'transfer-on-final': eachTerminal(['transfer'], NO_TRANSFER, ({ answer }) =>
    answer.type === 'final' ? undefined : 'TRANSFER_TO_AGENT came on a response that is no FINAL',
  ),
  'one-terminal-event': eachCall(NO_END, ({ turns }) => {
    const terminals = turns.flatMap(({ rpc }) => rpc.answers.filter(({ event }) => isTerminalEvent(event)));
    if (terminals.length === 0) return NOTHING;
    return terminals.length === 1 ? undefined : `${String(terminals.length)} terminal events came in one call`;
  }),
  'end-without-settings': eachTerminal(['session_end'], NO_END, settingsProblem),
  'transfer-without-settings': eachTerminal(['transfer'], NO_TRANSFER, settingsProblem),
  'farewell-cannot-be-cut': farewellUncuttable,
  'transfer-content': eachTerminal(['transfer'], NO_TRANSFER, ({ answer, message }) => {
    if (answer.event?.name !== 'transfer_requested') return 'the event of the transfer is not named transfer_requested';
    const { routing_hint: hint, summary } = answer.event.metadata;
    if (hint !== undefined && !(typeof hint === 'string' && ROUTING_HINT.test(hint)))
      return 'the routing hint is not a letter and up to 63 letters, digits, _ or -';
    const beside = message.session_summary?.text;
    return summary === undefined || beside === undefined || summary === beside ? undefined : 'the two summaries of the transfer differ';
  }),
  'end-waits-for-farewell': eachTurn('no call ended behind a streamed farewell: name keys upon which one does with --end-press', (turn) => {
    const first = turn.rpc.received.find(({ answer }) => answer.type === 'chunk' && answer.prompts.some(({ audio }) => audio.length > 0));
    const end = turn.rpc.received.find(({ answer }) => isTerminalEvent(answer.event));
    if (first === undefined || end === undefined) return NOTHING;
    const farewellMs = chunksOf(turn).reduce((sum, { prompts }) => sum + prompts.reduce((ms, prompt) => ms + playMs(prompt), 0), 0);
    if (farewellMs < MIN_FAREWELL_MS) return NOTHING;
    const waitedMs = end.atMs - first.atMs;
    // Half is enough: neither side knows exactly when the platform begins to play, and a busy machine is late.
    if (waitedMs >= Math.min(MAX_FAREWELL_MS, farewellMs) / 2) return undefined;
    return `the terminal event came ${String(Math.round(waitedMs))} ms after the first of ${String(Math.round(farewellMs))} ms of farewell`;
  }),
  // A summary in an earlier reply is legal, and ignored (G-26).
  'summary-on-last-response': eachTurn(
    'no call that the server ended had a transcript or a summary in its last reply',
    ({ rpc, terminal }) => {
      const carrying = rpc.received.filter(({ message }) => message.session_transcript ?? message.session_summary);
      if (terminal === undefined || carrying.length === 0) return NOTHING;
      return carrying.some(({ answer }) => isTerminalEvent(answer.event))
        ? undefined
        : 'a transcript or summary came before the last response, which has none';
    },
  ),
  'silent-after-the-end': silentAfterEnd(NO_END),
};
