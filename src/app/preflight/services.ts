// Checks the HTTP services that a server uses: whether each is reachable, has a good certificate and accepts our key. Sends one request
// without a body to each, which costs nothing. `parley bots check` examines the models that bots use.
import type { CheckTask, CheckTools, Verdict } from '../../admin/doctor/check.ts';
import { probeMs, unreachable } from '../../admin/doctor/endpoint-checks.ts';
import { fault, warning } from '../../admin/doctor/finding.ts';
import { probeRequest, upgradeHeaders } from '../../admin/doctor/probes.ts';
import { requestTargetOf } from '../../admin/doctor/subject.ts';
import { platformAddress } from '../../admin/platform-address.ts';
import type { PreflightParts } from '../examination.ts';

interface Service {
  readonly name: string;
  readonly url: string;
  readonly key?: string | undefined;
  /** Set when the address is only a prefix of the requested ones, so that 401 and 404 prove nothing. */
  readonly isBase?: true;
}

/** The error code of a connection with a bad certificate contains one of these. */
const OF_CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO/u;

/** One task for each service in the settings. */
export function serviceTasks({ settings, profile, authorities }: PreflightParts): readonly CheckTask[] {
  const { admin, synthesizer, recognizer } = settings;
  const speech = [
    { name: 'the synthesizer', is: synthesizer.engine === 'http', http: synthesizer.http },
    { name: 'the recognizer', is: recognizer.engine === 'http', http: recognizer.http },
  ].flatMap(({ name, is, http: { url, key } }): Service[] => (is && url !== undefined ? [{ name, url: modelsOf(url), key }] : []));
  const { url: streamUrl, key } = recognizer.stream;
  const services: readonly Service[] = [
    ...(admin.enabled
      ? [{ name: 'the administration of the platform', url: platformAddress(profile, admin.baseUrl).baseUrl, isBase: true as const }]
      : []),
    ...speech,
    ...(streamUrl === undefined ? [] : [{ name: 'the streaming recognizer', url: streamUrl, key }]),
  ];
  return services.map((service) => ({
    subject: { text: service.name, path: ['all', service.name] },
    run: (tools) => asked(service, authorities, tools),
  }));
}

/** Every service with this protocol lists its models for anybody with a key. */
function modelsOf(url: string): string {
  return `${url.replace(/\/+$/u, '')}/models`;
}

async function asked({ name, url, key, isBase }: Service, authorities: readonly string[], tools: CheckTools): Promise<Verdict> {
  const { clock, signal } = tools;
  const target = { ...requestTargetOf(url), limitMs: probeMs(tools), clock, signal };
  const headers = { ...(url.startsWith('ws') ? upgradeHeaders() : {}), ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const probed = await probeRequest(target, 'GET', headers, authorities);
  const where = new URL(url).host;
  if (probed.kind === 'failed') {
    const { code } = probed;
    if (!OF_CERTIFICATE.test(code)) return [{ ...unreachable(code, target.limitMs), mend: `check the address of ${name}`, where }];
    const mend = 'renew it, or let this machine trust its authority (NODE_EXTRA_CA_CERTS)';
    return [fault('certificate_untrusted', `its certificate is refused (${code})`, mend, where)];
  }
  const { value: status } = probed;
  if (isBase !== true && (status === 401 || status === 403)) {
    const what = key === undefined ? 'it wants a key, and the settings have none' : 'it refuses our key';
    return [fault('key_refused', `${what} (status ${String(status)})`, 'give it a key that is good', where)];
  }
  if (isBase !== true && status === 404)
    return [warning('service_fails', 'it knows nothing at this address (status 404)', `check the address of ${name}`, where)];
  if (status >= 500) return [warning('service_fails', `it answers with status ${String(status)}`, 'look at the service', where)];
  return [];
}
