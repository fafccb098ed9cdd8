// Checks client certificates after the handshake. The runtime has checked the chain (O-11); this compares the subject
// (O-12) and logs refusals.
import type { TLSSocket } from 'node:tls';
import { subjectKey, type ClientRefusal, type ClientTrust, type SubjectAttributes } from '../base/client-trust.ts';
import type { Clock } from '../base/clock.ts';
import { LinePacer } from '../base/line-pacer.ts';
import type { Live } from '../base/live-value.ts';
import type { Logger } from '../base/log.ts';
import { oneLine } from '../base/one-line.ts';

export interface ClientDemand {
  readonly trust: Live<ClientTrust>;
  readonly onRefused: (reason: ClientRefusal) => void;
}

/** Longest subject in the log, characters. */
const MAX_SHOWN = 200;
const OUT_OF_TIME: ReadonlySet<unknown> = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

/** One per socket listener. */
export class ClientCheck {
  readonly #demand: ClientDemand;
  readonly #name: string;
  readonly #log: Logger;
  readonly #pacer: LinePacer<ClientRefusal>;

  /** @param options.name - the listener's name in log messages. */
  constructor(demand: ClientDemand, { name, clock, log }: { readonly name: string; readonly clock: Clock; readonly log: Logger }) {
    this.#demand = demand;
    this.#name = name;
    this.#log = log;
    this.#pacer = new LinePacer(clock);
  }

  /** Whether a client may go on after its handshake. If not, its connection is cut before a byte is read. */
  lets(socket: TLSSocket): boolean {
    const subject: SubjectAttributes = { ...socket.getPeerX509Certificate()?.toLegacyObject().subject };
    if (!socket.authorized) this.#refuse(reasonOf(socket.authorizationError));
    else if (this.#demand.trust.current.subjects.has(subjectKey(subject))) return true;
    else this.#refuse('subject', subject);
    socket.destroy();
    return false;
  }

  /** Logs a failed handshake if its reason is a client certificate. */
  failed(error: Error, socket: TLSSocket): void {
    const why: unknown = socket.authorizationError;
    if ('code' in error && error.code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE') this.#refuse('missing');
    else if (why !== null && why !== undefined) this.#refuse(reasonOf(why));
  }

  #refuse(reason: ClientRefusal, subject?: SubjectAttributes): void {
    this.#demand.onRefused(reason);
    const leftOut = this.#pacer.next(reason);
    if (leftOut === undefined) return;
    const shown = subject === undefined ? {} : { subject: shownSubject(subject) };
    this.#log.warn({ reason, leftOut, ...shown }, `a connection to the ${this.#name} was refused for its client certificate`);
  }
}

/** @param why - the runtime's error code for the chain. */
function reasonOf(why: unknown): ClientRefusal {
  return OUT_OF_TIME.has(why) ? 'expired' : 'untrusted';
}

/** A subject in the format of tls.client_subjects, for the log. */
function shownSubject(subject: SubjectAttributes): string {
  const attributes = Object.entries(subject).flatMap(([type, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map((one) => `${type}=${String(one).replaceAll(/[\\,]/gu, '\\$&')}`);
  });
  return oneLine(attributes.join(', '), MAX_SHOWN);
}
