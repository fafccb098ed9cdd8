// Checks the addresses of a server before it runs: its own certificate, and what answers at the addresses that the platform dials, as seen
// from this machine.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import type { CheckTask, CheckTools, Verdict } from '../../admin/doctor/check.ts';
import { certificateFindings, probeMs, unreachable } from '../../admin/doctor/endpoint-checks.ts';
import { warning, type Found } from '../../admin/doctor/finding.ts';
import { probeTcp, probeTls, type Handshake, type Probed, type ProbeTarget } from '../../admin/doctor/probes.ts';
import { endpointsOf, endpointSubject, requestTargetOf, type Endpoint } from '../../admin/doctor/subject.ts';
import { readFiles } from '../../base/watched-files.ts';
import { tlsIdentity, type TlsFiles } from '../../base/tls-identity.ts';
import type { Settings } from '../config/settings.ts';
import type { PreflightParts } from '../examination.ts';

const LOOPBACK = '127.0.0.1';
/** Problems of a certificate that affect every client. */
const ALWAYS_WRONG: ReadonlySet<Found['code']> = new Set<Found['code']>(['certificate_over', 'certificate_near_end']);

/** A handshake with the server's own certificate for each host that the platform dials; no task without TLS. */
export function certificateTasks({ settings, authorities }: PreflightParts): readonly CheckTask[] {
  const { tls } = settings;
  if (tls.mode === 'off') return [];
  const hosts = [...new Set(dialledAt(settings).flatMap(({ host, isTls }) => (isTls ? [host] : [])))];
  const certificate = { text: 'tls.certificate_file', path: ['all', 'certificate'] };
  if (hosts.length === 0) return [{ subject: certificate, run: (tools) => ownCertificate(tls, undefined, authorities, tools) }];
  return hosts.map((host) => ({
    subject: { text: `tls.certificate_file for ${host}`, path: [...certificate.path, host] },
    run: (tools) => ownCertificate(tls, host, authorities, tools),
  }));
}

async function ownCertificate(
  files: TlsFiles,
  host: string | undefined,
  authorities: readonly string[],
  { clock, signal, ...tools }: CheckTools,
): Promise<Verdict> {
  const [cert = '', key = ''] = await readFiles([files.certificateFile, files.keyFile], 'certificate_invalid');
  tlsIdentity(Buffer.from(cert), Buffer.from(key), files);
  // When a proxy ends the platform's TLS, only that proxy sees this certificate.
  const server = createServer({ cert, key }).listen(0, LOOPBACK);
  try {
    await once(server, 'listening', { signal });
    const { port } = server.address() as AddressInfo;
    const target = { host: LOOPBACK, port, ...(host !== undefined && { name: host }), limitMs: probeMs(tools), clock, signal };
    const probed = await probeTls(target, authorities);
    if (probed.kind === 'failed') return [warning('tls_failed', `no handshake succeeds with it (${probed.code})`, MEND_TLS)];
    return certificateFindings(host ?? '', probed.value, clock.nowMs())
      .filter(({ code }) => host !== undefined || code !== 'certificate_name')
      .map((found) => (ALWAYS_WRONG.has(found.code) ? found : asWarning(found)));
  } finally {
    server.close();
  }
}

const MEND_TLS = 'make the certificate and the key anew';

function asWarning({ code, what, mend }: Found): Found {
  return warning(code, what, `${mend}; nothing is wrong where TLS of the platform ends at a proxy that trusts it`);
}

/** Dials each address that the platform dials, for calls and for webhooks. */
export function addressTasks({ settings, authorities }: PreflightParts): readonly CheckTask[] {
  const { targetUrl } = settings.admin.webhooks;
  const webhooks = settings.admin.enabled && targetUrl !== undefined ? [requestTargetOf(targetUrl)] : [];
  const endpoints = [...dialledAt(settings), ...webhooks.map((where): Endpoint => ({ ...where, isGrpc: false, isWebSocket: false }))];
  const distinct = new Map(endpoints.map((endpoint) => [endpointSubject(endpoint).text, endpoint]));
  return [...distinct.values()].map((endpoint) => ({
    subject: endpointSubject(endpoint),
    run: (tools) => address(endpoint, authorities, tools),
  }));
}

async function address({ host, port, isTls }: Endpoint, authorities: readonly string[], tools: CheckTools): Promise<Verdict> {
  const target: ProbeTarget = { host, port, limitMs: probeMs(tools), clock: tools.clock, signal: tools.signal };
  const tcp = await probeTcp(target);
  if (tcp.kind === 'failed') {
    const found = unreachable(tcp.code, target.limitMs);
    return found.code === 'not_listening' ? { skipped: 'nobody takes connections there yet' } : [found];
  }
  if (!isTls) return [];
  const probed: Probed<Handshake> = await probeTls(target, authorities);
  if (probed.kind === 'connected') return certificateFindings(host, probed.value, tools.clock.nowMs());
  return [
    warning(
      'tls_failed',
      `what listens there speaks no TLS (${probed.code})`,
      'end TLS at what stands before the server, or in the server',
    ),
  ];
}

function dialledAt({ admin, auth }: Settings): readonly Endpoint[] {
  const { transports, url, websocketUrl } = admin.dataSources;
  const managed = transports.map((transport) => ({ transport, url: (transport === 'grpc' ? url : websocketUrl) ?? '' }));
  return endpointsOf([...(admin.enabled ? managed : []), ...auth.dataSources]);
}
