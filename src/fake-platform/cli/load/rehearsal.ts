// Places one call of every scenario before a load: shows whether the server accepts these calls, and how long they take.
import { DEFAULT_LIMITS } from '../../caller/call-clock.ts';
import { placeCall, type CallResult } from '../../caller/caller.ts';
import { transferReason } from '../../load/call-facts.ts';
import { KnownSounds, PromptWatch, type KnownSound } from '../../load/prompt-watch.ts';
import type { WeightedScenario } from '../../load/load-run.ts';
import type { ChangeRate } from '../../caller/prompt-sound.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Access } from '../call-access.ts';
import type { MixEntry } from './mix.ts';

export interface RehearsalOptions {
  readonly access: Access;
  readonly clock: Clock;
  readonly changeRate: ChangeRate;
  readonly signal: AbortSignal;
}

export interface Rehearsed {
  readonly scenarios: readonly WeightedScenario[];
  /** The mix, with call limits that leave room for calls that take twice as long under load. */
  readonly mix: readonly MixEntry[];
  /** Why rehearsed calls failed, one line each; a load of these calls would measure nothing. */
  readonly failures: readonly string[];
  /** Other remarks about the rehearsed calls, one line each. */
  readonly notes: readonly string[];
  /** Sounds that callers heard in the rehearsal, while there was no load. */
  readonly sounds: readonly KnownSound[];
}

/** Reasons of transfers that our server decides, not a bot: calls with such a transfer are not good calls. */
export const SERVER_REASONS: ReadonlySet<string> = new Set([
  ...['draining', 'total', 'organization', 'organization_rate', 'organization_share', 'streams', 'loop_delay', 'memory', 'store'],
  ...['failed', 'too_long', 'shutdown'],
]);

/** Limit of a call in a load, as a multiple of the length of the rehearsed call. */
const ROOM = 2;

/** Places one call of each scenario, in parallel. */
export async function rehearse(mix: readonly MixEntry[], options: RehearsalOptions): Promise<Rehearsed> {
  const { access, ...more } = options;
  const known = new KnownSounds();
  const calls = mix.map(async ({ scenario, weight, expectsTransfer }) => {
    const { name, limits = {} } = scenario;
    const watch = new PromptWatch(known);
    const result = await placeCall({ ...access, ...more, ...scenario, keepsSound: false, overLine: (line) => watch.over(line) });
    watch.compare();
    const failure = failureOf(result, expectsTransfer);
    const transfer = transferOf(result);
    const callMs = limits.callMs ?? Math.max(DEFAULT_LIMITS.callMs, ROOM * result.durationMs);
    const entry = {
      weight,
      scenario: { ...scenario, limits: { ...limits, callMs }, ...(transfer && { expectedTransfer: transfer.reason }) },
    };
    const failures = failure === undefined ? [] : [`${name}: ${failure}`];
    const note =
      transfer === undefined ? [] : [`${name}: a transfer with the reason "${transfer.reason}" is expected, as in the rehearsal`];
    return { scenario: { name, weight, meanMs: result.durationMs }, entry, failures, notes: note };
  });
  const held = await Promise.all(calls);
  return {
    scenarios: held.map(({ scenario }) => scenario),
    mix: held.map(({ entry }) => entry),
    failures: held.flatMap(({ failures }) => failures),
    notes: held.flatMap(({ notes }) => notes),
    sounds: known.all,
  };
}

/** How the server transferred the caller; undefined when it did not. */
function transferOf({ outcome, terminal }: CallResult): { readonly reason: string; readonly turn: number } | undefined {
  return outcome === 'transferred' && terminal !== undefined ? { reason: transferReason(terminal), turn: terminal.turn } : undefined;
}

/** Why a load of such calls would measure nothing: the call failed, or was transferred for a reason of the server or without a welcome. */
function failureOf(result: CallResult, expectsTransfer: boolean | undefined): string | undefined {
  if (result.outcome === 'failed') {
    const fatal = result.findings.find((finding) => finding.fatal);
    return `${fatal?.code ?? 'failed'}: ${fatal?.message ?? 'the call failed'}`;
  }
  const transfer = transferOf(result);
  if (transfer === undefined) return undefined;
  if (!SERVER_REASONS.has(transfer.reason) && (expectsTransfer ?? transfer.turn > 1)) return undefined;
  return `unexpected_transfer: the server transferred the caller unasked, with the reason "${transfer.reason}"`;
}
