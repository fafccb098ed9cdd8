// Values of the authorization header. An input is a JSON object that says what is signed and by whom, or else the value itself;
// `{{…}}` stands for parts of a good token. What the check does is compared with what the reference says.
import { createPublicKey, generateKeyPairSync, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import http2 from 'node:http2';
import tls from 'node:tls';
import { TrustedDataSources } from '../../../src/auth/data-sources.ts';
import { TokenVerifier } from '../../../src/auth/jws-verifier.ts';
import { KeySource } from '../../../src/auth/key-source.ts';
import { NonceBook } from '../../../src/auth/nonces.ts';
import { refusalReason } from '../../../src/auth/refusal.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { parseJson, type JsonObject, type JsonValue } from '../../../src/base/json.ts';
import { createLogger } from '../../../src/base/log.ts';
import type { PlatformProfile } from '../../../src/contract/profile.ts';
import type { Issuer } from '../../../src/fake-platform/platform/issuer.ts';
import type { Area, Reaction } from '../area.ts';
import { drawn, mutated, mutatedText } from '../mutations.ts';
import { ANSWER_MS, atMost, type Target } from '../target.ts';
import { tokenRecipes } from '../token-recipes.ts';
import { isGood, type Policy } from '../token-reference.ts';

/** Accepted, or refused before the token was read: too much in one header, or too many at once. */
const NEUTRAL = new Set(['accepted', 'closed', 'busy', '431', '503']);

/** Longest recipe. */
const MAX_RECIPE_CHARS = 9000;

/** What recipes are made with. */
interface Kitchen {
  readonly issuer: Issuer;
  readonly good: string;
  readonly web: string;
  readonly claims: JsonObject;
  readonly kid: string;
  readonly stranger: KeyObject;
}

/** @param web - a good token for the other transport. */
export async function tokens(issuer: Issuer, profile: PlatformProfile, web: string, target?: Target): Promise<Area> {
  const good = await issuer.issueToken({ lifetimeMinutes: 1380 });
  const [head, claims] = partsOf(good);
  const { keys } = (await (await fetch(issuer.keySetUrl)).json()) as { readonly keys: readonly [JsonWebKey] };
  const kid = textOf(head['kid']);
  const publicKey = createPublicKey({ key: keys[0], format: 'jwk' });
  const { privateKey: stranger } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kitchen: Kitchen = { issuer, good, web, claims, kid, stranger };
  const onStream: Policy = { publicKey, kid, claims, needsScheme: false };
  const onSocket: Policy = { publicKey, kid, claims: partsOf(web)[1], needsScheme: true };
  const verifier = verifierOf(issuer, profile);
  const judged = (value: string, outcome: string, policy: Policy): Reaction => {
    const should = isGood(value, policy);
    if (outcome === 'accepted' && should === false) return { outcome, wrong: 'a token was accepted that the policy refuses' };
    return { outcome, ...(should === true && !NEUTRAL.has(outcome) && { wrong: `a good token was refused: ${outcome}` }) };
  };
  return {
    name: 'tokens',
    seeds: tokenRecipes(profile).map((text) => Buffer.from(text)),
    mutate: (input, random, other) =>
      random() < 0.3 ? mutated(input, random, other) : Buffer.from(mutatedText(withMember(input.toString(), kitchen, random), random)),
    read: async (input) => {
      const value = cooked(input.toString(), kitchen);
      const outcome = await verifier(value);
      if (outcome === 'verifier_failed') return { outcome, wrong: 'the check itself failed' };
      return judged(value, outcome, onStream);
    },
    ...(target !== undefined && {
      send: async (input: Buffer) => {
        const value = cooked(input.toString(), kitchen);
        // No client can send any other.
        if (!/^[\t\x20-\x7e\x80-\xff]*$/u.test(value) || value !== value.trim()) return { outcome: 'no header' };
        const answers = await Promise.all([streamAnswer(value, target), socketAnswer(value, target)]);
        const both = [judged(value, answers[0], onStream), judged(value, answers[1], onSocket)];
        const wrong = both.find((reaction) => reaction.wrong !== undefined)?.wrong;
        return { outcome: answers.join(' '), ...(wrong !== undefined && { wrong }) };
      },
    }),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Header and claims. */
function partsOf(token: string): readonly [JsonObject, JsonObject] {
  const [head, claims] = token.split('.', 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as JsonObject);
  if (head === undefined || claims === undefined) throw new TypeError('a good token has three parts');
  return [head, claims];
}

/** One more member of a recipe, as often as not, so that all of them are met. */
function withMember(text: string, { claims }: Kitchen, random: () => number): string {
  const recipe = recipeIn(text);
  const name = drawn(Object.keys(claims), random);
  if (random() < 0.5 || recipe === undefined || name === undefined) return text;
  return JSON.stringify({ ...recipe, claims: { [name]: `{{${name}}}` } });
}

/** Undefined: the text is the value of a header. What is longer than any token is no recipe. */
function recipeIn(text: string): object | undefined {
  const recipe = text.length > MAX_RECIPE_CHARS ? undefined : parseJson(text);
  return typeof recipe === 'object' && recipe !== null ? recipe : undefined;
}

/** The value of a header that an input stands for. */
function cooked(text: string, { claims, good, web, kid, issuer, stranger }: Kitchen): string {
  const [head = '', body = '', signature = ''] = good.split('.');
  const words = new Map(Object.entries({ ...claims, good, web, head, body, signature, kid }).map(([name, value]) => [name, textOf(value)]));
  const nowS = Math.floor(systemClock.nowMs() / 1000);
  const filled = text
    .replace(/"\{\{now([+-]\d{1,9})?\}\}"/gu, (_, later: string | undefined) => String(nowS + Number(later ?? 0)))
    .replace(/\{\{([\w.:/-]+)\}\}/gu, (whole, name: string) => words.get(name) ?? whole);
  const recipe = recipeIn(text) && recipeIn(filled);
  if (recipe === undefined) return filled;
  const members = (name: string): JsonObject => {
    const given: unknown = Reflect.get(recipe, name);
    return typeof given === 'object' && given !== null ? { ...(given as JsonObject) } : {};
  };
  const by: unknown = Reflect.get(recipe, 'by');
  const signed = issuer.forge({
    claims: { ...claims, ...members('claims') },
    header: members('header'),
    by: by === 'public_key' ? 'public_key' : 'newest',
  });
  if (by !== 'stranger') return signed;
  const input = signed.slice(0, signed.lastIndexOf('.'));
  return `${input}.${sign('sha256', Buffer.from(input), stranger).toString('base64url')}`;
}

/** The check of the server, in this process. */
function verifierOf(issuer: Issuer, profile: PlatformProfile): (value: string) => Promise<string> {
  const log = createLogger({ level: 'silent' });
  const { claims } = issuer;
  const names = profile.jws.claims;
  const keys = new KeySource({
    issuers: [issuer.issuer],
    keySetSuffix: profile.jws.keySetSuffix,
    allowLoopbackHttp: true,
    clock: systemClock,
    log,
  });
  const nonces = new NonceBook({ clock: systemClock });
  nonces.rotate('ds', claims.nonce);
  const verifier = new TokenVerifier({
    ...{ keys, nonces, clock: systemClock, log },
    dataSources: new TrustedDataSources([{ id: 'ds', transport: 'grpc', ...claims }]),
    claimNames: { url: names.url, schema: names.schema, organization: names.org },
  });
  return async (value) => {
    try {
      await verifier.verify(value, 'grpc');
      return 'accepted';
    } catch (thrown) {
      return refusalReason(thrown) ?? 'verifier_failed';
    }
  };
}

/** `accepted` for any answer but a refusal of the token. */
async function streamAnswer(authorization: string, { url, certificatePem, callerInputPath }: Target): Promise<string> {
  const session = http2.connect(url, { ca: certificatePem }).on('error', () => undefined);
  try {
    const head = { ':method': 'POST', ':path': callerInputPath, 'content-type': 'application/grpc', te: 'trailers', authorization };
    const stream = session.request(head);
    const answer = new Promise<string>((resolve) => {
      const readStatus = (headers: http2.IncomingHttpHeaders): void => {
        const code = headers['grpc-status'];
        if (code !== undefined) resolve(code === '16' ? 'unauthenticated' : code === '8' || code === '14' ? 'busy' : 'accepted');
      };
      stream.on('response', readStatus).on('trailers', readStatus);
      stream.once('close', () => {
        resolve('closed');
      });
    });
    stream.on('error', () => undefined).resume();
    stream.end();
    return (await atMost(answer, ANSWER_MS)) ?? 'accepted';
  } catch {
    return 'no client can send it';
  } finally {
    session.destroy();
  }
}

async function socketAnswer(authorization: string, { socketPort, certificatePem }: Target): Promise<string> {
  const socket = tls.connect({ port: socketPort, host: '127.0.0.1', servername: 'localhost', ca: certificatePem });
  socket.on('error', () => undefined);
  const lines = ['GET /v1/va HTTP/1.1', 'Host: h', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  socket.write([...lines, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', `Authorization: ${authorization}`, '', ''].join('\r\n'), 'latin1');
  const said = new Promise<string>((resolve) => {
    socket.once('data', (chunk: Buffer) => {
      resolve(chunk.toString('latin1').slice(9, 12));
    });
    socket.once('close', () => {
      resolve('closed');
    });
  });
  const status = (await atMost(said, ANSWER_MS)) ?? 'silent';
  socket.destroy();
  return status === '101' ? 'accepted' : status;
}
