// Metrics of files that may change at runtime, of the certificate, and of client certificates. Labels come from
// closed sets.
import { Counter, Gauge, type Registry } from 'prom-client';
import { CLIENT_REFUSALS, type ClientRefusal } from '../base/client-trust.ts';

/** The watched files, by section of the settings. */
export const WATCHED = ['certificate', 'client_trust', 'data_source_nonces', 'store_keys', 'admin_store_keys'] as const;
export type Watched = (typeof WATCHED)[number];

/** Counts the reports of the file watches. */
export interface FileMetrics {
  /** Whether the current files were accepted. */
  readonly checked: (what: Watched, isTaken: boolean) => void;
  /** End of the new certificate in use, ms since the epoch. */
  certificateEnds(endsAtMs: number): void;
  /** A connection was refused for its client certificate, or for a missing one. */
  readonly clientRefused: (reason: ClientRefusal) => void;
}

/** Creates the metrics in a registry. */
export function fileMetrics(registry: Registry): FileMetrics {
  const registers = [registry];
  const taken = new Gauge({
    name: 'parley_watched_files_taken',
    help: '0 when changed files of the settings were refused and the previous content stays in use, else 1; also 1 without files.',
    labelNames: ['what'],
    // Each process checks by itself; shows a process that is behind.
    aggregator: 'min',
    registers,
  });
  let endsAtMs: number | undefined;
  new Gauge({
    name: 'parley_certificate_end_timestamp_seconds',
    help: 'End of the certificate in use, in seconds since the epoch; missing without TLS.',
    aggregator: 'min',
    registers,
    collect() {
      if (endsAtMs === undefined) this.remove();
      else this.set(endsAtMs / 1000);
    },
  });
  const refused = new Counter({
    name: 'parley_client_certificates_refused_total',
    help: 'Connections that were refused for their client certificate, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const what of WATCHED) taken.set({ what }, 1);
  for (const reason of CLIENT_REFUSALS) refused.inc({ reason }, 0);
  return {
    checked: (what, isTaken) => {
      taken.set({ what }, isTaken ? 1 : 0);
    },
    certificateEnds: (ends) => {
      endsAtMs = ends;
    },
    clientRefused: (reason) => {
      refused.inc({ reason });
    },
  };
}
