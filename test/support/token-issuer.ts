// A token issuer for tests: real RSA keys, a real HTTP server on 127.0.0.1 that serves the key sets, and a signer that
// can also write tokens no honest issuer would. It imports nothing of the token check.
import { createPublicKey, generateKeyPairSync, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** Where the key set lies below an issuer in tests. */
export const KEY_SET_SUFFIX = '/keys/current';

/** A signing key with the public half as issuers publish it. */
export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly published: JsonWebKey & { n: string; e: string; kid: string; use: string };
}

/** Keys by id and length: one takes 0.2 s of a core to make. */
const made = new Map<string, SigningKey>();

/** An RSA key: for one id the same as before, unless it must be another. */
export function createSigningKey(id: string, { bits = 2048, isAnother = false } = {}): SigningKey {
  const name = `${id} ${String(bits)}`;
  const known = made.get(name);
  if (known !== undefined && !isAnother) return known;
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const key: SigningKey = { id, privateKey, publicKey, published: { kty: 'RSA', n, e, kid: id, use: 'sig' } };
  made.set(name, key);
  return key;
}

/** base64url of a text, of bytes or of a value as JSON. */
export function encodePart(part: unknown): string {
  if (part instanceof Uint8Array) return Buffer.from(part).toString('base64url');
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

/** Joins header and claims and signs them as RS256 does. Members given as undefined are left out. */
export function signToken(
  key: SigningKey,
  claims: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = {},
): string {
  return signParts(key, encodePart({ alg: 'RS256', typ: 'JWT', kid: key.id, ...header }), encodePart(claims));
}

/** Signs two encoded parts, whatever they hold. */
export function signParts(key: SigningKey, headerPart: string, claimsPart: string): string {
  const signature = sign('sha256', Buffer.from(`${headerPart}.${claimsPart}`), key.privateKey);
  return `${headerPart}.${claimsPart}.${signature.toString('base64url')}`;
}

/** The public half as PEM text, the favourite HMAC secret of forgers. */
export function publicPem(key: SigningKey): string {
  return createPublicKey(key.privateKey).export({ format: 'pem', type: 'spki' }).toString();
}

/** Answers one request for a key set. */
export type Responder = (request: IncomingMessage, response: ServerResponse) => void;

/** An HTTP server with one key set for each region; the address of a region is an issuer. */
export class TokenIssuer {
  readonly #server: Server;
  readonly #sets = new Map<string, readonly JsonWebKey[]>();
  readonly #origin: string;
  #requests: string[] = [];
  /** Replaces the honest answer while it is set. */
  respond: Responder | undefined;
  /** Added to the honest answer. */
  headers: Record<string, string> = {};

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#origin = `http://127.0.0.1:${String(port)}`;
    server.on('request', (request, response) => {
      this.#requests.push(request.url ?? '');
      if (this.respond === undefined) this.#answer(request, response);
      else this.respond(request, response);
    });
  }

  /** Starts a server on a free port of 127.0.0.1. The caller closes it. */
  static async start(): Promise<TokenIssuer> {
    const server = createServer();
    // A slow machine must not meet a connection that is just being closed for idleness.
    server.keepAliveTimeout = 60_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    return new TokenIssuer(server, address.port);
  }

  /** The issuer of a region, as it stands in `iss`. */
  issuer(region = 'home'): string {
    return `${this.#origin}/${region}/idb`;
  }

  /** Replaces the key set of a region. */
  publish(keys: readonly JsonWebKey[], region = 'home'): void {
    this.#sets.set(`/${region}/idb${KEY_SET_SUFFIX}`, keys);
  }

  /** Paths asked for since the start or since `forgetRequests`. */
  get requests(): readonly string[] {
    return this.#requests;
  }

  forgetRequests(): void {
    this.#requests = [];
  }

  /** Leaves requests unanswered from now on; resolves with the response object of the first one. */
  hold(): Promise<ServerResponse> {
    return new Promise((resolve) => {
      this.respond = (_request, response) => {
        resolve(response);
      };
    });
  }

  /** Open connections are cut. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const keys = this.#sets.get(request.url ?? '');
    response.writeHead(keys === undefined ? 404 : 200, { 'content-type': 'application/json', ...this.headers });
    response.end(JSON.stringify({ keys: keys ?? [] }));
  }
}
