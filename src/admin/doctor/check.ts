// The type of a check of the doctor, and of what it receives. Knows no single check.
import type { Clock } from '../../base/clock.ts';
import type { WantedDataSource } from '../lifecycle/ports.ts';
import type { DataSource } from '../records.ts';
import type { DoctorContext } from './context.ts';
import type { Found } from './finding.ts';
import type { Subject } from './subject.ts';
import type { Handshake } from './probes.ts';

/** The ids of all checks, in the order of the results. */
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

/** The ids of further checks, before a start (src/app/preflight). */
export const PREFLIGHT_IDS = ['descriptors', 'own_certificate', 'key_sets', 'login', 'address', 'service', 'folder', 'bots'] as const;

/** The id of a check. Ids are public: commands print them and scripts read them. */
export type CheckId = (typeof CHECK_IDS)[number] | (typeof PREFLIGHT_IDS)[number];

/** A check that could not run, or had nothing to examine. */
export interface Skip {
  /** The reason, as half a sentence. */
  readonly skipped: string;
}

/** The result of a check: its findings (empty when all is right), or why it was skipped. */
export type Verdict = readonly Found[] | Skip;

/** Observations of one run that later checks use. Contains secrets (records with tokens), so it is never shown. */
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
  /** The limit for the check, ms. A probe that reports its own timeout must give up earlier. */
  readonly limitMs: number;
  /** Observations of earlier checks. */
  readonly notes: CaseNotes;
}

export interface CheckTask {
  readonly subject: Subject;
  /** Runs the check for one subject. A thrown error becomes a finding. */
  run(tools: CheckTools): Promise<Verdict> | Verdict;
}

/** @typeParam C - the type of what the check examines. */
export interface Check<C = DoctorContext> {
  readonly id: CheckId;
  /** The fact that holds when there are no findings, as half a sentence. */
  readonly title: string;
  /** Checks that must have passed before; they come earlier in the list. */
  readonly needs: readonly CheckId[];
  tasks(context: C): readonly CheckTask[];
}
