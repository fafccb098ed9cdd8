// The platform's token issuer: signs data-source tokens and serves its key set on the loopback address. For tests and demos only: the
// private keys are in memory, and everybody on this machine can read the public ones.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createHmac, KeyObject, randomUUID, sign } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose';
import { systemClock, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { PlatformProfile } from '../../contract/profile.ts';

/** The claims of a token about its data source. */
export interface TokenClaims {
  /** Customer organization, a plain UUID. */
  readonly organizationId: string;
  /** The registered address, character for character. */
  readonly url: string;
  readonly schemaId: string;
  readonly audience: string;
  readonly subject: string;
  /** The nonce of the data source, which becomes the claim `jti`. */
  readonly nonce: string;
  /** Time from issue to expiry, minutes (J-01: 1 to 1440). */
  readonly lifetimeMinutes: number;
}

export interface IssuerOptions extends Partial<TokenClaims> {
  readonly profile: PlatformProfile;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Path of the issuer below its origin: empty, or beginning with a slash. Default `/idb`. */
  readonly path?: string;
  readonly clock?: Clock;
  /** Called for each request; must not throw. */
  readonly onRequest?: (request: IssuerRequest) => void;
}

export interface IssuerRequest {
  readonly path: string;
  readonly status: number;
}

/** A token with any claims and headers, valid or not; null removes a member. */
export interface ForgeOrder {
  readonly claims: JsonObject;
  /** Members that are added to algorithm, type and key id, or replace them. */
  readonly header?: JsonObject;
  /** The key that signs: the first published one (default), the newest, or the first one's public half as a secret of HS256. */
  readonly by?: 'first' | 'newest' | 'public_key';
}

/** A running issuer. `close` must be called. */
export interface Issuer {
  /** The `iss` claim: origin and path. */
  readonly issuer: string;
  readonly origin: string;
  readonly keySetUrl: string;
  /** The default claims of tokens. */
  readonly claims: TokenClaims;
  /** Signs a token with the newest key. @param nowMs - time of issue, ms since the epoch. Default: the issuer's clock. */
  issueToken(overrides?: Partial<TokenClaims>, nowMs?: number): Promise<string>;
  /** Signs any claims and headers, even those that no real platform presents. */
  forge(order: ForgeOrder): string;
  /**
   * Makes a new key, which signs from now on. The old keys stay published, unless `forgetOld` (J-2A). At most ten keys are published: a key
   * whose valid tokens have all expired is dropped first.
   */
  rotateKey(options?: { readonly forgetOld?: boolean }): Promise<void>;
  /** The latest requests, oldest first; at most 1000. */
  readonly requests: readonly IssuerRequest[];
  /** How often the key set has been served. */
  keySetAnswers(): number;
  close(): Promise<void>;
}

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
  /** Expiry of the last valid token that the key has signed, ms since the epoch; 0: the key has signed none. */
  neededUntilMs: number;
}

const MAX_REQUESTS = 1000;
const MAX_KEYS = 10;
const ALGORITHM = 'RS256';

type KeyPair = Pick<SigningKey, 'privateKey' | 'publicKey'>;

/** Keys of closed issuers, for reuse under other ids: a new key takes 0.2 s of CPU. */
const spareKeys: KeyPair[] = [];

/** Starts an issuer on 127.0.0.1. @throws AppError `listen_failed` when the port is taken. */
export async function startIssuer(options: IssuerOptions): Promise<Issuer> {
  const { profile, clock = systemClock, port = 0, path = '/idb' } = options;
  const keys: SigningKey[] = [await makeKey()];
  const requests: IssuerRequest[] = [];
  let keySetAnswers = 0;
  const keySetPath = `${path}${profile.jws.keySetSuffix}`;

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const found = request.method === 'GET' && request.url === keySetPath;
    const status = found ? 200 : 404;
    const asked = { path: (request.url ?? '').slice(0, 200), status };
    requests.push(asked);
    if (found) keySetAnswers += 1;
    options.onRequest?.(asked);
    if (requests.length > MAX_REQUESTS) requests.shift();
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'max-age=3600' });
    response.end(found ? JSON.stringify({ keys: keys.map((key) => key.publicJwk) }) : '{"message":"not found"}');
  };
  const server = createServer(answer);
  const address = await new Promise<AddressInfo>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new AppError('listen_failed', `the issuer cannot listen on 127.0.0.1:${String(port)}`, { cause, details: { port } }));
    });
    server.listen(port, '127.0.0.1', () => {
      const bound = server.address();
      // A server that listens on a TCP port has an address of this form.
      if (typeof bound === 'object' && bound !== null) resolve(bound);
    });
  });
  const origin = `http://127.0.0.1:${String(address.port)}`;
  const issuer = `${origin}${path}`;
  const claims: TokenClaims = {
    organizationId: options.organizationId ?? randomUUID(),
    url: options.url ?? 'https://localhost',
    schemaId: options.schemaId ?? profile.schemas.grpc,
    audience: options.audience ?? profile.defaults?.audience ?? 'parley',
    subject: options.subject ?? profile.defaults?.subject ?? 'calls',
    nonce: options.nonce ?? randomUUID(),
    lifetimeMinutes: options.lifetimeMinutes ?? 60,
  };
  return {
    issuer,
    origin,
    keySetUrl: `${origin}${keySetPath}`,
    claims,
    requests,
    keySetAnswers: () => keySetAnswers,
    issueToken: (overrides = {}, nowMs = clock.nowMs()) => {
      const key = keys.at(-1);
      if (key === undefined) throw new TypeError('an issuer always has a key');
      const said = { ...claims, ...overrides };
      key.neededUntilMs = Math.max(key.neededUntilMs, nowMs + said.lifetimeMinutes * 60_000);
      return signToken(key, issuer, said, profile, nowMs);
    },
    forge: ({ by = 'first', ...token }) => {
      const key = by === 'newest' ? keys.at(-1) : keys[0];
      if (key === undefined) throw new TypeError('an issuer always has a key');
      return forgeToken(key, token, by === 'public_key');
    },
    rotateKey: async ({ forgetOld = false } = {}) => {
      const key = await makeKey();
      const idle = keys.findIndex(({ neededUntilMs }) => neededUntilMs <= clock.nowMs());
      if (forgetOld) keys.length = 0;
      else if (keys.length >= MAX_KEYS) keys.splice(Math.max(0, idle), 1);
      keys.push(key);
    },
    close: () =>
      new Promise((resolve) => {
        // A second `close` must not add the keys again, or two issuers would share one.
        if (server.listening) spareKeys.push(...keys.slice(0, Math.max(0, MAX_KEYS - spareKeys.length)));
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function makeKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = spareKeys.pop() ?? (await generateKeyPair(ALGORITHM, { modulusLength: 2048 }));
  const kid = randomUUID();
  // The platform's key set may lack `alg`, so this one does.
  return { kid, privateKey, publicKey, publicJwk: { ...(await exportJWK(publicKey)), use: 'sig', kid }, neededUntilMs: 0 };
}

function signToken(key: SigningKey, issuer: string, claims: TokenClaims, { jws }: PlatformProfile, nowMs: number): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1000);
  return new SignJWT({
    [jws.claims.url]: claims.url,
    [jws.claims.schema]: claims.schemaId,
    [jws.claims.org]: claims.organizationId,
  })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: key.kid })
    .setIssuer(issuer)
    .setAudience(claims.audience)
    .setSubject(claims.subject)
    .setJti(claims.nonce)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + claims.lifetimeMinutes * 60)
    .sign(key.privateKey);
}

function forgeToken({ kid, privateKey, publicKey }: SigningKey, { claims, header = {} }: ForgeOrder, isSymmetric: boolean): string {
  const part = (members: JsonObject): string =>
    Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)))).toString('base64url');
  const signed = `${part({ alg: ALGORITHM, typ: 'JWT', kid, ...header })}.${part(claims)}`;
  const secret = (): string | Buffer => KeyObject.from(publicKey).export({ type: 'spki', format: 'pem' });
  const signature = isSymmetric
    ? createHmac('sha256', secret()).update(signed).digest()
    : sign('RSA-SHA256', Buffer.from(signed), KeyObject.from(privateKey));
  return `${signed}.${signature.toString('base64url')}`;
}
