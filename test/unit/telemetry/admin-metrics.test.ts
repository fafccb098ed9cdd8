import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { REGISTRATION_OUTCOMES } from '../../../src/admin/webhooks/registration.ts';
import { DELIVERY_OUTCOMES } from '../../../src/admin/webhooks/receiver.ts';
import { SERVICE_APP_EVENTS } from '../../../src/admin/webhooks/delivery.ts';
import { TRANSITIONS } from '../../../src/admin/lifecycle/ports.ts';
import { adminMetrics } from '../../../src/telemetry/admin-metrics.ts';
import { watchedSource as source } from '../../support/watched-source.ts';

function open() {
  const registry = new Registry();
  const metrics = adminMetrics(registry);
  const lines = async (name: string): Promise<string[]> => (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));
  return { metrics, lines };
}

describe('the metrics of the administration', () => {
  it('have every label value from the start, those of the administration and no others', async () => {
    const { lines } = open();
    expect(await lines('parley_data_source_transitions_total')).toHaveLength(TRANSITIONS.length * 2);
    expect(await lines('parley_webhook_deliveries_total')).toEqual(
      DELIVERY_OUTCOMES.map((each) => expect.stringContaining(`"${each}"`) as string),
    );
    expect(await lines('parley_webhook_registrations_total')).toHaveLength(REGISTRATION_OUTCOMES.length * SERVICE_APP_EVENTS.length);
  });

  it('P-16 show the worst data source, whoever it belongs to', async () => {
    const { metrics, lines } = open();
    expect(await lines('parley_data_source_token_expiry_seconds')).toEqual([]);
    const states = [source({}), source({ expiresAtMs: 40_000, isAlarming: true }), source({ isServed: false, expiresAtMs: undefined })];
    metrics.watch(
      () => states,
      () => 10_000,
    );
    expect(await lines('parley_data_source_token_expiry_seconds')).toEqual([
      'parley_data_source_token_expiry_seconds{transport="grpc"} 30',
    ]);
    expect(await lines('parley_data_sources_alarming{transport="grpc"}')).toEqual(['parley_data_sources_alarming{transport="grpc"} 1']);
    expect(await lines('parley_data_sources{transport="grpc"')).toEqual([
      'parley_data_sources{transport="grpc",served="yes"} 2',
      'parley_data_sources{transport="grpc",served="no"} 1',
    ]);
    states.length = 0;
    expect(await lines('parley_data_source_token_expiry_seconds')).toEqual([]);
  });

  it('say of each webhook whether it was right at the last look', async () => {
    const { metrics, lines } = open();
    const state = async (): Promise<string[]> => (await lines('parley_webhook_registered')).map((line) => line.slice(-1));
    expect(await state()).toEqual(['0', '0']);
    metrics.registered('authorized', 'created');
    metrics.registered('deauthorized', 'kept');
    expect(await state()).toEqual(['1', '1']);
    metrics.registered('authorized', 'failed');
    metrics.registered('authorized', 'duplicate');
    expect(await state()).toEqual(['0', '1']);
  });

  it('say whether the login of the integration was good at the last look, and no harm before it', async () => {
    const { metrics, lines } = open();
    const said: string[] = [...(await lines('parley_integration_login'))];
    for (const isGood of [false, true]) {
      metrics.loginChecked(isGood);
      said.push(...(await lines('parley_integration_login')));
    }
    expect(said.map((line) => line.slice(-1))).toEqual(['1', '0', '1']);
  });

  it('count what happens', async () => {
    const { metrics, lines } = open();
    metrics.dataSourceChanged('grpc', 'renewed');
    metrics.delivered('unsigned');
    metrics.eventFailed('authorized');
    const counted = await Promise.all(
      ['parley_data_source_transitions_total', 'parley_webhook_deliveries_total', 'parley_authorization_failures_total'].map(lines),
    );
    expect(counted.flat().filter((line) => line.endsWith(' 1'))).toEqual([
      'parley_data_source_transitions_total{transport="grpc",transition="renewed"} 1',
      'parley_webhook_deliveries_total{outcome="unsigned"} 1',
      'parley_authorization_failures_total{event="authorized"} 1',
    ]);
  });
});
