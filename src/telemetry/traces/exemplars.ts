// Exemplars: for each bucket of the reply latency, the latest traced reply, so that a panel of Grafana leads to its trace. Only the
// text format OpenMetrics supports them.
import type { Clock } from '../../base/clock.ts';
import { LATENCY_BUCKETS_S } from '../call-metrics.ts';

/** Keeps one reply per bucket and bot, and adds them to metrics. */
export class Exemplars {
  readonly #clock: Pick<Clock, 'nowMs'>;
  /** Exemplars by the name and labels of their bucket, as the metrics write them. */
  readonly #latest = new Map<string, string>();

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  /** A reply of a traced call began to sound. */
  note(bot: string, latencyMs: number, traceId: string): void {
    const bound = LATENCY_BUCKETS_S.find((each) => latencyMs <= each * 1000) ?? '+Inf';
    const series = `parley_reply_latency_seconds_bucket{le="${String(bound)}",bot="${bot}"}`;
    this.#latest.set(series, ` # {trace_id="${traceId}"} ${String(latencyMs / 1000)} ${String(this.#clock.nowMs() / 1000)}`);
  }

  /** Metrics in the text format of Prometheus as OpenMetrics, with exemplars. */
  openMetrics(text: string): string {
    const written = text
      .replaceAll(/^# HELP (\w+)_total (.*)\n# TYPE \w+_total counter$/gmu, '# HELP $1 $2\n# TYPE $1 counter')
      .replaceAll(/\n{2,}/gu, '\n')
      .replaceAll(
        /^(parley_reply_latency_seconds_bucket\{\S+\}) .*$/gmu,
        (line, series: string) => line + (this.#latest.get(series) ?? ''),
      );
    return `${written.trimEnd()}\n# EOF\n`;
  }
}
