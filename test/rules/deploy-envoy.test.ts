// deploy/envoy fits the server: ports, paths, times and limits on both sides. No Envoy is started: no package of Debian brings one.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadSettings } from '../../src/app/config/load-settings.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { ROOT } from '../support/source-tree.ts';

describe('the recipe of Envoy', () => {
  const text = readFileSync(path.join(ROOT, 'deploy/envoy/envoy.yaml'), 'utf8');
  const ADDRESS = z.object({ socket_address: z.object({ address: z.string(), port_value: z.number() }) });
  const ENDPOINT = z.object({ endpoint: z.object({ address: ADDRESS, health_check_config: z.object({ port_value: z.number() }) }) });
  const CLUSTER = z.looseObject({
    name: z.string(),
    health_checks: z.tuple([
      z.looseObject({ http_health_check: z.object({ path: z.literal('/health/ready'), codec_client_type: z.literal('HTTP1') }) }),
    ]),
    load_assignment: z.object({ cluster_name: z.string(), endpoints: z.tuple([z.object({ lb_endpoints: z.array(ENDPOINT) })]) }),
  });
  const ROUTE = z.object({
    match: z.record(z.string(), z.unknown()),
    route: z.looseObject({ cluster: z.string(), timeout: z.string(), retry_policy: z.object({ retry_on: z.string() }).loose().optional() }),
  });
  const CONNECTIONS = z.object({
    stream_idle_timeout: z.literal('0s'),
    common_http_protocol_options: z.object({ idle_timeout: z.string() }),
    http2_protocol_options: z.object({ max_concurrent_streams: z.number() }),
    upgrade_configs: z.tuple([z.object({ upgrade_type: z.literal('websocket') })]),
    route_config: z.object({ virtual_hosts: z.tuple([z.object({ routes: z.array(ROUTE) })]) }),
  });
  const LISTENER = z.object({
    filter_chains: z.tuple([
      z.object({
        transport_socket: z.object({
          typed_config: z.object({ common_tls_context: z.object({ alpn_protocols: z.array(z.string()) }) }),
        }),
        filters: z.tuple([z.object({ typed_config: CONNECTIONS })]),
      }),
    ]),
  });
  const { listeners, clusters } = z
    .object({ static_resources: z.object({ listeners: z.tuple([LISTENER]), clusters: z.array(CLUSTER) }) })
    .parse(parse(text)).static_resources;
  const [chain] = listeners[0].filter_chains;
  const [{ typed_config: connections }] = chain.filters;
  const { routes } = connections.route_config.virtual_hosts[0];
  const settings = loadSettings({ argv: ['--auth.enabled=false', '--grpc.host=127.0.0.1', '--tls.mode=off'], env: {}, cwd: ROOT }).settings;

  it('leads to the ports of the processes, the second 100 above the first, and asks their operations port whether they are ready', () => {
    const { grpc, websocket, admin, ops } = settings;
    const ports = [grpc.port, websocket.port, admin.webhooks.port];
    expect(clusters.map(({ name }) => name)).toEqual(routes.map(({ route }) => route.cluster));
    for (const [index, { name, load_assignment: assigned }] of clusters.entries()) {
      expect(assigned.cluster_name).toBe(name);
      const found = assigned.endpoints[0].lb_endpoints.map(({ endpoint }) => [
        endpoint.address.socket_address.port_value,
        endpoint.health_check_config.port_value,
      ]);
      expect(found).toEqual([0, 100].map((more) => [(ports[index] ?? 0) + more, ops.port + more]));
    }
  });

  it('ends no call, holds no RPC back, and repeats none that has reached anybody', () => {
    expect(chain.transport_socket.typed_config.common_tls_context.alpn_protocols).toEqual(['h2', 'http/1.1']);
    expect(connections.http2_protocol_options.max_concurrent_streams).toBe(settings.grpc.maxStreamsPerConnection);
    expect(connections.common_http_protocol_options.idle_timeout).toBe(`${String(settings.grpc.maxConnectionIdleMs / 1000)}s`);
    expect(routes.map(({ route }) => route.timeout)).toEqual(['0s', '0s', '10s']);
    expect(routes.map(({ route }) => route.retry_policy?.retry_on)).toEqual([
      'connect-failure',
      'connect-failure,retriable-status-codes',
      undefined,
    ]);
    expect(clusters[0]).toMatchObject({ lb_policy: 'RING_HASH' });
    const options: unknown = Object.values(z.record(z.string(), z.unknown()).parse(clusters[0]?.['typed_extension_protocol_options']))[0];
    expect(options).toMatchObject({
      explicit_http_config: { http2_protocol_options: {} },
      common_http_protocol_options: { max_requests_per_connection: 1 },
    });
    const { websocket } = loadProfile(settings.platform.profile);
    const paths = new RegExp(`^(?:${z.object({ regex: z.string() }).parse(routes[1]?.match['safe_regex']).regex})$`, 'u');
    for (const each of [websocket?.voicePath, websocket?.listPath]) expect(each).toMatch(paths);
  });
});
