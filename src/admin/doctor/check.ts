// What a check of the doctor is, and what it is given. Knows no single check.
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

/** Ids are public: commands print them and scripts read them. */
export type CheckId = (typeof CHECK_IDS)[number];

/** A check that could not be made, or had nothing to examine. */
export interface Skip {
  /** Why, as half a sentence. */
  readonly skipped: string;
}

/** What a check ended with: its findings (none: all is right), or why it was not made. */
export type Verdict = readonly Found[] | Skip;

/** What the checks of one run have seen, for the checks after them. Holds secrets (records with tokens) and is never shown. */
export class CaseNotes {
  /** Lists of data sources by organization. */
  readonly lists = new Map<string, readonly DataSource[]>();
  /** The platform's records of the data sources that we want. */
  readonly records = new Map<WantedDataSource, DataSource>();
  /** By `host:port`. */
  readonly handshakes = new Map<string, Handshake>();
}

export interface CheckTools {
  /** Ends when nobody waits for the check any more. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** How long the check may take, ms. A probe that reports itself that it had no answer gives up before. */
  readonly limitMs: number;
  /** What earlier checks have seen. */
  readonly notes: CaseNotes;
}

export interface CheckTask {
  readonly subject: Subject;
  /** May throw; that becomes a finding. */
  run(tools: CheckTools): Promise<Verdict> | Verdict;
}

export interface Check {
  readonly id: CheckId;
  /** What is right when nothing is found, as half a sentence. */
  readonly title: string;
  /** Checks without which this one makes no sense; they stand before it in the list. */
  readonly needs: readonly CheckId[];
  tasks(context: DoctorContext): readonly CheckTask[];
}
