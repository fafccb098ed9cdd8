// Stands between us and a platform and hands everything on, both ways. Writes down every secret that it sees, and when it is
// told to, answers in the platform's place with a failure that repeats all that was sent.
import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A failure that repeats what was sent. */
export interface Repetition {
  /** Of which requests, such as `PUT /v1/dataSources/…`; the first that fits is used up. */
  readonly request: RegExp;
  readonly status: number;
  /** The words of the token endpoint instead of the interface's own. */
  readonly oauthError?: string;
}

/** A running go-between. `close` must be called. */
export interface RepeatingPlatform {
  /** Stands in for the origin of the platform. */
  readonly origin: string;
  /** Every secret that has passed, in either direction. */
  readonly secrets: ReadonlySet<string>;
  /** Failures to come. */
  readonly repetitions: Repetition[];
  /** Failures that were played. */
  readonly repeated: readonly string[];
  close(): Promise<void>;
}

/** Members of bodies, forms and addresses that are secret. */
const SECRET_NAMES = new Set([
  ...['clientSecret', 'nonce', 'secret', 'jwsToken', 'jwtToken', 'access_token', 'refresh_token', 'client_secret', 'code', 'code_verifier'],
  'state',
]);
/** Too short to be told from a word by chance. */
const LEAST_CHARS = 12;

/** Starts it on 127.0.0.1. */
export async function repeatingPlatform(platformOrigin: string): Promise<RepeatingPlatform> {
  const secrets = new Set<string>();
  const repetitions: Repetition[] = [];
  const repeated: string[] = [];
  const note = (name: string, value: unknown): void => {
    if (SECRET_NAMES.has(name) && typeof value === 'string' && value.length >= LEAST_CHARS) secrets.add(value);
  };
  const noteBody = (text: string): void => {
    walk(parsed(text), note);
    for (const [name, value] of new URLSearchParams(text)) note(name, value);
  };
  const noteAddress = (address: string): void => {
    if (!URL.canParse(address, platformOrigin)) return;
    for (const [name, value] of new URL(address, platformOrigin).searchParams) note(name, value);
  };
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const sent = await bodyOf(incoming);
      const { method = '', url = '', headers } = incoming;
      noteAddress(url);
      noteBody(sent);
      note('access_token', /^Bearer (?<token>.+)$/u.exec(headers.authorization ?? '')?.groups?.['token']);
      const at = repetitions.findIndex(({ request }) => request.test(`${method} ${url}`));
      const [repetition] = at === -1 ? [] : repetitions.splice(at, 1);
      if (repetition !== undefined) {
        repeated.push(`${String(repetition.status)} ${method} ${url.split('?')[0] ?? ''}`);
        repeat(outgoing, repetition, { url, sent, authorization: headers.authorization ?? '' });
        return;
      }
      const answer = await handOn(platformOrigin, incoming, sent);
      noteBody(answer.text);
      noteAddress(answer.headers.location ?? '');
      outgoing.writeHead(answer.status, answer.headers).end(answer.text);
    })().catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${String(port)}`, secrets, repetitions, repeated, close: () => closed(server) };
}

/** In every way in which one that repeats its input may do so. */
function repeat(
  outgoing: ServerResponse,
  { status, oauthError }: Repetition,
  { url, sent, authorization }: { readonly url: string; readonly sent: string; readonly authorization: string },
): void {
  const form = [...new URLSearchParams(sent).values()].join(' ');
  const message = `cannot do ${decodeURIComponent(url)} with ${authorization} and ${sent} which is ${JSON.stringify(sent)} or ${form}`;
  const oauth = oauthError === undefined ? {} : { error: oauthError, error_description: message };
  outgoing.writeHead(status, { 'content-type': 'application/json', trackingid: authorization.slice('Bearer '.length) || 'none' });
  outgoing.end(JSON.stringify({ message, trackingId: authorization, errors: [{ description: message }], ...oauth }));
}

interface Handed {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

function handOn(origin: string, { method = '', url = '', headers }: IncomingMessage, body: string): Promise<Handed> {
  return new Promise((resolve, reject) => {
    const { 'transfer-encoding': _chunked, ...kept } = headers;
    const asking = send(origin + url, { method, headers: { ...kept, host: new URL(origin).host }, agent: false }, (answer) => {
      bodyOf(answer).then((text) => {
        const { 'transfer-encoding': _pieces, connection: _connection, ...fields } = answer.headers;
        resolve({ status: answer.statusCode ?? 500, headers: { ...fields, 'content-length': String(Buffer.byteLength(text)) }, text });
      }, reject);
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

async function bodyOf(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString();
}

function walk(value: unknown, note: (name: string, value: unknown) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    note(name, member);
    walk(member, note);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
