import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { recordingMetrics } from '../../../src/telemetry/recording-metrics.ts';

it('counts recordings, their bytes and those that are lost, from 0 on', async () => {
  const registry = new Registry();
  const metrics = recordingMetrics(registry);
  metrics.recorded('whole', 1000);
  metrics.recorded('cut', 500);
  metrics.lost('disk');
  const text = await registry.metrics();
  for (const line of [
    'parley_recordings_total{outcome="whole"} 1',
    'parley_recordings_total{outcome="cut"} 1',
    'parley_recordings_lost_total{reason="disk"} 1',
    'parley_recordings_lost_total{reason="slow_disk"} 0',
    'parley_recorded_bytes_total 1500',
  ])
    expect(text).toContain(line);
});
