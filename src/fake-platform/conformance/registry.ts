// All checks, and for every rule either its checks or why nobody outside can see it. Knows no server.
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
import { CheckLab } from './lab.ts';
import { missed, reach } from './reach.ts';
import type { Suite } from './suite.ts';
import { Survey } from './survey.ts';

/** Every check, in the order of the contract. */
export const CHECKS: readonly Check[] = [
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
].sort((one, other) => (one.rules[0] < other.rules[0] ? -1 : one.rules[0] > other.rules[0] ? 1 : 0));

/** How servers of RPCs are looked at. */
export const RPC_SUITE: Suite<CheckLab> = {
  checks: CHECKS,
  ...{ reach, missed },
  open: (suspect, slots) => {
    const survey = new Survey(suspect, slots);
    return {
      lab: () => new CheckLab(suspect, survey, slots),
      close: () => {
        survey.close();
      },
    };
  },
};
