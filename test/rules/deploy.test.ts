// deploy/ fits itself and the server: every object of Kubernetes by its schema, every configuration as the server loads it, ports,
// paths and times on both sides of each border, the unit as systemd judges it. Starts no server; the proxies are started in
// test/system/deploy-proxies.test.ts.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadSettings } from '../../src/app/config/load-settings.ts';
import type { Settings } from '../../src/app/config/settings.ts';
import { requireDebian } from '../support/debian.ts';
import { instructionsOf } from '../support/image-build.ts';
import { schemaFaults } from '../support/kubernetes-schema.ts';
import { filesUnder, ROOT } from '../support/source-tree.ts';

const KUBERNETES = 'deploy/kubernetes';
/** Programs of the machine, not of a package. */
const KUBECTL = 'kubectl';
const ANALYZE = 'systemd-analyze';
const UNIT = 'deploy/systemd/parley@.service';
const textOf = (file: string): string => {
  const [found] = filesUnder([file]);
  if (found === undefined) throw new Error(`${file} is missing`);
  return found.text;
};

/** A folder with a file for each secret that the configurations name, and a copy of whatever is to be changed. */
let folder = '';
const SECRETS = ['store-key', 'redis-password', 'redis-ca.crt', 'integration-secret', 'service-app-secret'];
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'parley-deploy-'));
  for (const name of SECRETS) writeFileSync(path.join(folder, name), name === 'store-key' ? 'ab'.repeat(32) : 'dummy');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What the pods are started with, as the server reads it; its secrets lie in our folder. */
function podSettings(): Settings {
  const file = path.join(folder, 'pod.yaml');
  writeFileSync(file, textOf(`${KUBERNETES}/parley.yaml`).replaceAll('/run/secrets/parley/', `${folder}/`));
  return loadSettings({ argv: ['--config', file], env: {}, cwd: ROOT }).settings;
}

const MOUNT = z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() });
const PROBE = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  periodSeconds: z.number(),
  failureThreshold: z.number(),
});
const CONTAINER = z.object({
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.tuple([z.literal('sleep'), z.coerce.number()]) }) }) }),
  startupProbe: PROBE,
  readinessProbe: PROBE,
  livenessProbe: PROBE,
  resources: z.object({ requests: z.record(z.string(), z.string()), limits: z.record(z.string(), z.string()) }),
  securityContext: z.record(z.string(), z.unknown()),
  volumeMounts: z.array(MOUNT),
});
const POD = z.object({
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  terminationGracePeriodSeconds: z.number(),
  securityContext: z.record(z.string(), z.unknown()),
  containers: z.tuple([CONTAINER]),
});
const DEPLOYMENT = z.object({
  spec: z.object({
    replicas: z.undefined().optional(),
    strategy: z.object({ rollingUpdate: z.object({ maxUnavailable: z.literal(0), maxSurge: z.number().min(1) }) }),
    template: z.object({ spec: POD }),
  }),
});

/** The pod and its container. */
function pod(): { readonly spec: z.infer<typeof POD>; readonly container: z.infer<typeof CONTAINER> } {
  const { spec } = DEPLOYMENT.parse(parse(textOf(`${KUBERNETES}/deployment.yaml`))).spec.template;
  return { spec, container: spec.containers[0] };
}

/** What stopping may take after the signal, s: as docs/operations.md adds it up. */
function stopSeconds({ store, shutdown, admin, websocket }: Settings): number {
  const noticeMs = store.kind === 'redis' ? shutdown.noticeMs : 0;
  const turnsMs = Math.max(shutdown.graceMs + 7000, admin.enabled ? 25_000 : 0);
  return (noticeMs + turnsMs + (websocket.enabled ? websocket.drainMs + 6000 : 0)) / 1000;
}

/** Every limit that proxies and callers would meet otherwise. */
function expectRoom({ grpc, websocket, sessions, turns }: Settings): void {
  expect(turns.maxOpen).toBeGreaterThanOrEqual(2 * sessions.max);
  // A connection for each RPC, and running calls may have twice as many.
  expect(grpc.maxConnections).toBeGreaterThanOrEqual(2 * turns.maxOpen);
  expect(websocket.maxConnections).toBeGreaterThan(sessions.max);
}

describe('the manifests', () => {
  const manifests = filesUnder([KUBERNETES], ['.yaml']).filter(({ path: file }) => !/\/(?:kustomization|parley)\.yaml$/u.test(file));

  it('are all named in kustomization.yaml', () => {
    const named = z.object({ resources: z.array(z.string()) }).parse(parse(textOf(`${KUBERNETES}/kustomization.yaml`))).resources;
    expect([...named].sort()).toEqual(manifests.map(({ path: file }) => path.basename(file)).sort());
    expect(named.length).toBeGreaterThan(6);
  });

  it.each(manifests)('$path fits its schema, and says how far it is checked', ({ text }) => {
    expect(schemaFaults(parse(text))).toEqual([]);
    const head = text.split('apiVersion:')[0] ?? '';
    expect(head).toContain('test/rules/deploy.test.ts');
  });

  it('would not fit with a wrong value', () => {
    const wrong = textOf(`${KUBERNETES}/autoscaler.yaml`).replace('maxReplicas: 20', 'maxReplicas: ten');
    expect(schemaFaults(parse(wrong))).not.toEqual([]);
    expect(schemaFaults({ apiVersion: 'apps/v1', kind: 'Fleet' })).toEqual(['there is no schema for apps/v1 Fleet']);
  });
});

describe('kubectl', () => {
  it.for(['', '-login'])('renders the folder kubernetes%s: the configuration as a ConfigMap whose name the pods mount', (kind, context) => {
    const { stdout, stderr, status, error } = spawnSync(KUBECTL, ['kustomize', path.join(ROOT, KUBERNETES + kind)], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    // Not one of the Debian packages that a test may demand: the one of Debian 12 is too old to know these words.
    if (error !== undefined) context.skip('kubectl is not on this machine, version 1.22 or newer');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const objects = stdout.split(/^---$/mu).map((text): unknown => parse(text));
    expect(objects.flatMap(schemaFaults)).toEqual([]);
    const kinds = z.array(z.object({ kind: z.string() })).parse(objects);
    expect(kinds.map(({ kind }) => kind)).toContain('ConfigMap');
    const [, name = ''] = /name: (parley-config-\w+)\n/u.exec(stdout) ?? [];
    expect(name).not.toBe('');
    expect(stdout.split(name).length - 1).toBe(kind === '' ? 2 : 3);
  });
});

describe('a pod', () => {
  it('is configured so that the server starts, with a shared store', () => {
    const settings = podSettings();
    expect(settings.store.kind).toBe('redis');
    expect(settings.store.keys).toHaveLength(1);
    expect(settings.tls.mode).toBe('files');
    expect(settings.auth.enabled).toBe(true);
    expectRoom(settings);
  });

  it('holds no secret in its configuration: every one is a file of the Secret that the comment makes', () => {
    const text = textOf(`${KUBERNETES}/parley.yaml`);
    const files = [...text.matchAll(/\/run\/secrets\/parley\/(?<name>[\w.-]+)/gu)].map(({ groups }) => groups?.['name'] ?? '');
    expect(new Set(files)).toEqual(new Set(SECRETS));
    for (const name of SECRETS) expect(textOf(`${KUBERNETES}/deployment.yaml`)).toContain(`--from-file=${name}`);
    expect(text).not.toMatch(/(?:secret|password|keys): *\[?['"]?\w/u);
  });

  it('has everything mounted that the configuration reads, and the volumes of the image', () => {
    const { container } = pod();
    const settings = podSettings();
    const mounted = (file: string, writable: boolean): boolean =>
      container.volumeMounts.some(({ mountPath, readOnly }) => file.startsWith(`${mountPath}/`) && (readOnly ?? false) === !writable);
    const configuration = container.env.find(({ name }) => name === 'PARLEY_CONFIG')?.value ?? '';
    expect(path.basename(configuration)).toBe('parley.yaml');
    const tls = settings.tls.mode === 'files' ? [settings.tls.certificateFile, settings.tls.keyFile] : [];
    const files = [configuration, ...tls, ...SECRETS.map((name) => `/run/secrets/parley/${name}`)];
    expect(files.filter((file) => !mounted(file, false))).toEqual([]);
    const volumes = instructionsOf(textOf('Dockerfile')).flatMap(({ word, rest }) => (word === 'VOLUME' ? [rest] : []));
    expect(volumes.length).toBeGreaterThan(1);
    expect(volumes.filter((volume) => !mounted(`${volume}/x`, true))).toEqual([]);
  });

  it('has the ports of its configuration; the Service names those for everybody, the network policy all, that of peers for replicas alone', () => {
    const { container } = pod();
    const { grpc, websocket, ops, admin, peers } = podSettings();
    const ports = { grpc: grpc.port, websocket: websocket.port, webhooks: admin.webhooks.port, ops: ops.port };
    expect(Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]))).toEqual({
      ...ports,
      peers: peers.port,
    });
    // Other pods dial the address that the table of instances names, so the port is no free one.
    expect(peers.port).toBeGreaterThan(0);
    const service = z
      .object({ spec: z.object({ clusterIP: z.literal('None'), ports: z.array(z.object({ port: z.number(), targetPort: z.string() })) }) })
      .parse(parse(textOf(`${KUBERNETES}/service.yaml`)));
    expect(Object.fromEntries(service.spec.ports.map(({ port, targetPort }) => [targetPort, port]))).toEqual(ports);
    const policy = textOf(`${KUBERNETES}/network-policy.yaml`);
    expect([...policy.matchAll(/port: (?<name>[a-z]+) /gu)].map(({ groups }) => groups?.['name'])).toEqual(
      expect.arrayContaining(Object.keys(ports)),
    );
    const RULE = z.object({ ports: z.array(z.object({ port: z.unknown() })) }).loose();
    const { spec } = z.object({ spec: z.object({ ingress: z.array(RULE), egress: z.array(RULE) }) }).parse(parse(policy));
    const replicas = { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'parley' } } };
    for (const [rules, side] of [
      [spec.ingress, 'from'],
      [spec.egress, 'to'],
    ] as const) {
      const ofPeers = rules.filter((rule) => rule.ports.some(({ port }) => port === 'peers'));
      expect(ofPeers.map((rule) => rule[side])).toEqual([[replicas]]);
    }
  });

  it('is asked on the operations port, at paths that the server has, and is not killed for draining', () => {
    const { container } = pod();
    const { startupProbe, readinessProbe, livenessProbe } = container;
    const routes = [...textOf('src/ops/routes.ts').matchAll(/server\.get\('(?<route>[^']+)'/gu)].map(({ groups }) => groups?.['route']);
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
      expect(httpGet.port).toBe('ops');
      expect(routes).toContain(httpGet.path);
    }
    expect(readinessProbe.httpGet.path).toBe('/health/ready');
    expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual(['/health/live', '/health/live']);
    expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold).toBeLessThanOrEqual(5);
  });

  it('is not started anew while it still waits for the first look at the administration', () => {
    const { periodSeconds, failureThreshold } = pod().container.startupProbe;
    const [, firstLookMs = ''] = /const FIRST_CHECK_MS = (?<ms>[\d_]+);/u.exec(textOf('src/admin/administration.ts')) ?? [];
    expect(firstLookMs).not.toBe('');
    expect(periodSeconds * failureThreshold * 1000).toBeGreaterThan(Number(firstLookMs.replaceAll('_', '')) + 30_000);
  });

  it('gets as much time to stop as its configuration may take', () => {
    const { spec, container } = pod();
    const [, sleep] = container.lifecycle.preStop.exec.command;
    const settings = podSettings();
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleep + stopSeconds(settings));
    // Somebody waits for it.
    expect(spec.terminationGracePeriodSeconds).toBeLessThanOrEqual(sleep + stopSeconds(settings) + 60);
    expect(sleep).toBeGreaterThan(container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold);
  });

  it('has no rights, and refuses calls before it is out of memory', () => {
    const { spec, container } = pod();
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources.limits).toEqual({ memory: '2Gi' });
    expect(podSettings().overload.maxRssBytes).toBe(0.75 * 2 * 1024 ** 3);
  });

  it('is one of several before its calls are as many as it may have, counted by a gauge that there is', () => {
    const METRIC = z.object({
      pods: z.object({ metric: z.object({ name: z.string() }), target: z.object({ averageValue: z.coerce.number() }) }).optional(),
      resource: z.object({ name: z.string() }).optional(),
    });
    const { spec } = z
      .object({ spec: z.object({ minReplicas: z.number().min(2), metrics: z.array(METRIC) }) })
      .parse(parse(textOf(`${KUBERNETES}/autoscaler.yaml`)));
    const calls = spec.metrics.find(({ pods }) => pods !== undefined)?.pods;
    expect(textOf('docs/metrics.md')).toMatch(new RegExp(`^\\| \`${calls?.metric.name ?? '-'}\` +\\| gauge `, 'mu'));
    expect(calls?.target.averageValue).toBeLessThanOrEqual(0.7 * podSettings().sessions.max);
    expect(spec.metrics.map(({ resource }) => resource?.name)).toContain('cpu');
  });
});

describe('one container by itself', () => {
  it('gets as much time to stop as its configuration may take, from the command that starts it and where nobody sets it', () => {
    const file = path.join(folder, 'one.yaml');
    writeFileSync(file, textOf('config/example.production.yaml').replaceAll('/run/secrets/parley/', `${folder}/`));
    const seconds = stopSeconds(loadSettings({ argv: ['--config', file], env: {}, cwd: ROOT }).settings);
    // What Kubernetes gives to a pod that asks for no other; container engines give less, so the command asks.
    expect(seconds).toBeLessThanOrEqual(30);
    expect(/docker run (?:[^\n]*\\\n# +)*?[^\n]*--stop-timeout (?<seconds>\d+) /u.exec(textOf('Dockerfile'))?.groups?.['seconds']).toBe(
      '30',
    );
  });
});

/** Lines of a section of the unit, `%` and all: name and value in their order. */
const unitLines = textOf(UNIT)
  .split('\n')
  .map((line) => /^(?<name>[A-Z]\w+)=(?<value>.*)$/u.exec(line)?.groups)
  .flatMap((groups) => (groups === undefined ? [] : [{ name: groups['name'] ?? '', value: groups['value'] ?? '' }]));
const unitValues = (wanted: string): readonly string[] => unitLines.filter(({ name }) => name === wanted).map(({ value }) => value);

/** What `parley@INSTANCE` is started with, as systemd fills it in and the server reads it. */
function unitSettings(instance: string): Settings {
  const places = new Map(Object.entries({ i: instance, d: folder, S: '/var/lib', C: '/var/cache', t: '/run' }));
  const filled = (text: string): string => text.replace(/%(\w)/gu, (_, name: string) => places.get(name) ?? '');
  const [start = ''] = unitValues('ExecStart');
  const flags = filled(start.slice(start.indexOf(' serve ') + 7)).split(' ');
  const file = path.join(folder, 'unit.yaml');
  copyFileSync(path.join(ROOT, 'deploy/systemd/parley.yaml'), file);
  const variables = unitValues('Environment').map((text) => /^'?(?<name>\w+)=(?<value>.*?)'?$/u.exec(filled(text))?.groups ?? {});
  const env = Object.fromEntries(variables.map(({ name = '', value = '' }) => [name, value]));
  return loadSettings({ argv: flags.map((flag) => flag.replace('/etc/parley/parley.yaml', file)), env, cwd: ROOT }).settings;
}

describe('the unit', () => {
  it('starts a server with a shared store on loopback, each instance on ports of its own, the first on the default ones', () => {
    const [zero, one] = [unitSettings('0'), unitSettings('1')];
    const portsOf = ({ grpc, ops, websocket, admin }: Settings): readonly number[] => [
      ...[grpc.port, ops.port, websocket.port, admin.webhooks.port],
    ];
    expect(portsOf(zero)).toEqual([8086, 8087, 8088, 8089]);
    expect(portsOf(one)).toEqual([8186, 8187, 8188, 8189]);
    for (const settings of [zero, one]) {
      expect(settings.store.kind).toBe('redis');
      expect([settings.grpc.host, settings.ops.host, settings.websocket.host, settings.admin.webhooks.host]).toEqual(
        Array.from({ length: 4 }, () => '127.0.0.1'),
      );
      expectRoom(settings);
      expect(settings.grpc.maxConnections + settings.websocket.maxConnections).toBeLessThan(Number(unitValues('LimitNOFILE')[0]) / 2);
    }
    expect(zero.admin.store.file).not.toBe(one.admin.store.file);
  });

  it('reads every secret from a credential, and writes only where it may', () => {
    const used = [
      ...unitValues('Environment')
        .join('\n')
        .matchAll(/%d\/(?<name>[\w.-]+)/gu),
    ].map(({ groups }) => groups?.['name']);
    expect(new Set(used)).toEqual(new Set(unitValues('LoadCredential').map((line) => line.split(':')[0])));
    expect(unitValues('Environment').filter((text) => text.includes('SECRET') && !text.includes('{"file":'))).toEqual([]);
    const { admin, synthesizer, control } = unitSettings('0');
    expect(admin.store.file.startsWith(`/var/lib/${unitValues('StateDirectory')[0]?.replace('%i', '0') ?? ''}/`)).toBe(true);
    expect(synthesizer.cacheFolder?.startsWith(`/var/cache/${unitValues('CacheDirectory')[0]?.replace('%i', '0') ?? ''}/`)).toBe(true);
    expect([control.socket, ...unitValues('RuntimeDirectory')]).toEqual(['/run/parley/0/control.sock', 'parley/%i']);
    expect(unitValues('ExecReload')[0]).toMatch(/control reload --socket=%t\/parley\/%i\/control\.sock$/u);
  });

  it('gives as much time to stop as the configuration may take, and as much memory', () => {
    const settings = unitSettings('0');
    const limit = Number(/^(?<seconds>\d+)s$/u.exec(unitValues('TimeoutStopSec')[0] ?? '')?.groups?.['seconds']);
    expect(limit).toBeGreaterThanOrEqual(stopSeconds(settings));
    expect(unitValues('MemoryMax')).toEqual(['2G']);
    expect(settings.overload.maxRssBytes).toBe(0.75 * 2 * 1024 ** 3);
  });
});

describe('the unit, judged by systemd', () => {
  requireDebian({ commands: ['systemd-analyze'], packages: ['systemd'] });

  /** A copy whose program is there, in a folder of its own, because systemd looks at all units of a folder. */
  function copy(): string {
    const place = path.join(folder, 'units');
    mkdirSync(place, { recursive: true });
    const file = path.join(place, 'parley@0.service');
    writeFileSync(file, textOf(UNIT).replace('ExecStart=/usr/bin/node ', `ExecStart=${process.execPath} `));
    return file;
  }
  const analyze = (...words: readonly string[]): { readonly status: number | null; readonly said: string } => {
    const { status, stdout, stderr } = spawnSync(ANALYZE, words, { encoding: 'utf8', timeout: 60_000 });
    return { status, said: stdout + stderr };
  };

  it('says nothing it does not understand', () => {
    const { status, said } = analyze('verify', '--man=no', '--recursive-errors=no', copy());
    expect(said.split('\n').filter((line) => line.includes('parley'))).toEqual([]);
    expect(status).toBe(0);
  });

  it('exposes little', () => {
    const { status, said } = analyze('security', '--offline=true', '--no-pager', '--threshold=15', copy());
    expect({ status, overall: said.split('\n').filter((line) => line.includes('Overall')) }).toMatchObject({ status: 0 });
  });
});

describe.each([
  ['deploy/nginx/parley.conf', /_(?:read|send|body)_timeout (?<time>\w+);/gu, 10],
  ['deploy/haproxy/parley.cfg', /timeout (?:client|server|tunnel) (?<time>\w+)\n/gu, 4],
] as const)('%s', (file, pattern, most) => {
  const text = textOf(file);

  it('speaks of the ports of the first two instances of the unit', () => {
    const named = new Set([...text.matchAll(/(?:127\.0\.0\.1:| port )(?<port>8\d{3})\b/gu)].map(({ groups }) => Number(groups?.['port'])));
    const settings = [unitSettings('0'), unitSettings('1')];
    for (const { grpc, websocket, admin } of settings)
      for (const port of [grpc.port, websocket.port, admin.webhooks.port]) expect(named).toContain(port);
    const ops = settings.map((each) => each.ops.port);
    expect(ops.map((port) => named.has(port))).toEqual(file.endsWith('.cfg') ? [true, true] : [false, false]);
  });

  it('ends no call that the server would not have ended: its times are as long as the longest call', () => {
    const times = [...text.matchAll(pattern)].map(({ groups }) => groups?.['time'] ?? '');
    expect(times.length).toBeGreaterThan(2);
    expect(times.length).toBeLessThanOrEqual(most);
    const ms = new Map(Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 }));
    const msOf = (time: string): number => {
      const { number = '', unit = '' } = /^(?<number>\d+)(?<unit>ms|s|m|h)$/u.exec(time)?.groups ?? {};
      return Number(number) * (ms.get(unit) ?? Number.NaN);
    };
    const longest = unitSettings('0').sessions.maxDurationMs;
    // Those of webhooks are short.
    expect(times.filter((time) => msOf(time) < longest)).toEqual(times.filter((time) => time === '10s'));
  });

  it('lets as many RPCs share a connection as the server does, and knows the paths of the profile', () => {
    const { grpc } = unitSettings('0');
    expect(text).toMatch(new RegExp(`max.concurrent.streams ${String(grpc.maxStreamsPerConnection)}\\b`, 'u'));
    for (const name of ['va', 'listVirtualAgents']) expect(text).toMatch(new RegExp(`\\b${name}\\b`, 'u'));
    expect(text.split('\n').slice(0, 8).join('\n')).toContain('test/system/deploy-proxies.test.ts');
  });
});
