// Events of the fake platform as lines: for people, aligned and coloured where the terminal allows, or as JSON for
// programs. No line contains a token or a secret, because no event does.
import { createColors } from 'picocolors';
import { shownText } from '../../../base/shown-text.ts';
import type { Delivery } from '../../platform/deliveries.ts';
import type { JournalEntry } from '../../platform/journal.ts';
import type { IssuerRequest } from '../../platform/issuer.ts';

export interface PlatformEvent {
  readonly event: 'request' | 'delivery' | 'keys';
  readonly who: string;
  readonly method: string;
  readonly path: string;
  /** The HTTP status of the answer, or why there is none. */
  readonly status: number | 'lost' | 'none' | 'dropped' | 'failed';
  readonly organizationId?: string;
  readonly tells?: string;
}

/** A request to the administration API. */
export function requestEvent({ asker, method, path, status, isAnswered }: JournalEntry): PlatformEvent {
  const kinds = { integration: 'integration', service_app: 'service app', control: 'you' } as const;
  const organizationId = asker?.organizationId;
  return {
    ...{ event: 'request', who: asker === undefined ? 'somebody' : kinds[asker.kind], method, path: shownText(path) },
    // A request without an answer has no status, whether or not it was carried out.
    status: isAnswered ? status : status === 0 ? 'none' : 'lost',
    ...(organizationId === undefined ? {} : { organizationId }),
  };
}

export function deliveryEvent({ event: tells, organizationId, targetUrl, outcome }: Delivery): PlatformEvent {
  const status = outcome.kind === 'answered' ? outcome.status : outcome.kind === 'dropped' ? 'dropped' : 'failed';
  return { event: 'delivery', who: 'platform', method: 'POST', path: shownText(targetUrl), status, organizationId, tells };
}

/** A request for the keys that verify tokens. */
export function keysEvent({ path, status }: IssuerRequest): PlatformEvent {
  return { event: 'keys', who: 'somebody', method: 'GET', path: shownText(path), status };
}

/** Formats an event as one line, without a line break. @param atMs - when the event happened, ms since the epoch. */
export type EventLine = (event: PlatformEvent, atMs: number) => string;

export function eventLine(isJson: boolean, isColoured: boolean): EventLine {
  if (isJson) return (event, atMs) => JSON.stringify({ at: new Date(atMs).toISOString(), ...event });
  const colors = createColors(isColoured);
  return ({ event, who, method, path, status, organizationId, tells }, atMs) => {
    const at = new Date(atMs);
    // Local time, like other clocks around the user.
    const time = `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
    const isGood = typeof status === 'number' && status < 400;
    const mark = isGood ? colors.green : typeof status === 'number' && status < 500 ? colors.yellow : colors.red;
    const whose = event === 'delivery' ? colors.cyan : colors.bold;
    const more = [tells, organizationId].filter((part) => part !== undefined).join(' ');
    const row = [colors.dim(time), whose(who.padEnd(11)), mark(String(status).padEnd(7)), method.padEnd(6), path, colors.dim(more)];
    return row.join('  ').trimEnd();
  };
}
