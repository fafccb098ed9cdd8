// Metrics of recordings. Labels come from closed sets.
import type { Registry } from 'prom-client';
import { MetricMaker } from './metric-maker.ts';

const OUTCOMES = ['whole', 'cut'] as const;
const LOSSES = ['disk', 'slow_disk'] as const;

export interface RecordingMetrics {
  recorded(outcome: (typeof OUTCOMES)[number], bytes: number): void;
  lost(reason: (typeof LOSSES)[number]): void;
}

/** Creates the metrics in a registry. */
export function recordingMetrics(registry: Registry): RecordingMetrics {
  const make = new MetricMaker(registry);
  const recordings = make.counter('parley_recordings_total', 'Recordings of calls that were closed; cut ones end before their call.', {
    outcome: OUTCOMES,
  });
  const lost = make.counter('parley_recordings_lost_total', 'Recordings that were cut because the disk failed, was full or too slow.', {
    reason: LOSSES,
  });
  const bytesTotal = make.counter('parley_recorded_bytes_total', 'Bytes of recordings, without their seals.');
  return {
    recorded(outcome, bytes) {
      recordings.inc({ outcome });
      bytesTotal.inc(bytes);
    },
    lost(reason) {
      lost.inc({ reason });
    },
  };
}
