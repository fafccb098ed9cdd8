// Places one planned call and says what was wrong with it, in the same words for callers of both kinds.
import { loadProfile } from '../src/contract/profile.ts';
import { placeCall } from '../src/fake-platform/caller/caller.ts';
import { timelineText } from '../src/fake-platform/caller/result-text.ts';
import type { FairPlan, RoughPlan } from './soak-plans.ts';
import { placeRoughCall } from './soak-rough-call.ts';

/** Longest wait for an RPC's answer, ms: the machine may do other things beside. */
const ANSWER_LIMIT_MS = 20_000;
const CALL_LIMIT_MS = 180_000;

/** Where to call and who to be. */
export interface CallAccess {
  readonly port: number;
  readonly certificatePem: string;
  readonly token: string;
  readonly organizationId: string;
  /** What callers say, spoken: µ-law, 8 kHz. */
  readonly phrases: readonly Uint8Array[];
}

/** How a call went. */
export interface CallOutcome {
  readonly turns: number;
  /** One line for each thing that was wrong. */
  readonly wrong: readonly string[];
  /** The call could not be held to its end. */
  readonly isFailed: boolean;
  readonly timeline: readonly string[];
}

/** Places the call; what goes wrong with it is in the outcome, never thrown. */
export async function placePlanned(plan: FairPlan | RoughPlan, access: CallAccess): Promise<CallOutcome> {
  try {
    return await (plan.kind === 'fair' ? placeFair(plan, access) : placeRough(plan, access));
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : 'something that is no error was thrown';
    return { turns: 0, wrong: [`the caller itself failed: ${message}`], isFailed: true, timeline: [] };
  }
}

async function placeFair(plan: FairPlan, { port, certificatePem, token, organizationId }: CallAccess): Promise<CallOutcome> {
  const result = await placeCall({
    target: `grpcs://localhost:${String(port)}`,
    profile: loadProfile('fake'),
    organizationId,
    token,
    bearer: plan.bearer,
    certificateAuthority: Buffer.from(certificatePem),
    ...(plan.agentId === '' ? {} : { agentId: plan.agentId }),
    script: plan.script,
    habits: plan.habits,
    limits: { answerMs: ANSWER_LIMIT_MS, callMs: CALL_LIMIT_MS, connectMs: ANSWER_LIMIT_MS },
    ...(plan.breakAtMs === undefined ? {} : { signal: AbortSignal.timeout(plan.breakAtMs) }),
    ...(plan.hangUpAtMs === undefined ? {} : { hangUpAtMs: plan.hangUpAtMs }),
  });
  return {
    turns: Math.max(0, ...result.timeline.map(({ turn }) => turn ?? 0)),
    wrong: result.findings.map(wrongLine),
    isFailed: result.outcome === 'failed',
    timeline: result.timeline.map(timelineText(false)),
  };
}

async function placeRough(plan: RoughPlan, access: CallAccess): Promise<CallOutcome> {
  const { turns, findings, timeline } = await placeRoughCall(plan, access);
  return { turns, wrong: findings.map(wrongLine), isFailed: false, timeline };
}

function wrongLine({ code, rule, message, turn }: { code: string; rule?: string; message: string; turn?: number }): string {
  return `${rule === undefined ? '' : `${rule} `}${code}${turn === undefined ? '' : ` on RPC ${String(turn)}`}: ${message}`;
}
