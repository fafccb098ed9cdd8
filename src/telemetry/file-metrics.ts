// What can be counted about files that may change while the server runs, about its certificate, and about the clients that
// must show one. Labels come from closed sets only.
import { Counter, Gauge, type Registry } from 'prom-client';
import { CLIENT_REFUSALS, type ClientRefusal } from '../base/client-trust.ts';

/** What is read anew when its files change, by the sections of the settings. */
export const WATCHED = ['certificate', 'client_trust', 'data_source_nonces', 'store_keys', 'admin_store_keys'] as const;
export type Watched = (typeof WATCHED)[number];

/** Counts what those report who look at the files. */
export interface FileMetrics {
  /** Whether what lies in the files is in use. */
  readonly judged: (what: Watched, isTaken: boolean) => void;
  /** End of the certificate that is in use from now on, ms since the epoch. */
  certificateEnds(endsAtMs: number): void;
  /** A connection was refused because of the certificate that its client showed, or showed not. */
  readonly clientRefused: (reason: ClientRefusal) => void;
}

/** Creates them in a registry. */
export function fileMetrics(registry: Registry): FileMetrics {
  const registers = [registry];
  const taken = new Gauge({
    name: 'parley_watched_files_taken',
    help: '0 when what lies in files of the settings is refused and what was there before goes on, else 1; also where there are none.',
    labelNames: ['what'],
    // Each process looks for itself: of several the one that is behind.
    aggregator: 'min',
    registers,
  });
  let endsAtMs: number | undefined;
  new Gauge({
    name: 'parley_certificate_end_timestamp_seconds',
    help: 'When the certificate in use ends, in seconds since the epoch; missing without TLS.',
    aggregator: 'min',
    registers,
    collect() {
      if (endsAtMs === undefined) this.remove();
      else this.set(endsAtMs / 1000);
    },
  });
  const refused = new Counter({
    name: 'parley_client_certificates_refused_total',
    help: 'Connections that were refused for the certificate of their client, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const what of WATCHED) taken.set({ what }, 1);
  for (const reason of CLIENT_REFUSALS) refused.inc({ reason }, 0);
  return {
    judged: (what, isTaken) => {
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
