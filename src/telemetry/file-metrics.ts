// Metrics of files that may change at runtime, of the certificate, and of client certificates. Labels come from
// closed sets.
import type { Registry } from 'prom-client';
import { CLIENT_REFUSALS, type ClientRefusal } from '../base/client-trust.ts';
import { MetricMaker } from './metric-maker.ts';

/** The watched files, by section of the settings. */
export const WATCHED = ['certificate', 'client_trust', 'data_source_nonces', 'store_keys', 'admin_store_keys', 'console_secrets'] as const;
export type Watched = (typeof WATCHED)[number];

/** Counts the reports of the file watches. */
export interface FileMetrics {
  /** Whether the current files were accepted. */
  readonly checked: (what: Watched, isTaken: boolean) => void;
  /** Expiry of a new certificate that is now in use, ms since the epoch. */
  certificateEnds(endsAtMs: number): void;
  /** A connection was refused because of its client certificate, or because it had none. */
  readonly clientRefused: (reason: ClientRefusal) => void;
}

/** Creates the metrics in a registry. */
export function fileMetrics(registry: Registry): FileMetrics {
  const make = new MetricMaker(registry);
  // Each process reads the files itself; the lowest value shows a process that is behind.
  const taken = make.gauge(
    'parley_watched_files_taken',
    '0 while changed files are refused and their previous content stays in use, else 1.',
    { labels: { what: WATCHED }, aggregator: 'min', starts: 1 },
  );
  let endsAtMs: number | undefined;
  make.gauge('parley_certificate_end_timestamp_seconds', 'End of the certificate in use, since the epoch; missing without TLS.', {
    aggregator: 'min',
    collect: (gauge) => {
      if (endsAtMs === undefined) gauge.remove();
      else gauge.set(endsAtMs / 1000);
    },
  });
  const refused = make.counter('parley_client_certificates_refused_total', 'Connections that were refused for their client certificate.', {
    reason: CLIENT_REFUSALS,
  });
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
