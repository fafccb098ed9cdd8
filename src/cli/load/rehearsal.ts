// One call of every scenario before a load: it tells whether the server takes them at all, and how long they are.
import type { CallLimits } from '../../fake-platform/call-limits.ts';
import { placeCall } from '../../fake-platform/caller.ts';
import type { WeightedScenario } from '../../fake-platform/load/load-run.ts';
import type { ChangeRate } from '../../fake-platform/prompt-sound.ts';
import type { Clock } from '../../base/clock.ts';
import type { Access } from '../call-access.ts';
import type { MixEntry } from './mix.ts';

/** What a rehearsal works with. */
export interface RehearsalOptions {
  readonly access: Access;
  readonly agentId: string;
  readonly clock: Clock;
  readonly limits: CallLimits;
  readonly changeRate: ChangeRate;
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface Rehearsed {
  readonly scenarios: readonly WeightedScenario[];
  /** Why calls failed, a line each; a load of them would measure nothing. */
  readonly failures: readonly string[];
}

/** Holds the calls, beside each other. */
export async function rehearse(mix: readonly MixEntry[], options: RehearsalOptions): Promise<Rehearsed> {
  const { access, agentId, ...more } = options;
  const calls = mix.map(async ({ scenario, weight }) => {
    const { name, script, session, habits, allowPartial, vendorConfig, hangUpAtMs } = scenario;
    const agent = scenario.agentId === '' ? agentId : scenario.agentId;
    const result = await placeCall({
      ...access,
      ...more,
      ...(scenario.organizationId === '' ? {} : { organizationId: scenario.organizationId }),
      ...(agent === '' ? {} : { agentId: agent }),
      ...(hangUpAtMs === undefined ? {} : { hangUpAtMs }),
      ...{ script, sessionStart: session, habits, allowPartial, vendorConfig, keepsSound: false },
    });
    const fatal = result.findings.find((finding) => finding.fatal);
    const failure = result.outcome === 'failed' ? [`${name}: ${fatal?.code ?? 'failed'}: ${fatal?.message ?? 'the call failed'}`] : [];
    return { scenario: { name, weight, meanMs: result.durationMs }, failure };
  });
  const held = await Promise.all(calls);
  return { scenarios: held.map(({ scenario }) => scenario), failures: held.flatMap(({ failure }) => failure) };
}
