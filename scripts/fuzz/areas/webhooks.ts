// Deliveries of webhooks: whole HTTP requests. `SHA1-OF-THE-BODY` and the like stand for a signature with our secret.
import { createHmac } from 'node:crypto';
import net from 'node:net';
import { readDelivery, type DeliveryTarget } from '../../../src/admin/webhooks/delivery.ts';
import { startEndpoint } from '../../../src/admin/webhooks/endpoint.ts';
import { Receiver } from '../../../src/admin/webhooks/receiver.ts';
import { isGenuine } from '../../../src/admin/webhooks/signature.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Area, Reaction } from '../area.ts';
import { mutated, mutatedText } from '../mutations.ts';
import { ANSWER_MS, atMost } from '../target.ts';

const SECRET = 'a secret of ours';
const TARGET: DeliveryTarget = { applicationId: `C${'0a'.repeat(32)}`, resource: 'serviceApp', idScheme: 'fakeid://' };
const [SHA1, SHA2] = ['x-fake-signature', 'x-fake-strong'];
const HASHES = ['sha1', 'sha256', 'sha512'] as const;
const END = '\r\n\r\n';

const body = (event: string): string =>
  JSON.stringify({
    resource: TARGET.resource,
    event,
    orgId: 'developer',
    data: {
      id: TARGET.applicationId,
      authorizerOrgId: 'c0ffee00-1111-4222-8333-444455556666',
      authorizationDate: '2026-09-29T08:00:00.000Z',
    },
  });
const delivery = (content: string, ...headers: readonly string[]): Buffer =>
  Buffer.from(
    [`POST /webhooks HTTP/1.1`, 'host: x', 'content-type: application/json', 'content-length: LENGTH', ...headers].join('\r\n') +
      END +
      content,
  );

export async function webhooks(): Promise<Area> {
  const endpoint = await open();
  return {
    name: 'webhooks',
    seeds: [
      delivery(body('authorized'), `${SHA1}: SHA1-OF-THE-BODY`),
      delivery(body('deauthorized'), `${SHA1}: SHA1-OF-THE-BODY`, `${SHA2}: SHA-256=SHA256-OF-THE-BODY,SHA-512=SHA512-OF-THE-BODY`),
      delivery(body('authorized'), `${SHA2}: SHA512-OF-THE-BODY`, 'transfer-encoding: chunked'),
      delivery(body('authorized'), `${SHA1}: ${'0'.repeat(40)}`),
      delivery('', 'expect: 100-continue'),
    ],
    mutate: (input, random, other) => {
      if (random() < 0.4) return mutated(input, random, other);
      const [head, content] = halves(input);
      // What is signed is what counts.
      if (random() < 0.7) return Buffer.concat([head, Buffer.from(mutatedText(content.toString(), random))]);
      return Buffer.concat([Buffer.from(mutatedText(head.toString('latin1'), random), 'latin1'), content]);
    },
    read: (input) => {
      const [head, content] = halves(signed(input));
      const event = readDelivery(content, TARGET);
      const header = (name: string): string | undefined => new RegExp(`^${name}: *(.*)$`, 'imu').exec(head.toString('latin1'))?.[1];
      const isGood = isGenuine(content, { sha1: header(SHA1), sha2: header(SHA2) }, [SECRET]);
      const outcome = `${event?.event ?? 'foreign'} ${String(isGood)}`;
      if (isGood && !isSigned(head, content)) return { outcome, wrong: 'a delivery without a signature counts as genuine' };
      return { outcome };
    },
    send: (input) => send(signed(input), endpoint.port),
    close: () => endpoint.close(),
  };
}

function open() {
  const receiver = new Receiver({
    target: TARGET,
    inbox: { receive: () => Promise.resolve('taken') },
    secrets: () => [SECRET],
    onDelivery: () => undefined,
  });
  return startEndpoint({
    ...{ host: '127.0.0.1', port: 0, path: '/webhooks', sha1Header: SHA1, sha2Header: SHA2, receiver, clock: systemClock },
    ...{ unverifiedTimeoutMs: 10_000, maxUnverifiedPerAddress: 50 },
  });
}

/** Head with its end, and body. */
function halves(input: Buffer): readonly [Buffer, Buffer] {
  const at = input.indexOf(END);
  return at < 0 ? [input, Buffer.alloc(0)] : [input.subarray(0, at + END.length), input.subarray(at + END.length)];
}

const digest = (hash: string, content: Uint8Array): string => createHmac(hash, SECRET).update(content).digest('hex');

/** With the signatures and the length that its head asks for. */
function signed(input: Buffer): Buffer {
  const [head, content] = halves(input);
  let text = head.toString('latin1').replaceAll('LENGTH', String(content.length));
  for (const hash of HASHES) text = text.replaceAll(`${hash.toUpperCase()}-OF-THE-BODY`, digest(hash, content));
  return Buffer.concat([Buffer.from(text, 'latin1'), content]);
}

/** Whether anything in the head could be a signature of the body, or of a part of it, as a request may end early. */
function isSigned(head: Buffer, content: Buffer): boolean {
  const text = head.toString('latin1');
  return HASHES.some((hash) => text.includes(digest(hash, content)));
}

async function send(request: Buffer, port: number): Promise<Reaction> {
  const socket = net.connect(port, '127.0.0.1');
  let said = '';
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (said += chunk.toString('latin1')));
  const over = new Promise<true>((resolve) => {
    socket.once('close', () => {
      resolve(true);
    });
    socket.once('data', () => setTimeout(resolve, 20, true));
  });
  socket.end(request);
  const isAnswered = (await atMost(over, ANSWER_MS)) === true;
  socket.destroy();
  const statuses = [...said.matchAll(/HTTP\/1\.1 (\d{3})/gu)].map((match) => match[1] ?? '');
  const outcome = statuses[0] ?? (isAnswered ? 'closed' : 'silent');
  const [head, content] = halves(request);
  if (!isAnswered) return { outcome, wrong: 'a delivery had no answer, and its connection stays' };
  if (statuses.some((status) => status.startsWith('5'))) return { outcome, wrong: `a delivery was answered with ${outcome}` };
  // A request that says it is shorter, or comes in chunks, has another body; only the whole one is judged.
  const isWhole = head.includes(`content-length: ${String(content.length)}\r\n`);
  if (isWhole && statuses.includes('202') && !isSigned(head, content))
    return { outcome, wrong: 'a delivery without a signature was taken' };
  return { outcome };
}
