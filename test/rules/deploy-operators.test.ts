// Objects of operators that a cluster may have beside deploy/kubernetes: by schemas written by hand from the definitions of their kinds,
// since no package brings these, and against the objects that they stand beside.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod';
import { SHIPPED } from '../../scripts/bench/autoscaler.ts';
import { PROMETHEUS_RULE, prometheusRule } from '../../scripts/prometheus-rule.mjs';
import { requireDebian } from '../support/debian.ts';
import { metricsOf, foreignMetrics, RULES } from '../support/metric-names.ts';
import { PROMETHEUS_NEEDS, promtool } from '../support/promtool.ts';
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

describe('the adapter for custom metrics', () => {
  const RULE = z.strictObject({
    ...{ seriesQuery: z.string(), metricsQuery: z.string(), name: z.strictObject({ as: z.string() }) },
    resources: z.strictObject({ overrides: z.record(z.string(), z.strictObject({ resource: z.string() })) }),
  });
  const VALUES = z.strictObject({
    prometheus: z.strictObject({ url: z.url(), port: z.int() }),
    rules: z.strictObject({ default: z.literal(false), custom: z.tuple([RULE]) }),
  });

  it('gives the autoscaler the metric that it names, of one pod, by a query that Prometheus understands', () => {
    requireDebian(PROMETHEUS_NEEDS);
    const [{ seriesQuery, metricsQuery, name, resources }] = VALUES.parse(parse(textOf('deploy/prometheus-adapter/rules.yaml'))).rules
      .custom;
    const [{ pods }] = AUTOSCALER.parse(parse(textOf('deploy/kubernetes/autoscaler.yaml'))).spec.metrics;
    expect(name.as).toBe(pods.metric.name);
    expect(metricsOf(seriesQuery)).toEqual([pods.metric.name]);
    for (const label of Object.keys(resources.overrides)) expect(seriesQuery).toContain(`${label}!=""`);
    // As the adapter fills it in for the pods of a namespace.
    const query = metricsQuery
      .replace('<<.Series>>', pods.metric.name)
      .replace('<<.LabelMatchers>>', 'namespace="parley",pod=~"a|b"')
      .replace('<<.GroupBy>>', 'pod');
    expect(query).not.toContain('<<');
    const folder = mkdtempSync(path.join(tmpdir(), 'parley-adapter-'));
    const series = (pod: string, bot: string, calls: string) => ({
      series: `${pods.metric.name}{namespace="parley",pod="${pod}",bot="${bot}"}`,
      values: calls,
    });
    const test = {
      interval: '1m',
      input_series: [series('a', 'one', '2 2'), series('a', 'two', '3 3'), series('b', 'one', '4 4'), series('other', 'one', '9 9')],
      promql_expr_test: [
        {
          expr: query,
          eval_time: '1m',
          exp_samples: [
            { labels: '{pod="a"}', value: 5 },
            { labels: '{pod="b"}', value: 4 },
          ],
        },
      ],
    };
    const file = path.join(folder, 'adapter.test.yaml');
    writeFileSync(file, stringify({ evaluation_interval: '1m', tests: [test] }));
    expect(promtool('test', 'rules', file)).toMatchObject({ ok: true });
    rmSync(folder, { recursive: true });
  });
});

describe('the objects of the Gateway API', () => {
  const NAMED = z.strictObject({ name: z.string(), namespace: z.literal('parley') });
  const API = z.literal('gateway.networking.k8s.io/v1');
  const PARENT = z.strictObject({ name: z.literal('parley'), sectionName: z.string() });
  const ROUTE_SPEC = z.strictObject({
    parentRefs: z.tuple([PARENT]),
    hostnames: z.tuple([z.string()]),
    rules: z.tuple([z.strictObject({ backendRefs: z.tuple([z.strictObject({ name: z.literal('parley'), port: z.int() })]) })]),
  });
  const LISTENER = z.discriminatedUnion('protocol', [
    z.strictObject({
      ...{ name: z.string(), hostname: z.string(), port: z.literal(443), protocol: z.literal('HTTPS') },
      tls: z.strictObject({ mode: z.literal('Terminate'), certificateRefs: z.tuple([z.strictObject({ name: z.literal('parley-tls') })]) }),
    }),
    z.strictObject({
      ...{ name: z.string(), hostname: z.string(), port: z.literal(443), protocol: z.literal('TLS') },
      tls: z.strictObject({ mode: z.literal('Passthrough') }),
    }),
  ]);
  const OBJECT = z.discriminatedUnion('kind', [
    z.strictObject({
      ...{ apiVersion: API, kind: z.literal('Gateway'), metadata: NAMED },
      spec: z.strictObject({ gatewayClassName: z.string(), listeners: z.array(LISTENER) }),
    }),
    z.strictObject({ apiVersion: API, kind: z.literal('GRPCRoute'), metadata: NAMED, spec: ROUTE_SPEC }),
    z.strictObject({ apiVersion: API, kind: z.literal('TLSRoute'), metadata: NAMED, spec: ROUTE_SPEC }),
    z.strictObject({
      ...{ apiVersion: API, kind: z.literal('BackendTLSPolicy'), metadata: NAMED },
      spec: z.strictObject({
        targetRefs: z.tuple([
          z.strictObject({ group: z.literal(''), kind: z.literal('Service'), name: z.literal('parley'), sectionName: z.string() }),
        ]),
        validation: z.strictObject({ hostname: z.string(), wellKnownCACertificates: z.literal('System') }),
      }),
    }),
  ]);
  const objects = parseAllDocuments(textOf('deploy/gateway/gateway.yaml')).map((document) => OBJECT.parse(document.toJS()));
  const routes = objects.flatMap((each) => (each.kind === 'GRPCRoute' || each.kind === 'TLSRoute' ? [each] : []));

  it('lead each listener to the port of the Service with its name, for its host, and RPCs alone over a listener that sees them', () => {
    const { spec } = z
      .object({ spec: z.object({ ports: z.array(z.object({ name: z.string(), port: z.number() })) }) })
      .parse(parse(textOf('deploy/kubernetes/service.yaml')));
    const gateway = objects.find((each) => each.kind === 'Gateway');
    const listeners = gateway?.spec.listeners ?? [];
    expect(
      routes.map(({ kind, spec: { parentRefs, hostnames, rules } }) => [
        kind,
        parentRefs[0].sectionName,
        hostnames[0],
        rules[0].backendRefs[0].port,
      ]),
    ).toEqual(
      listeners.map(({ name, hostname, protocol }) => [
        protocol === 'HTTPS' ? 'GRPCRoute' : 'TLSRoute',
        ...[name, hostname, spec.ports.find((port) => port.name === name)?.port],
      ]),
    );
    expect(listeners).toHaveLength(3);
    expect(new Set(listeners.map(({ hostname }) => hostname)).size).toBe(3);
    // Behind the only listener that ends TLS the pods speak it again.
    const policies = objects.flatMap((each) => (each.kind === 'BackendTLSPolicy' ? [each.spec] : []));
    const ending = listeners.filter(({ protocol }) => protocol === 'HTTPS');
    expect(policies.map(({ targetRefs, validation }) => [targetRefs[0].sectionName, validation.hostname])).toEqual(
      ending.map(({ name, hostname }) => [name, hostname]),
    );
  });
});
