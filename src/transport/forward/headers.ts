// The headers with which a peer forwards a turn. They count on the peer port alone; what comes from outside under these names is
// removed before anything is forwarded.
import { Metadata, status, type ServerErrorResponse } from '@grpc/grpc-js';
import type { OutgoingHttpHeaders } from 'node:http2';

/** All of them begin so. */
const PREFIX = 'parley-';
const TO = 'parley-forward-to';
const TURN = 'parley-turn';
const TAKE = 'parley-take';
const SENT = 'parley-sent';
const NOT_MINE = 'parley-not-mine';

/** Events of a turn that the platform can have got before its home is lost; its next home must not send them again (G-36, G-38). */
export type SentEvent = 'input_started' | 'input_ended';

const WIRE_WORDS = { input_started: 'start_of_input', input_ended: 'end_of_input' } as const satisfies Record<SentEvent, string>;
const SENT_EVENTS: readonly SentEvent[] = ['input_started', 'input_ended'];

/** What is said of a forwarded turn. */
export interface ForwardedTurn {
  /** Id of the instance that is meant: another process may have its address by now. */
  readonly to: string;
  /** The same at each home that the turn is brought to. */
  readonly turnId: string;
  readonly isTaking: boolean;
  readonly sentEvents: ReadonlySet<SentEvent>;
}

/** The headers of a forwarded turn. @param metadata - of the platform; goes along, without what only peers may say. */
export function forwardHeaders(metadata: Metadata, { to, turnId, isTaking, sentEvents }: ForwardedTurn): OutgoingHttpHeaders {
  const headers = metadata.toHttp2Headers();
  // The first two speak of a message that is framed anew.
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

/** The header of a request that means one instance and forwards nothing. */
export function addressedTo(instanceId: string): OutgoingHttpHeaders {
  return { [TO]: instanceId };
}

/** What a peer says of a turn. Undefined: it does not mean this instance. */
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

/** What a peer is answered whose turn, or whose question, does not belong here. */
export function notMine(): ServerErrorResponse {
  const metadata = new Metadata();
  metadata.set(NOT_MINE, '1');
  return { name: 'not_mine', message: 'not mine', code: status.UNAVAILABLE, details: 'the call does not live here', metadata };
}

/** Whether a status says so. */
export function isNotMine(trailers: Readonly<Record<string, unknown>>): boolean {
  return trailers[NOT_MINE] !== undefined;
}

function textOf(metadata: Metadata, name: string): string {
  return metadata.get(name)[0]?.toString() ?? '';
}
