// Conformance runs for tests: the reference server, whole or broken, and the checks on it, fast.
import { systemClock } from '../../src/base/clock.ts';
import type { Check } from '../../src/fake-platform/conformance/catalog.ts';
import { RPC_SUITE, SOCKET_SUITE } from '../../src/fake-platform/conformance/registry.ts';
import { runConformance, type Conformance, type RunOptions } from '../../src/fake-platform/conformance/run.ts';
import type { Suite } from '../../src/fake-platform/conformance/registry.ts';
import type { GivenSuspect } from '../../src/fake-platform/conformance/suspect.ts';
import { issuerSigner } from '../../src/fake-platform/conformance/tokens.ts';
import type { Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../src/fake-platform/platform/profile.ts';
import { parseTarget } from '../../src/fake-platform/lines/target.ts';
import { BREACHES, type Breach, type Freedom } from '../fixtures/broken-servers/breaches.ts';
import { startReferenceServer } from '../fixtures/broken-servers/reference-server.ts';
import { SOCKET_BREACHES, type SocketBreach, type SocketFreedom } from '../fixtures/broken-servers/ws-breaches.ts';
import { startSocketReference } from '../fixtures/broken-servers/ws-reference-server.ts';
import type { TokenRules } from '../fixtures/broken-servers/tokens.ts';
import { recorded, signal } from './line-signals.ts';

const profile = loadProfile('fake');

/** What a run on a server of this process needs to know. */
export interface ExamineOptions extends Pick<RunOptions, 'checkMs' | 'onResult' | 'isOurs'> {
  readonly checks?: readonly Check[];
  readonly issuer?: Issuer;
  readonly jobs?: number;
  readonly signal?: AbortSignal;
  readonly suspect?: Partial<GivenSuspect>;
}

/** Runs checks on a server of RPCs, with the keys of the reference server. It is held to our own decisions, too, unless told otherwise. */
export function examine(target: string, options: ExamineOptions = {}): Promise<Conformance> {
  return examineBy(RPC_SUITE, target, options);
}

/** Runs checks on a server of sockets, with the keys of the reference server. */
export function examineSocket(target: string, options: ExamineOptions = {}): Promise<Conformance> {
  return examineBy(SOCKET_SUITE, target, options);
}

async function examineBy(
  suite: Suite,
  target: string,
  { checks = suite.checks, issuer, isOurs = true, jobs = 8, signal, suspect = {}, ...more }: ExamineOptions,
): Promise<Conformance> {
  return runConformance({
    ...more,
    ...{ suite, checks, isOurs, jobs },
    ...(signal === undefined ? {} : { signal }),
    suspect: {
      target: parseTarget(target),
      ...{ profile, clock: systemClock, agentId: '' },
      organizationId: issuer?.claims.organizationId ?? 'conformance',
      token: issuer === undefined ? undefined : await issuer.issueToken(),
      signer: issuer === undefined ? undefined : issuerSigner(issuer),
      speech: recorded('yes'),
      ...{ press: ['1'], endPress: ['9'], transferPress: ['8'] },
      timing: { answerMs: 10_000, pace: 8, newKeyMs: 1000 },
      ...suspect,
    },
  });
}

/** Starts a reference server, runs checks on it, and closes it. Breaches of the token check need an issuer. */
export async function examineReference(
  server: { readonly breach?: Breach | Freedom; readonly mode?: 'chunk' | 'wav' },
  options: ExamineOptions = {},
): Promise<Conformance> {
  const { issuer } = options;
  const reference = await startReferenceServer({ ...server, ...(issuer === undefined ? {} : { tokens: tokenRules(issuer) }) });
  try {
    return await examine(reference.target, options);
  } finally {
    reference.close();
  }
}

/** What it takes to see a breach. */
interface Needed {
  readonly rule: string;
  readonly tokens?: true;
  readonly mode?: 'wav';
  readonly speech?: 'long';
}

/** A caller who speaks for longer than most, and fast; the one of all runs otherwise. */
function speaking(speech: 'long' | undefined): Pick<ExamineOptions, 'suspect'> {
  if (speech === undefined) return {};
  return { suspect: { speech: longSpeech(), timing: { answerMs: 10_000, pace: 32, newKeyMs: 1000 } } };
}

/** 25 s without a pause, loud enough for any server to hear. */
export function longSpeech(): Uint8Array {
  return signal(25_000, (index) => 0.3 * Math.sin(index / 4));
}

/** Runs checks on the server with one breach; tokens and mode are what the breach needs. */
export function examineBroken(breach: Breach, issuer: Issuer, options: ExamineOptions = {}): Promise<Conformance> {
  const { tokens, mode, speech }: Needed = BREACHES[breach];
  return examineReference({ breach, mode: mode ?? 'chunk' }, { ...options, ...(tokens === true ? { issuer } : {}), ...speaking(speech) });
}

/** Starts a reference server of sockets, runs checks on it, and closes it. Breaches of the token check need an issuer. */
export async function examineSocketReference(breach?: SocketBreach | SocketFreedom, options: ExamineOptions = {}): Promise<Conformance> {
  const { issuer } = options;
  const reference = await startSocketReference({
    ...(breach === undefined ? {} : { breach }),
    ...(issuer === undefined ? {} : { tokens: tokenRules(issuer) }),
  });
  try {
    return await examineSocket(reference.target, options);
  } finally {
    reference.close();
  }
}

/** Runs checks on the server of sockets with one breach; tokens are what the breach needs. */
export function examineBrokenSocket(breach: SocketBreach, issuer: Issuer, options: ExamineOptions = {}): Promise<Conformance> {
  const { tokens, speech }: Needed = SOCKET_BREACHES[breach];
  return examineSocketReference(breach, { ...options, ...(tokens === true ? { issuer } : {}), ...speaking(speech) });
}

/** The tokens of an issuer as the reference server knows them. */
export function tokenRules({ issuer, keySetUrl, claims }: Issuer): TokenRules {
  const { organizationId, url, schemaId, audience, subject, nonce } = claims;
  return {
    ...{ issuer, keySetUrl, organizationId, url, schemaId, audience, subject, nonce },
    keySetSuffix: profile.jws.keySetSuffix,
    claimNames: profile.jws.claims,
  };
}
