import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ServiceAppEvent } from '../../../../src/admin/webhooks/delivery.ts';
import { startEndpoint, type Endpoint } from '../../../../src/admin/webhooks/endpoint.ts';
import type { Received } from '../../../../src/admin/webhooks/inbox.ts';
import { Receiver } from '../../../../src/admin/webhooks/receiver.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { LiveValue } from '../../../../src/base/live-value.ts';
import { certificateAuthority } from '../../../support/certificate-authority.ts';
import { testCertificate } from '../../../support/certificate.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { identityOf, TlsPeer } from '../../../support/tls-peer.ts';
import { until } from '../../../support/until.ts';

const SECRET = 'a secret of ours';
const APP = `C${'0a'.repeat(32)}`;
const ORG = 'c0ffee00-1111-4222-8333-444455556666';
const BODY = JSON.stringify({
  resource: 'serviceApp',
  event: 'authorized',
  data: { id: APP, authorizerOrgId: ORG, authorizationDate: '2026-09-29T08:00:00Z' },
});
const sign = (body: string, secret = SECRET): string => createHmac('sha1', secret).update(body).digest('hex');

const events: ServiceAppEvent[] = [];
const outcomes: string[] = [];
let receive: (event: ServiceAppEvent) => Promise<Received> = () => Promise.resolve('taken');
let endpoint: Endpoint | undefined;
let clock = new FakeClock();

async function start(options: Partial<Parameters<typeof startEndpoint>[0]> = {}): Promise<string> {
  const receiver = new Receiver({
    target: { applicationId: APP, resource: 'serviceApp', idScheme: 'fakeid://' },
    inbox: {
      receive: (event) => {
        events.push(event);
        return receive(event);
      },
    },
    secrets: () => [SECRET],
    onDelivery: (outcome) => outcomes.push(outcome),
  });
  endpoint = await startEndpoint({
    host: '127.0.0.1',
    port: 0,
    path: '/webhooks',
    sha1Header: 'X-Fake-Signature',
    sha2Header: 'X-Fake-Strong',
    ...{ unverifiedTimeoutMs: 10_000, maxUnverifiedPerAddress: 50 },
    ...{ receiver, clock },
    ...options,
  });
  return `http://127.0.0.1:${String(endpoint.port)}/webhooks`;
}

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

afterEach(async () => {
  await endpoint?.close();
  endpoint = undefined;
  events.length = 0;
  outcomes.length = 0;
  receive = () => Promise.resolve('taken');
  expect(clock.pendingTimers).toBe(0);
  clock = new FakeClock();
});

describe('the webhook endpoint', () => {
  it('H-20 acknowledges a good delivery with 202 and nothing else, whatever its content type', async () => {
    const url = await start();
    for (const type of ['application/json', 'application/json; charset=utf-8', 'text/plain', 'application/octet-stream']) {
      const answer = await post(url, BODY, { 'x-fake-signature': sign(BODY), 'content-type': type });
      expect([answer.status, await answer.text()]).toEqual([202, '']);
    }
    expect(events).toHaveLength(4);
    expect(events[0]).toMatchObject({ event: 'authorized', organizationId: ORG });
  });

  it('H-24 acknowledges only what has been kept', async () => {
    const url = await start();
    let keep: (received: Received) => void = () => undefined;
    receive = () => new Promise((resolve) => (keep = resolve));
    const answer = post(url, BODY, { 'x-fake-signature': sign(BODY) });
    while (events.length === 0) await new Promise(setImmediate);
    keep('taken');
    expect((await answer).status).toBe(202);
    receive = () => Promise.reject(new AppError('store_failed', 'disk full'));
    expect((await post(url, BODY, { 'x-fake-signature': sign(BODY) })).status).toBe(503);
    expect(outcomes).toEqual(['taken', 'failed']);
  });

  it.each([
    ['without a signature', 401, BODY, undefined],
    ['with the signature of another secret', 401, BODY, sign(BODY, 'another')],
    ['with the signature of another body', 401, BODY, sign('{}')],
    ['that is empty', 401, '', sign(BODY)],
    ['that is genuine and of something else', 400, '{"resource":"rooms"}', sign('{"resource":"rooms"}')],
    ['that is genuine and no JSON', 400, 'hello', sign('hello')],
  ])('H-12 H-20 H-21 a delivery %s is answered with %i and changes nothing', async (_, status, body, signature) => {
    const url = await start();
    const answer = await post(url, body, signature === undefined ? {} : { 'x-fake-signature': signature });
    expect([answer.status, await answer.text()]).toEqual([status, '']);
    expect(events).toEqual([]);
    expect(outcomes).toEqual([status === 401 ? 'unsigned' : 'foreign']);
  });

  it('gives strangers a status and nothing to read, and looks at no large body', async () => {
    const url = await start();
    const large = 'x'.repeat(64 * 1024 + 1);
    for (const [answer, status] of [
      [await fetch(url), 404],
      [await post(`${url}/other`, BODY, { 'x-fake-signature': sign(BODY) }), 404],
      [await post(url, large, { 'x-fake-signature': sign(large) }), 413],
    ] as const)
      expect([answer.status, await answer.text()]).toEqual([status, '']);
    expect(outcomes).toEqual([]);
  });

  it('does not answer a request that never ends with anything but its end', async () => {
    const url = new URL(await start());
    const socket = connect(Number(url.port), '127.0.0.1');
    socket.write(`POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf`);
    expect(await text(socket)).toBe('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    expect(events).toEqual([]);
  });

  it('answers what is no request with a status and nothing to read', async () => {
    const socket = connect(Number(new URL(await start()).port), '127.0.0.1');
    socket.write('hello\r\n\r\n');
    expect(await text(socket)).toBe('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });

  it('speaks TLS where it is given a certificate', async () => {
    const certificate = await testCertificate();
    onTestFinished(() => {
      certificate.remove();
    });
    const tls = new LiveValue(identityOf({ cert: certificate.certificatePem, key: readFileSync(certificate.keyFile, 'utf8') }));
    const url = (await start({ tls })).replace('http:', 'https:');
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(
        url,
        { method: 'POST', ca: certificate.certificatePem, servername: 'localhost', headers: { 'x-fake-signature': sign(BODY) } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      )
        .on('error', reject)
        .end(BODY);
    });
    expect(status).toBe(202);
  });

  it('shows a new certificate to new connections while an open one goes on', async () => {
    const authority = await certificateAuthority(systemClock.nowMs());
    const [before, after] = [identityOf(await authority.issue()), identityOf(await authority.issue())];
    const tls = new LiveValue(before);
    const port = Number(new URL(await start({ tls })).port);
    const open = await TlsPeer.connect(port, { ca: authority.pem });
    tls.set(after);
    const next = await TlsPeer.connect(port, { ca: authority.pem });
    expect([open.shows(before), next.shows(after)]).toEqual([true, true]);
    expect(await open.answerTo('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /u);
    next.end();
  });

  it('says which address is taken', async () => {
    const url = new URL(await start());
    const first = endpoint;
    await expect(start({ port: Number(url.port) })).rejects.toMatchObject({ code: 'listen_failed', details: { port: Number(url.port) } });
    endpoint = first;
  });
});

describe('the end of the webhook endpoint', () => {
  /** A connection that is open on both sides and says nothing more. */
  async function silent(port: number, sent: string): Promise<{ readonly socket: Socket; readonly isClosed: () => boolean }> {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let isClosed = false;
    socket.on('error', () => undefined).once('close', () => (isClosed = true));
    socket.resume().write(sent);
    // Connections are accepted in their order: once another one is answered, the server has this one.
    await fetch(`http://127.0.0.1:${String(port)}/`, { headers: { connection: 'close' } }).catch(() => undefined);
    return { socket, isClosed: () => isClosed };
  }

  it.each([
    ['whose head is half sent', 'POST /webhooks HTTP/1.1\r\nhost: x\r\n'],
    ['whose body is half sent', 'POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf'],
  ])('waits for a connection %s no longer than a request may take', async (_, sent) => {
    const { isClosed } = await silent(Number(new URL(await start()).port), sent);
    let isOver = false;
    const closing = endpoint?.close().then(() => (isOver = true));
    await until('it waits', () => clock.nextTimerInMs === 6000);
    await clock.advanceAsync(5999);
    expect([isOver, isClosed()]).toEqual([false, false]);
    await clock.advanceAsync(1);
    await until('it is closed', () => isOver && isClosed(), 5000);
    await closing;
  });

  it('waits for a connection that says nothing no longer than that either; newer versions of Node close it at once', async () => {
    const { isClosed } = await silent(Number(new URL(await start()).port), '');
    let isOver = false;
    const closing = endpoint?.close().then(() => (isOver = true));
    await clock.advanceAsync(6000);
    await until('it is closed', () => isOver && isClosed(), 5000);
    await closing;
  });

  it('waits no longer for one that never begins to speak TLS', async () => {
    const certificate = await testCertificate();
    onTestFinished(() => {
      certificate.remove();
    });
    const tls = new LiveValue(identityOf({ cert: certificate.certificatePem, key: readFileSync(certificate.keyFile, 'utf8') }));
    const { isClosed } = await silent(Number(new URL(await start({ tls })).port), '');
    let isOver = false;
    const closing = endpoint?.close().then(() => (isOver = true));
    await until('it waits', () => clock.nextTimerInMs === 6000);
    await clock.advanceAsync(6000);
    await until('it is closed', () => isOver && isClosed(), 5000);
    await closing;
  });

  /** Connects and says no more; who is accepted first is decided by the order of the calls. */
  function stranger(port: number): { readonly socket: Socket; readonly isClosed: () => boolean } {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let isClosed = false;
    socket
      .on('error', () => undefined)
      .once('close', () => (isClosed = true))
      .resume();
    return { socket, isClosed: () => isClosed };
  }

  it('P-18 closes the oldest connections of one address that bring no good delivery, and the others in time', async () => {
    const port = Number(new URL(await start({ maxUnverifiedPerAddress: 2 })).port);
    const strangers = [0, 1, 2, 3].map(() => stranger(port));
    const closed = (): readonly boolean[] => strangers.map(({ isClosed }) => isClosed());
    await until('the oldest two give way', () => closed().filter(Boolean).length === 2);
    expect(closed()).toEqual([true, true, false, false]);
    clock.advance(9999);
    expect(clock.pendingTimers).toBe(2);
    clock.advance(1);
    await until('the others are out of time', () => !closed().includes(false));
  });

  it('P-18 closes no connection whose first delivery is being kept, however long that takes', async () => {
    const url = await start();
    let keep: (received: Received) => void = () => undefined;
    receive = () => new Promise((resolve) => (keep = resolve));
    const answer = post(url, BODY, { 'x-fake-signature': sign(BODY) });
    await until('it arrives', () => events.length === 1);
    clock.advance(10_000);
    keep('taken');
    expect((await answer).status).toBe(202);
  });

  it('P-18 leaves a connection alone that has brought a good delivery', async () => {
    const port = Number(new URL(await start({ maxUnverifiedPerAddress: 1 })).port);
    const good = stranger(port);
    const length = String(Buffer.byteLength(BODY));
    good.socket.write(`POST /webhooks HTTP/1.1\r\nhost: x\r\nx-fake-signature: ${sign(BODY)}\r\ncontent-length: ${length}\r\n\r\n${BODY}`);
    await until('nothing waits for a good delivery', () => outcomes.length === 1 && clock.pendingTimers === 0);
    const [first, second] = [stranger(port), stranger(port)];
    await until('a stranger gives way', first.isClosed);
    clock.advance(10_000);
    await until('the other one is out of time', second.isClosed);
    expect(good.isClosed()).toBe(false);
  });

  it('answers a delivery that is being taken, and then waits for nothing', async () => {
    const url = await start();
    let keep: (received: Received) => void = () => undefined;
    receive = () => new Promise((resolve) => (keep = resolve));
    const answer = post(url, BODY, { 'x-fake-signature': sign(BODY) });
    await until('it arrives', () => events.length === 1);
    const closing = endpoint?.close();
    await until('it waits', () => clock.nextTimerInMs === 6000);
    keep('taken');
    expect((await answer).status).toBe(202);
    await closing;
    expect(clock.nextTimerInMs).toBeUndefined();
  });
});
