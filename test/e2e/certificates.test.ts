// A server whose certificate, trust in clients, nonces and keys change while it takes calls, as an operator's machinery changes
// them: files are replaced, and nothing is restarted.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { status, type ServiceError } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { writeThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';
import { readStore } from '../../src/store/durable-store.ts';
import { Seal } from '../../src/store/seal.ts';
import { adminSurroundings } from '../support/admin-surroundings.ts';
import { certificateAuthority } from '../support/certificate-authority.ts';
import { dataSource, RunningServer, WITH_TEST_BOTS, type ServerOptions } from '../support/running-server.ts';
import type { PlatformClientOptions } from '../support/platform-client.ts';
import { connectSocket, socketDataSource, WITH_SOCKETS } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';
import { WatchedFolder } from '../support/watched-folder.ts';

const REFUSED = 'files_refused';

async function start(options: ServerOptions): Promise<RunningServer> {
  const server = await RunningServer.start({ ...options, flags: [...WITH_TEST_BOTS, ...(options.flags ?? [])] });
  onTestFinished(() => server.close([REFUSED]));
  return server;
}

/** How a question for the agents ends on a connection of its own. */
async function askedBy(server: RunningServer, options: Partial<PlatformClientOptions> = {}): Promise<status> {
  const client = await server.client(options);
  try {
    await client.list();
    return status.OK;
  } catch (thrown) {
    return (thrown as ServiceError).code;
  }
}

it('takes a new certificate and a new nonce without a restart, and lets what is open go on', async () => {
  const secrets = new WatchedFolder();
  const server = await start({
    dataSources: (issuer) => {
      secrets.write('nonce', issuer.claims.nonce);
      return [{ ...dataSource(issuer), nonce: { file: secrets.file('nonce') } }];
    },
  });
  const taken = (what: string): Promise<void> => until(`${what} is taken`, () => server.logged({ event: 'files_taken', what }).length > 0);
  // It trusts the first certificate only: it can go on, and it cannot connect again.
  const early = await server.client();
  await early.list();
  const { certificate } = server;

  const next = await writeThrowAwayCertificate(certificate.folder, systemClock.nowMs());
  await taken('certificate');
  expect(await askedBy(server, { authority: next.certificatePem })).toBe(status.OK);
  expect(await askedBy(server)).toBe(status.UNAVAILABLE);
  expect((await early.list()).virtual_agents).not.toHaveLength(0);

  const [oldToken, newToken] = [await server.issuer.issueToken(), await server.issuer.issueToken({ nonce: 'the-next-nonce' })];
  const withToken = (authorization: string) => askedBy(server, { authority: next.certificatePem, authorization });
  expect([await withToken(oldToken), await withToken(newToken)]).toEqual([status.OK, status.UNAUTHENTICATED]);
  secrets.write('nonce', 'the-next-nonce');
  await taken('data_source_nonces');
  expect([await withToken(oldToken), await withToken(newToken)]).toEqual([status.OK, status.OK]);

  writeFileSync(certificate.keyFile, 'broken');
  await until('it is refused', () => server.logged({ event: REFUSED }).length > 0);
  expect(await server.metric('parley_watched_files_taken{what="certificate"}')).toBe(0);
  expect(await askedBy(server, { authority: next.certificatePem })).toBe(status.OK);
  const ready = await fetch(`http://127.0.0.1:${String(server.app.ready.opsPort)}/health/ready`);
  expect(ready.status).toBe(200);
});

it('O-10 O-11 O-12 W-09 asks clients of the media server for a certificate, beside their token, and nobody else', async () => {
  const authority = await certificateAuthority(systemClock.nowMs());
  const subject = 'CN=voice.example, O=Owner, C=US';
  const [right, wrong] = await Promise.all([authority.issue({ subject }), authority.issue({ subject: 'CN=other.example' })]);
  const caFile = new WatchedFolder().write('clients.pem', authority.pem);
  const server = await start({
    flags: [
      ...WITH_SOCKETS,
      ...['--tls.client_certificates=required', `--tls.client_ca_file=${caFile}`, `--tls.client_subjects=${JSON.stringify([subject])}`],
    ],
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
  });
  expect(await askedBy(server, { certificate: right })).toBe(status.OK);
  expect(await askedBy(server, { certificate: right, authorization: undefined })).toBe(status.UNAUTHENTICATED);
  expect(await askedBy(server, { certificate: wrong })).toBe(status.UNAVAILABLE);
  expect(await askedBy(server)).toBe(status.UNAVAILABLE);
  for (const reason of ['subject', 'missing']) {
    await until(
      'it is counted',
      async () => ((await server.metric(`parley_client_certificates_refused_total{reason="${reason}"}`)) ?? 0) > 0,
    );
  }
  const peer = await connectSocket(server);
  peer.socket.close();
  await peer.closed();
});

it('shows a new certificate to those who deliver webhooks, and goes on taking deliveries', async () => {
  const around = await adminSurroundings();
  const server = await start({ flags: [...around.flags, '--admin.webhooks.tls=true'], dataSources: () => [] });
  const { certificate } = server;
  /** What somebody is told who delivers something unsigned, and trusts this certificate alone. */
  const delivered = (ca: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port: around.webhookPort, path: '/webhooks', servername: 'localhost', agent: false, ca };
      const request = httpsRequest({ ...where, method: 'POST' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      request.on('error', reject).end('{}');
    });
  expect(await delivered(certificate.certificatePem)).toBe(401);
  const next = await writeThrowAwayCertificate(certificate.folder, systemClock.nowMs());
  await until('it is taken', () => server.logged({ event: 'files_taken', what: 'certificate' }).length > 0);
  expect(await delivered(next.certificatePem)).toBe(401);
  await expect(delivered(certificate.certificatePem)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});

it('seals the store of the administration with a new key as soon as it is there', async () => {
  const around = await adminSurroundings();
  const keys = new WatchedFolder();
  const file = keys.write('store.key', around.key);
  const flags = [...around.flags, `--admin.store.keys=${JSON.stringify([{ file }])}`];
  await start({ hasTls: false, flags, dataSources: () => [] });
  const fresh = randomBytes(32).toString('hex');
  keys.write('store.key', fresh);
  await until('it opens with the new key alone', async () => {
    const kept = await readStore({ file: around.storeFile, seal: new Seal(Buffer.from(fresh, 'hex')) }).catch(() => new Map());
    return kept.size > 0;
  });
});
