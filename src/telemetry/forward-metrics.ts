// Metrics of turns that are forwarded to the home of their call. They are not in this server's other metrics.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { FORWARD_OUTCOMES, type ForwardOutcome } from '../dialog/home.ts';

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
  const registers = [registry];
  const open = new Gauge({
    name: 'parley_forwarded_streams_open',
    help: 'Turns that are being forwarded to the home of their call.',
    registers,
  });
  const ended = new Counter({
    name: 'parley_forwarded_streams_total',
    help: 'Turns that were forwarded to the home of their call, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const bytes = new Counter({
    name: 'parley_forwarded_bytes_total',
    help: 'Bytes of messages in finished forwarded turns, by direction.',
    labelNames: ['direction'],
    registers,
  });
  const answers = new Histogram({
    name: 'parley_forwarded_answer_seconds',
    help: 'Time until the first answer of the home of a call, in seconds, for turns that need one at once.',
    buckets: ANSWER_BUCKETS_S,
    registers,
  });
  for (const outcome of FORWARD_OUTCOMES) ended.inc({ outcome }, 0);
  for (const direction of ['to_home', 'to_platform']) bytes.inc({ direction }, 0);
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
