// Checks that the platform can reach the server at the registered addresses, and that the server meets its requirements (1.9, O-13, P-12).
// As seen from this machine: behind a proxy the platform may see something else.
import type { Check, CheckId, CheckTools, Verdict } from './check.ts';
import { shownText } from '../../base/shown-text.ts';
import type { DoctorContext } from './context.ts';
import { fault, warning, type Found } from './finding.ts';
import { endpointsOf, endpointSubject, hostAndPort, type Endpoint } from './subject.ts';
import { probeTcp, probeTls, probeUpgrade, type Handshake, type ProbeTarget } from './probes.ts';

/** Remaining lifetime of a certificate that leads to a warning, ms. */
const NEAR_END_MS = 14 * 86_400_000;
/** Share of a check's limit that a probe may take, so that the check can still report what was slow. */
const PROBE_PART = 0.8;

const NOT_TLS = { skipped: 'the registered address is one without TLS' };
const NO_HANDSHAKE = { skipped: 'there was no handshake' };
/** OpenSSL's code for a certificate in the chain that has expired. */
const OVER = 'CERT_HAS_EXPIRED';
/** OpenSSL's codes for an incomplete chain. */
const INCOMPLETE = new Set(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY']);

type Examine = (endpoint: Endpoint, tools: CheckTools, context: DoctorContext) => Promise<Verdict> | Verdict;

/** @param isMeant - whether to check an address; default: all addresses. */
function endpointCheck(
  id: CheckId,
  title: string,
  needs: readonly CheckId[],
  examine: Examine,
  isMeant: (endpoint: Endpoint) => boolean = () => true,
): Check {
  return {
    ...{ id, title, needs },
    tasks: (context) =>
      endpointsOf([...context.wanted, ...(context.addresses ?? [])])
        .filter(isMeant)
        .map((endpoint) => ({ subject: endpointSubject(endpoint), run: (tools) => examine(endpoint, tools, context) })),
  };
}

/** The address accepts connections. */
export const listensCheck = endpointCheck('listens', 'connections are taken there', [], async (endpoint, tools) => {
  const probed = await probeTcp(targetOf(endpoint, tools));
  if (probed.kind === 'connected') return [];
  return [unreachable(probed.code, probeMs(tools))];
});

/** The finding for an unreachable address. @param code - error code of the connection. @param withinMs - how long we waited. */
export function unreachable(code: string, withinMs: number): Found {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return fault('host_unknown', `the host cannot be found (${code})`, 'give the registered host an address in the DNS');
  }
  if (code === 'no_answer' || code === 'ETIMEDOUT') {
    const mend = 'look at the firewall and the load balancer before the server';
    return fault('no_answer', `nothing answers within ${String(withinMs)} ms`, mend);
  }
  const mend = 'start the server, and let it, or what stands before it, listen on the registered port';
  return fault('not_listening', `the connection is not taken (${code})`, mend);
}

/** A TLS handshake succeeds, whatever the certificate. */
export const tlsHandshakeCheck = endpointCheck('tls_handshake', 'it speaks TLS', ['listens'], async (endpoint, tools, context) => {
  if (!endpoint.isTls) return NOT_TLS;
  const probed = await probeTls(targetOf(endpoint, tools), context.authorities ?? []);
  if (probed.kind === 'failed') {
    const mend = 'set tls.certificate_file and tls.key_file of the server, or end TLS before it; the registered address asks for it';
    return [fault('tls_failed', `the TLS handshake fails (${probed.code})`, mend)];
  }
  tools.notes.handshakes.set(hostAndPort(endpoint), probed.value);
  return [];
});

/** The certificate is trusted, valid for this host, and not about to expire. */
export const certificateCheck = endpointCheck('certificate', 'its certificate is good', ['tls_handshake'], (endpoint, { notes, clock }) => {
  const handshake = notes.handshakes.get(hostAndPort(endpoint));
  if (handshake === undefined) return NO_HANDSHAKE;
  return certificateFindings(endpoint.host, handshake, clock.nowMs());
});

/** The problems of the certificate in a handshake with `host`. */
export function certificateFindings(host: string, handshake: Handshake, nowMs: number): readonly Found[] {
  return [...trustFindings(host, handshake), ...timeFindings(handshake, nowMs)];
}

function trustFindings(host: string, { chainProblem, isForHost }: Handshake): readonly Found[] {
  const findings: Found[] = [];
  if (chainProblem !== undefined && chainProblem !== OVER && chainProblem !== 'CERT_NOT_YET_VALID') {
    const what = `its certificate is not trusted (${chainProblem})`;
    const mend = INCOMPLETE.has(chainProblem)
      ? 'let the server send the whole chain: its own certificate, then the intermediate ones'
      : 'use a certificate of a public authority: the platform trusts no other (O-13)';
    findings.push(fault('certificate_untrusted', what, mend));
  }
  if (!isForHost) {
    const mend = 'have the certificate made out for the registered host, or register the host that it is for';
    findings.push(fault('certificate_name', `its certificate is for another host than ${host}`, mend));
  }
  return findings;
}

function timeFindings({ chainProblem, validFromMs, validUntilMs }: Handshake, nowMs: number): readonly Found[] {
  const mend = 'renew the certificate, and let the server read the new one';
  const end = isoOf(validUntilMs);
  if (nowMs < validFromMs) {
    const soon = 'look at the clock of this machine, or wait';
    return [fault('certificate_over', `its certificate is good only from ${isoOf(validFromMs)}`, soon)];
  }
  if (nowMs >= validUntilMs) return [fault('certificate_over', `its certificate ended at ${end}`, mend)];
  if (chainProblem === OVER) return [fault('certificate_over', 'a certificate of its chain has ended', mend)];
  if (validUntilMs - nowMs > NEAR_END_MS) return [];
  const days = String(Math.floor((validUntilMs - nowMs) / 86_400_000));
  return [warning('certificate_near_end', `its certificate ends at ${end}, in ${days} days`, mend)];
}

/** The endpoint negotiates HTTP/2, which gRPC needs (1.9), and HTTP/1.1, which WebSocket needs. */
export const alpnCheck = endpointCheck(
  'alpn',
  'it offers the HTTP that its calls need',
  ['tls_handshake'],
  async (endpoint, tools, { authorities = [] }) => {
    const handshake = tools.notes.handshakes.get(hostAndPort(endpoint));
    if (handshake === undefined) return NO_HANDSHAKE;
    const http2 = endpoint.isGrpc ? http2Findings(handshake) : [];
    return endpoint.isWebSocket ? [...http2, ...(await http1Findings(endpoint, tools, authorities))] : http2;
  },
);

function http2Findings({ protocol }: Handshake): readonly Found[] {
  if (protocol === 'h2') return [];
  const spoken = protocol === undefined ? 'agrees to no protocol' : `speaks ${protocol}`;
  const mend = 'switch HTTP/2 on where TLS ends, which is the load balancer if there is one';
  return [fault('alpn_missing', `it ${spoken} and not HTTP/2 (ALPN h2), without which there is no gRPC`, mend)];
}

/** Any handshake is enough: a server that selects no protocol speaks HTTP/1.1. */
async function http1Findings(endpoint: Endpoint, tools: CheckTools, authorities: readonly string[]): Promise<readonly Found[]> {
  const probed = await probeTls(targetOf(endpoint, tools), authorities, ['http/1.1']);
  if (probed.kind === 'connected') return [];
  const what = `it takes no HTTP/1.1 (ALPN http/1.1), without which there is no WebSocket (${probed.code})`;
  return [fault('http1_missing', what, 'let what ends TLS offer HTTP/1.1 there, beside HTTP/2 if both are needed')];
}

/** The health service, if there is one, reports that calls are accepted (1.8). */
export const healthCheck = endpointCheck(
  'health',
  'it says that it takes calls',
  // Without these, no request is possible.
  ['certificate', 'alpn'],
  async (endpoint, tools, { health }) => {
    if (health === undefined) return { skipped: 'nobody asks the health service' };
    const answer = await health(endpoint, tools.signal);
    // The health service is optional.
    if (answer === 'unknown') return { skipped: 'its health service says nothing' };
    if (answer === 'serving') return [];
    if (answer !== 'not_serving') {
      const mend = 'start the server, and look whether what stands before it leads to its port and speaks gRPC with it';
      return [fault('health_unanswered', `no server answers there (${shownText(answer.unanswered)})`, mend)];
    }
    const mend = 'look at the log of the server for what it is waiting for, or whether it is stopping';
    return [fault('health_bad', 'its health service says that it takes no calls', mend)];
  },
  ({ isGrpc }) => isGrpc,
);

/** The endpoint opens a WebSocket, or refuses it only because the token is missing (W-06). */
export const upgradeCheck = endpointCheck(
  'upgrade',
  'it opens WebSockets for calls',
  // Without these, no request is possible.
  ['certificate', 'alpn'],
  async (endpoint, tools, { socketPath: path, authorities = [] }) => {
    if (path === undefined) return { skipped: 'the platform has no path for calls over WebSocket' };
    const probed = await probeUpgrade({ ...targetOf(endpoint, tools), isTls: endpoint.isTls, path }, authorities);
    const asked = `the request for a WebSocket at ${path}`;
    if (probed.kind === 'failed') {
      const mend = 'look whether the server behind this address serves WebSocket, and what stands before it lets it through';
      return [fault('upgrade_failed', `${asked} is not answered (${probed.code})`, mend)];
    }
    const { value: status } = probed;
    // W-06. Without the token check, a server opens the socket.
    if (status === 401 || status === 101) return [];
    return [fault('upgrade_failed', `${asked} is answered with status ${String(status)}`, mendOfUpgrade(status))];
  },
  ({ isWebSocket }) => isWebSocket,
);

function mendOfUpgrade(status: number): string {
  if (status === 404) return 'let what stands before the server pass this path on, and look at websocket.enabled and websocket.path_prefix';
  if (status === 503)
    return 'look at the log of the server: it is stopping, or has as many sockets as it may, or nothing answers behind the proxy';
  return 'let what stands before the server pass on the headers Connection and Upgrade, and nothing else answer at this path';
}

function targetOf({ host, port }: Endpoint, tools: CheckTools): ProbeTarget {
  return { host, port, limitMs: probeMs(tools), clock: tools.clock, signal: tools.signal };
}

/** Longest wait for a connection, ms. */
export function probeMs({ limitMs }: Pick<CheckTools, 'limitMs'>): number {
  return Math.round(limitMs * PROBE_PART);
}

function isoOf(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : 'an unknown time';
}
