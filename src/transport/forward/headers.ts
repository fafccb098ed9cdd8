// The headers of a forwarded turn. They count only on the peer port; headers of these names from outside are removed.
import { Metadata, status, type ServerErrorResponse } from '@grpc/grpc-js';
import type { OutgoingHttpHeaders } from 'node:http2';

const PREFIX = 'parley-';
const TO = 'parley-forward-to';
const TURN = 'parley-turn';
const TAKE = 'parley-take';
const SENT = 'parley-sent';
const NOT_MINE = 'parley-not-mine';

/**
 * Events of a turn that the platform may have received from a home that was lost; the next home must not repeat them (G-36,
 * G-38).
 */
export type SentEvent = 'input_started' | 'input_ended';

const WIRE_WORDS = { input_started: 'start_of_input', input_ended: 'end_of_input' } as const satisfies Record<SentEvent, string>;
const SENT_EVENTS: readonly SentEvent[] = ['input_started', 'input_ended'];

export interface ForwardedTurn {
  /** Id of the instance that is meant: another process may have its address by now. */
  readonly to: string;
  /** The turn's id, the same for every attempt. */
  readonly turnId: string;
  readonly isTaking: boolean;
  readonly sentEvents: ReadonlySet<SentEvent>;
}

/** The headers of a forwarded turn. @param metadata - of the platform; passed on, without headers reserved for peers. */
export function forwardHeaders(metadata: Metadata, { to, turnId, isTaking, sentEvents }: ForwardedTurn): OutgoingHttpHeaders {
  const headers = metadata.toHttp2Headers();
  // The first two describe the framing of the original stream.
  for (const name of Object.keys(headers)) {
    if (name === 'host' || name === 'content-length' || name.startsWith(PREFIX)) Reflect.deleteProperty(headers, name);
  }
  const words = SENT_EVENTS.filter((event) => sentEvents.has(event)).map((event) => WIRE_WORDS[event]);
  return {
    ...headers,
    [TO]: to,
    [TURN]: turnId,
    ...(isTaking && { [TAKE]: '1' }),
    ...(words.length > 0 && { [SENT]: words.join(',') }),
  };
}

/** The header that addresses a request without a turn to one instance. */
export function addressedTo(instanceId: string): OutgoingHttpHeaders {
  return { [TO]: instanceId };
}

/** Reads the headers of a forwarded turn. Undefined: addressed to another instance. */
export function readForwarded(metadata: Metadata, instanceId: string): ForwardedTurn | undefined {
  const to = textOf(metadata, TO);
  if (to !== instanceId) return undefined;
  const sent = textOf(metadata, SENT).split(',');
  return {
    to,
    turnId: textOf(metadata, TURN),
    isTaking: textOf(metadata, TAKE) === '1',
    sentEvents: new Set(SENT_EVENTS.filter((event) => sent.includes(WIRE_WORDS[event]))),
  };
}

/** The answer to a turn or probe whose call does not live here. */
export function notMine(): ServerErrorResponse {
  const metadata = new Metadata();
  metadata.set(NOT_MINE, '1');
  return { name: 'not_mine', message: 'not mine', code: status.UNAVAILABLE, details: 'the call does not live here', metadata };
}

/** Whether a status is {@link notMine}. */
export function isNotMine(trailers: Readonly<Record<string, unknown>>): boolean {
  return trailers[NOT_MINE] !== undefined;
}

function textOf(metadata: Metadata, name: string): string {
  return metadata.get(name)[0]?.toString() ?? '';
}
