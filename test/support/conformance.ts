// Conformance runs for tests: the reference server, whole or broken, and the checks on it, fast.
import { systemClock } from '../../src/base/clock.ts';
import type { Check } from '../../src/fake-platform/conformance/check.ts';
import type { CheckLab } from '../../src/fake-platform/conformance/lab.ts';
import { CHECKS, RPC_SUITE } from '../../src/fake-platform/conformance/registry.ts';
import { runConformance, type Conformance, type RunOptions } from '../../src/fake-platform/conformance/run.ts';
import type { GivenSuspect } from '../../src/fake-platform/conformance/suspect.ts';
import { issuerSigner } from '../../src/fake-platform/conformance/tokens.ts';
import type { Issuer } from '../../src/fake-platform/issuer.ts';
import { loadProfile } from '../../src/fake-platform/profile.ts';
import { parseTarget } from '../../src/fake-platform/target.ts';
import { BREACHES, type Breach, type Freedom } from '../fixtures/broken-servers/breaches.ts';
import { startReferenceServer } from '../fixtures/broken-servers/reference-server.ts';
import type { TokenRules } from '../fixtures/broken-servers/tokens.ts';
import { recorded } from './line-signals.ts';

const profile = loadProfile('fake');

/** What a run on a server of this process needs to know. */
export interface ExamineOptions extends Pick<RunOptions<CheckLab>, 'checkMs' | 'onResult'> {
  readonly checks?: readonly Check[];
  readonly issuer?: Issuer;
  readonly jobs?: number;
  readonly signal?: AbortSignal;
  readonly suspect?: Partial<GivenSuspect>;
}

/** Runs checks on a server, with the keys of the reference server. */
export async function examine(
  target: string,
  { checks = CHECKS, issuer, jobs = 8, signal, suspect = {}, ...more }: ExamineOptions = {},
): Promise<Conformance> {
  return runConformance({
    ...more,
    suite: RPC_SUITE,
    checks,
    jobs,
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

/** Runs checks on the server with one breach; tokens and mode are what the breach needs. */
export function examineBroken(breach: Breach, issuer: Issuer, options: ExamineOptions = {}): Promise<Conformance> {
  const { tokens, mode }: { readonly rule: string; readonly tokens?: true; readonly mode?: 'wav' } = BREACHES[breach];
  return examineReference({ breach, mode: mode ?? 'chunk' }, tokens === true ? { ...options, issuer } : options);
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
