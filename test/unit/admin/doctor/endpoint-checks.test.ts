import { describe, expect, it } from 'vitest';
import { DOCTOR_CHECKS } from '../../../../src/admin/doctor/checks.ts';
import type { CheckId } from '../../../../src/admin/doctor/check.ts';
import { runDoctor } from '../../../../src/admin/doctor/run-doctor.ts';
import { endpointsOf } from '../../../../src/admin/doctor/subject.ts';
import { freePort } from '../../../support/free-port.ts';
import { until } from '../../../support/until.ts';
import { listening } from '../../../support/certificate-authority.ts';
import { foundIn, patients, saidIn, skippedIn, type PatientOptions } from './patient.ts';

const { admit } = patients();
/** A name that no resolver has to ask for: a part of it is too long. */
const NO_HOST = `${'x'.repeat(64)}.invalid`;

describe('the checks of the registered address', () => {
  it.each<readonly [string, PatientOptions, string, RegExp]>([
    [
      'the host has no address',
      { host: NO_HOST, port: 443 },
      'listens/host_unknown',
      /cannot be found \(E\w+\); give the registered host an address/u,
    ],
    ['it speaks no TLS (1.9)', { speaking: 'plain' }, 'tls_handshake/tls_failed', /handshake fails \(\w+\)/u],
    [
      'its certificate is signed by nobody who is trusted (O-13)',
      { isSelfSigned: true },
      'certificate/certificate_untrusted',
      /not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\); use a certificate of a public authority/u,
    ],
    [
      'its certificate is for another host',
      { name: 'other.example.test' },
      'certificate/certificate_name',
      /^localhost:\d+: its certificate is for another host than localhost/u,
    ],
    ['its certificate has ended (P-12)', { fromDays: -30, toDays: -1 }, 'certificate/certificate_over', /ended at 20/u],
    ['its certificate is not good yet', { fromDays: 1 }, 'certificate/certificate_over', /good only from 20/u],
    ['its certificate ends soon (P-12)', { toDays: 13.5 }, 'certificate/certificate_near_end', /in 13 days; renew/u],
    ['it speaks HTTP/1.1 only (1.9)', { speaking: 'http/1.1' }, 'alpn/alpn_missing', /speaks http\/1\.1 and not HTTP\/2/u],
    [
      'it speaks HTTP/2 only (W-01)',
      { speaking: 'h2' },
      'alpn/http1_missing',
      /takes no HTTP\/1\.1 .*without which there is no WebSocket/u,
    ],
    [
      'it does not know the path of the calls (W-01)',
      { upgrade: 404 },
      'upgrade/upgrade_failed',
      /at \/v1\/va is answered with status 404; .*websocket\.path_prefix/u,
    ],
    ['it has no room for a socket', { upgrade: 503 }, 'upgrade/upgrade_failed', /with status 503; look at the log of the server/u],
    ['a proxy takes the headers away', { upgrade: 426 }, 'upgrade/upgrade_failed', /with status 426; .*headers Connection and Upgrade/u],
    [
      'it hangs up on who asks for a socket',
      { upgrade: null },
      'upgrade/upgrade_failed',
      /the request for a WebSocket at \/v1\/va is not answered \(ECONNRESET\)/u,
    ],
  ])('find, when %s, exactly that', async (_what, options, finding, sentence) => {
    const patient = await admit(options);
    const results = await patient.examine();
    expect(foundIn(results)).toEqual([finding]);
    expect(saidIn(results)).toEqual([expect.stringMatching(sentence)]);
    expect(patient.clock.pendingTimers).toBe(0);
  });

  it('find that nobody listens, exactly that', async () => {
    const port = await freePort();
    const results = await (await admit({ port })).examine();
    expect(foundIn(results)).toEqual(['listens/not_listening']);
    expect(saidIn(results)).toEqual([
      `localhost:${String(port)}: the connection is not taken (ECONNREFUSED); start the server, and let it, or what stands before it, listen on the registered port`,
    ]);
    expect(skippedIn(results)).toEqual(['tls_handshake', 'certificate', 'alpn', 'health', 'upgrade', 'agents']);
  });

  it('find that an incomplete chain is one, and say what to send', async () => {
    const patient = await admit();
    patient.changes = { authorities: [] };
    const results = await patient.examine();
    expect(foundIn(results)).toEqual(['certificate/certificate_untrusted']);
    expect(saidIn(results)[0]).toMatch(/\(UNABLE_TO_VERIFY_LEAF_SIGNATURE\); let the server send the whole chain/u);
  });

  it('find that a connection is taken and nothing said, within their time', async () => {
    const { running, clock } = await examinedBy('tls_handshake', { speaking: 'silent' });
    await until('the handshake waits', () => clock.nextTimerInMs === 800);
    await clock.advanceAsync(800);
    expect(saidIn(await running)).toEqual([expect.stringMatching(/handshake fails \(no_answer\)/u)]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('find that no connection comes about, within their time', async () => {
    const { running, clock } = await examinedBy('listens', {});
    // Promises alone: no socket gets a turn before the time is over.
    while (clock.nextTimerInMs !== 800) await Promise.resolve();
    clock.advance(800);
    expect(saidIn(await running)).toEqual([expect.stringMatching(/nothing answers within 800 ms; look at the firewall/u)]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('find that nothing is answered to who asks for a socket, within their time', async () => {
    const { running, clock } = await examinedBy('upgrade', { speaking: 'silent', isTls: false });
    await until('the answer is waited for', () => clock.nextTimerInMs === 800);
    await clock.advanceAsync(800);
    expect(saidIn(await running)).toEqual([expect.stringMatching(/is not answered \(no_answer\)/u)]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('end when nobody waits for them any more, and leave no connection', async () => {
    const stop = new AbortController();
    const { running, clock } = await examinedBy('tls_handshake', { speaking: 'silent' }, stop.signal);
    await until('the handshake waits', () => clock.nextTimerInMs === 800);
    stop.abort();
    expect(skippedIn(await running)).toEqual(['tls_handshake']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('look at the address that will be registered where no data source is wanted yet', async () => {
    const patient = await admit({ toDays: -1, fromDays: -30 });
    const addresses = patient.wanted;
    patient.wanted = [];
    patient.changes = { organizations: undefined, addresses };
    expect(foundIn(await patient.examine())).toEqual(['certificate/certificate_over']);
  });

  it('look at a plain address, which the fake platform takes, without TLS', async () => {
    const patient = await admit({ isTls: false, port: await listening('plain') });
    const results = await patient.examine();
    expect(foundIn(results)).toEqual([]);
    expect(skippedIn(results)).toEqual(['tls_handshake', 'certificate', 'alpn']);
    expect(results.find(({ id }) => id === 'tls_handshake')?.reason).toBe('the registered address is one without TLS');
  });

  it('ask no HTTP/2 of an address of WebSocket alone', async () => {
    const patient = await admit({ speaking: 'http/1.1' });
    patient.wanted = patient.wanted.filter(({ transport }) => transport === 'websocket');
    const results = await patient.examine();
    expect([foundIn(results), skippedIn(results)]).toEqual([[], []]);
    expect(results.map(({ id }) => id)).not.toContain('health');
  });

  it('ask no WebSocket of an address of gRPC alone', async () => {
    const patient = await admit({ speaking: 'h2' });
    patient.wanted = patient.wanted.filter(({ transport }) => transport === 'grpc');
    const results = await patient.examine();
    expect([foundIn(results), skippedIn(results)]).toEqual([[], []]);
    expect(results.map(({ id }) => id)).not.toContain('upgrade');
  });

  it('take a socket that is opened without a token for one that is opened: the token check may be off', async () => {
    const results = await (await admit({ upgrade: 101 })).examine();
    expect(foundIn(results)).toEqual([]);
    expect(results.find(({ id }) => id === 'upgrade')?.state).toBe('ok');
  });

  it('ask for no socket where the platform has no path for it', async () => {
    const patient = await admit({ upgrade: 404 });
    patient.changes = { socketPath: undefined };
    expect(skippedIn(await patient.examine())).toEqual(['upgrade']);
  });

  it('take it for no fault that there is no health service (1.8)', async () => {
    const patient = await admit();
    patient.health = 'unknown';
    const results = await patient.examine();
    expect([foundIn(results), skippedIn(results)]).toEqual([[], ['health']]);
  });
});

describe('the addresses that are looked at', () => {
  const of = async (...urls: readonly string[]) => {
    const [first] = (await admit({ port: 1 })).wanted;
    if (first === undefined) throw new Error('nothing is wanted');
    return endpointsOf(urls.map((url, index) => ({ ...first, url, transport: index === 0 ? 'websocket' : 'grpc' })));
  };

  it('are those of the platform, each once, with the ports they have by default', async () => {
    expect(await of('https://a.test/x', 'https://A.test:443/y', 'http://[::1]', 'wss://b.test:8443', 'no address')).toEqual([
      { host: 'a.test', port: 443, isTls: true, isGrpc: true, isWebSocket: true },
      { host: '::1', port: 80, isTls: false, isGrpc: true, isWebSocket: false },
      { host: 'b.test', port: 8443, isTls: true, isGrpc: true, isWebSocket: false },
    ]);
    expect(await of('wss://a.test')).toEqual([{ host: 'a.test', port: 443, isTls: true, isGrpc: false, isWebSocket: true }]);
  });
});

/** One check alone, with a second of time. */
async function examinedBy(id: CheckId, options: PatientOptions, signal = new AbortController().signal) {
  const patient = await admit(options);
  const { clock } = patient;
  const checks = DOCTOR_CHECKS.filter((check) => check.id === id);
  // In an object, so that it is not waited for here.
  return { clock, running: runDoctor(checks, patient.context(), { signal, clock, perCheckMs: 1000 }) };
}
