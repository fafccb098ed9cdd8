// Metrics of turns that are forwarded to the home of their call. Such turns do not count in this server's other metrics.
import type { Registry } from 'prom-client';
import { FORWARD_OUTCOMES, type ForwardOutcome } from '../dialog/home.ts';
import { MetricMaker } from './metric-maker.ts';

const ANSWER_BUCKETS_S = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface ForwardMetrics {
  readonly forwardOpened: () => void;
  /** The home has begun to answer a turn that needs a reply at once. */
  readonly homeAnswered: (afterMs: number) => void;
  /** Called once for each opened turn. */
  readonly forwardEnded: (outcome: ForwardOutcome, bytes: { readonly toHome: number; readonly toPlatform: number }) => void;
}

/** Creates the metrics in a registry. */
export function forwardMetrics(registry: Registry): ForwardMetrics {
  const make = new MetricMaker(registry);
  const open = make.gauge('parley_forwarded_streams_open', 'Turns that are being forwarded.');
  const ended = make.counter('parley_forwarded_streams_total', 'Turns that were forwarded.', {
    outcome: FORWARD_OUTCOMES,
  });
  const bytes = make.counter('parley_forwarded_bytes_total', 'Bytes of messages in finished forwarded turns.', {
    direction: ['to_home', 'to_platform'],
  });
  const answers = make.histogram(
    'parley_forwarded_answer_seconds',
    'Time until the first answer of the home of a call, for turns that need one at once.',
    ANSWER_BUCKETS_S,
  );
  return {
    forwardOpened: () => {
      open.inc();
    },
    homeAnswered: (afterMs) => {
      answers.observe(afterMs / 1000);
    },
    forwardEnded: (outcome, { toHome, toPlatform }) => {
      open.dec();
      ended.inc({ outcome });
      bytes.inc({ direction: 'to_home' }, toHome);
      bytes.inc({ direction: 'to_platform' }, toPlatform);
    },
  };
}
