// What can be counted about turns that are passed on to the server in which their call lives. They are no turns of this server, and
// count nowhere else here.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { FORWARD_OUTCOMES, type ForwardOutcome } from '../dialog/home.ts';

/** From a home on the same machine to one whose bot thinks. */
const ANSWER_BUCKETS_S = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts what those report who forward turns. */
export interface ForwardMetrics {
  /** A turn is forwarded from now on. */
  readonly forwardOpened: () => void;
  /** The home of a turn that wants an answer at once has begun to answer it. */
  readonly homeAnswered: (afterMs: number) => void;
  /** Once for each that was opened. */
  readonly forwardEnded: (outcome: ForwardOutcome, bytes: { readonly toHome: number; readonly toPlatform: number }) => void;
}

/** Creates them in a registry. */
export function forwardMetrics(registry: Registry): ForwardMetrics {
  const registers = [registry];
  const open = new Gauge({
    name: 'parley_forwarded_streams_open',
    help: 'Turns that are passed on to the server in which their call lives, now.',
    registers,
  });
  const ended = new Counter({
    name: 'parley_forwarded_streams_total',
    help: 'Turns that were passed on to the server in which their call lives, by how that ended.',
    labelNames: ['outcome'],
    registers,
  });
  const bytes = new Counter({
    name: 'parley_forwarded_bytes_total',
    help: 'Bytes of messages in turns that were passed on and have ended, by direction.',
    labelNames: ['direction'],
    registers,
  });
  const answers = new Histogram({
    name: 'parley_forwarded_answer_seconds',
    help: 'Time until the first answer came from the server in which a call lives, in seconds, of turns that want one at once.',
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
