// Objects of operators that a cluster may have beside deploy/kubernetes: by schemas written by hand from the definitions of their kinds,
// since no package brings these, and against the objects that they stand beside.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { SHIPPED } from '../../scripts/bench/autoscaler.ts';
import { PROMETHEUS_RULE, prometheusRule } from '../../scripts/prometheus-rule.mjs';
import { metricsOf, foreignMetrics, RULES } from '../support/metric-names.ts';
import { ROOT } from '../support/source-tree.ts';

const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const METADATA = z.strictObject({ name: z.literal('parley'), namespace: z.literal('parley') });
const SERVICE_MONITOR = z.strictObject({
  ...{ apiVersion: z.literal('monitoring.coreos.com/v1'), kind: z.literal('ServiceMonitor'), metadata: METADATA },
  spec: z.strictObject({
    selector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
    endpoints: z.tuple([z.strictObject({ port: z.string(), path: z.literal('/metrics'), interval: z.string().regex(/^\d+s$/u) })]),
  }),
});
const TRIGGER = z.discriminatedUnion('type', [
  z.strictObject({
    ...{ type: z.literal('prometheus'), metricType: z.literal('AverageValue') },
    metadata: z.strictObject({ serverAddress: z.url(), query: z.string(), threshold: z.string().regex(/^\d+$/u) }),
  }),
  z.strictObject({
    ...{ type: z.literal('cpu'), metricType: z.literal('Utilization') },
    metadata: z.strictObject({ value: z.string().regex(/^\d+$/u) }),
  }),
]);
const SCALED_OBJECT = z.strictObject({
  ...{ apiVersion: z.literal('keda.sh/v1alpha1'), kind: z.literal('ScaledObject'), metadata: METADATA },
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ name: z.string() }),
    ...{ minReplicaCount: z.int(), maxReplicaCount: z.int(), pollingInterval: z.int() },
    triggers: z.array(TRIGGER),
    advanced: z.strictObject({ horizontalPodAutoscalerConfig: z.strictObject({ behavior: z.unknown() }) }),
  }),
});
const AUTOSCALER = z.object({
  spec: z.object({
    scaleTargetRef: z.object({ name: z.string() }),
    ...{ minReplicas: z.number(), maxReplicas: z.number(), behavior: z.unknown() },
    metrics: z.tuple([
      z.object({ pods: z.object({ metric: z.object({ name: z.string() }), target: z.object({ averageValue: z.string() }) }) }),
      z.object({ resource: z.object({ name: z.literal('cpu'), target: z.object({ averageUtilization: z.number() }) }) }),
    ]),
  }),
});

describe('objects for the Prometheus operator', () => {
  it('have the rules of deploy/prometheus: otherwise run `npm run generate` and commit them', async () => {
    const text = textOf(PROMETHEUS_RULE);
    expect(text).toBe(await prometheusRule(ROOT));
    const { spec } = z.object({ spec: z.object({ groups: z.array(z.object({ rules: z.array(z.unknown()) })) }) }).parse(parse(text));
    expect(spec.groups.flatMap(({ rules }) => rules)).toEqual(RULES);
  });

  it('find the Service by its label and its port, under the job that the rules know', () => {
    const { spec } = SERVICE_MONITOR.parse(parse(textOf('deploy/prometheus-operator/service-monitor.yaml')));
    const service = z
      .object({ metadata: z.object({ name: z.string() }), spec: z.object({ ports: z.array(z.object({ name: z.string() })) }) })
      .parse(parse(textOf('deploy/kubernetes/service.yaml')));
    expect(service.spec.ports.map(({ name }) => name)).toContain(spec.endpoints[0].port);
    // The operator takes the name of the Service for the job.
    expect(RULES.map(({ expr }) => expr).join('\n')).toContain(`up{job=~"${service.metadata.name}.*"}`);
    const { namespace, labels } = z
      .object({ namespace: z.string(), labels: z.array(z.object({ pairs: z.record(z.string(), z.string()) })) })
      .parse(parse(textOf('deploy/kubernetes/kustomization.yaml')));
    expect(labels[0]?.pairs).toMatchObject(spec.selector.matchLabels);
    expect(namespace).toBe('parley');
  });
});

describe('the scaler of KEDA', () => {
  it('scales as the autoscaler does that it replaces', () => {
    const { spec } = SCALED_OBJECT.parse(parse(textOf('deploy/keda/scaled-object.yaml')));
    const { scaleTargetRef, minReplicas, maxReplicas, behavior, metrics } = AUTOSCALER.parse(
      parse(textOf('deploy/kubernetes/autoscaler.yaml')),
    ).spec;
    const [{ pods }, { resource }] = metrics;
    expect([spec.scaleTargetRef.name, spec.minReplicaCount, spec.maxReplicaCount]).toEqual([scaleTargetRef.name, minReplicas, maxReplicas]);
    expect(spec.advanced.horizontalPodAutoscalerConfig.behavior).toEqual(behavior);
    const [calls, cpu] = spec.triggers;
    expect(cpu?.metadata).toEqual({ value: String(resource.target.averageUtilization) });
    expect(calls?.metadata).toMatchObject({ threshold: pods.target.averageValue });
    const query = calls?.type === 'prometheus' ? calls.metadata.query : '';
    expect(metricsOf(query)).toEqual([pods.metric.name]);
    expect(foreignMetrics(query)).toEqual([]);
  });

  it('and the autoscaler have the numbers that docs/capacity.md names and plays its fleet with', () => {
    const { minReplicas, maxReplicas, behavior, metrics } = AUTOSCALER.parse(parse(textOf('deploy/kubernetes/autoscaler.yaml'))).spec;
    const [{ pods }, { resource }] = metrics;
    const { targetCalls, targetCpuPercent, least, most, up, down } = SHIPPED;
    expect([Number(pods.target.averageValue), resource.target.averageUtilization]).toEqual([targetCalls, targetCpuPercent]);
    expect([minReplicas, maxReplicas]).toEqual([least, most]);
    const policy = (type: string, value: number, periodSeconds: number) => ({ type, value, periodSeconds });
    expect(behavior).toEqual({
      scaleUp: {
        stabilizationWindowSeconds: 0,
        policies: [policy('Percent', up.percent, up.periodS), policy('Pods', up.pods, up.periodS)],
        selectPolicy: 'Max',
      },
      scaleDown: { stabilizationWindowSeconds: down.windowS, policies: [policy('Pods', down.pods, down.periodS)] },
    });
  });
});
