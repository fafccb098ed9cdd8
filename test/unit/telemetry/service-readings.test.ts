import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { joinedServices, servicesIn, type ServiceReading } from '../../../src/telemetry/service-readings.ts';
import { CALM, callFacts, REPORT } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

type Counted = ReturnType<typeof createMetrics>;

async function readAfter(happens: (metrics: Counted) => void): Promise<readonly ServiceReading[]> {
  const metrics = createMetrics({ knownBots: ['echo'], clock: new FakeClock(), load: CALM, processMetrics: false, maxSessions: 10 });
  happens(metrics);
  return servicesIn(await metrics.reading());
}

it('reads what the metrics have counted of speech services and models', async () => {
  const reading = await readAfter(({ voice, sessions }) => {
    voice.requestEnded('recognizer', 'ok', 150);
    voice.requestEnded('recognizer', 'cancelled', 1);
    voice.requestEnded('recognizer', 'circuit_open', 0);
    voice.requestRetried('recognizer');
    voice.circuitChanged('recognizer', 'open');
    sessions.modelReported(callFacts(), 't', REPORT);
  });
  expect(reading.map(({ kind, name }) => [kind, name])).toEqual([
    ...['recognizer', 'recognition_stream', 'synthesizer'].map((name) => ['speech', name]),
    ['model', 'small'],
  ]);
  expect(reading[0]).toMatchObject({ circuit: 'open', requests: 3, failed: 1, retried: 1 });
  expect(reading[1]).toMatchObject({ circuit: 'closed', requests: 0 });
  expect(reading[3]).toMatchObject({ requests: 1 });
  expect(reading[3]).not.toHaveProperty('circuit');
});

it('adds up what several processes have counted, with the worst circuit', async () => {
  const one = await readAfter(({ voice }) => {
    voice.requestEnded('synthesizer', 'ok', 80);
    voice.circuitChanged('synthesizer', 'half_open');
  });
  const other = await readAfter(({ voice, sessions }) => {
    voice.requestEnded('synthesizer', 'ok', 90);
    sessions.modelReported(callFacts(), 't', REPORT);
  });
  const joined = joinedServices([one, other]);
  expect(joined).toHaveLength(4);
  const synthesizer = joined.find(({ name }) => name === 'synthesizer');
  expect(synthesizer).toMatchObject({ requests: 2, failed: 0, circuit: 'half_open' });
  expect(synthesizer?.p95Ms).toBeGreaterThan(50);
  expect(synthesizer?.p95Ms).toBeLessThanOrEqual(100);
  expect(joined.find(({ name }) => name === 'small')?.p50Ms).toBeLessThanOrEqual(500);
  expect(joined.find(({ name }) => name === 'recognizer')).not.toHaveProperty('p50Ms');
});
