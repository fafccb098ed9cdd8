// The state of a running load as text.
import type { LoadProgress } from '../../load/load-run.ts';

/** The current figures. */
export function progressText({ live, perSecond, finished, failed, firstAudio, reply }: LoadProgress): string {
  const times = (name: string, { count, p50, p99 }: { count: number; p50: number; p99: number }): string =>
    count === 0 ? '' : `${name} ${p50.toFixed(0)}/${p99.toFixed(0)} ms`;
  return [
    `live ${String(live)}`,
    `${perSecond.toFixed(1)}/s`,
    `over ${String(finished)}`,
    `failed ${String(failed)}`,
    times('first audio p50/p99', firstAudio.percentiles),
    times('reply', reply.percentiles),
  ]
    .filter((part) => part !== '')
    .join('  ');
}

/** A time as minutes and seconds. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}`;
}
