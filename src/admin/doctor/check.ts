// What a check of the doctor is, and what it receives. Knows no single check.
import type { Clock } from '../../base/clock.ts';
import type { WantedDataSource } from '../lifecycle/ports.ts';
import type { DataSource } from '../records.ts';
import type { DoctorContext } from './context.ts';
import type { Found } from './finding.ts';
import type { Subject } from './subject.ts';
import type { Handshake } from './probes.ts';

/** All checks by id, in the order of the results. */
export const CHECK_IDS = [
  'store',
  'organization_token',
  'platform_access',
  'scopes',
  'data_source',
  'schema',
  'url',
  'status',
  'token_expiry',
  'nonce',
  'issuer',
  'key_set',
  'test_token',
  'clock',
  'listens',
  'tls_handshake',
  'certificate',
  'alpn',
  'health',
  'upgrade',
  'webhooks',
  'agents',
] as const;

/** Further checks, of what a start needs (src/app/preflight). */
export const PREFLIGHT_IDS = ['descriptors', 'own_certificate', 'key_sets', 'login', 'address', 'service', 'folder', 'bots'] as const;

/** Ids are public: commands print them and scripts read them. */
export type CheckId = (typeof CHECK_IDS)[number] | (typeof PREFLIGHT_IDS)[number];

/** A check that could not run, or had nothing to examine. */
export interface Skip {
  /** Why, as half a sentence. */
  readonly skipped: string;
}

/** The result of a check: its findings (none: all is right), or why it was skipped. */
export type Verdict = readonly Found[] | Skip;

/** Shared observations of one run, for later checks. Holds secrets (records with tokens) and is never shown. */
export class CaseNotes {
  /** Lists of data sources by organization. */
  readonly lists = new Map<string, readonly DataSource[]>();
  /** The platform's records of the wanted data sources. */
  readonly records = new Map<WantedDataSource, DataSource>();
  /** By `host:port`. */
  readonly handshakes = new Map<string, Handshake>();
}

export interface CheckTools {
  /** Aborts when nobody waits for the check any more. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The limit for the check, ms. A probe that reports a timeout itself gives up earlier. */
  readonly limitMs: number;
  /** Observations of earlier checks. */
  readonly notes: CaseNotes;
}

export interface CheckTask {
  readonly subject: Subject;
  /** An error becomes a finding. */
  run(tools: CheckTools): Promise<Verdict> | Verdict;
}

/** @typeParam C - what it examines. */
export interface Check<C = DoctorContext> {
  readonly id: CheckId;
  /** The fact that holds without findings, as half a sentence. */
  readonly title: string;
  /** Checks that must have passed; they come earlier in the list. */
  readonly needs: readonly CheckId[];
  tasks(context: C): readonly CheckTask[];
}
