// Checks of how a call belongs to its socket, and how it begins.
import type { Runs } from '../../catalog.ts';
import { NOTHING } from '../../shape-check.ts';
import { errorsIn, type Message } from '../message.ts';
import type { SocketLab, SocketRecord } from '../socket-probe.ts';
import { eachMisdeed } from '../misdeeds.ts';

/** Whether the server answered a misdeed like a legal message. */
function isAnswered({ turns }: SocketRecord): boolean {
  return turns.at(-1)?.final !== undefined;
}

/** The server must reject the misdeed with an ERROR, or close the socket. */
function demandRefused(misdeed: SocketRecord, after: readonly Message[]): string | undefined {
  if (isAnswered(misdeed)) return 'it was answered';
  const isRefused = misdeed.call.socket.closing?.isByServer === true || errorsIn(after).length > 0;
  return isRefused ? undefined : 'it got no ERROR, and the socket was not closed';
}

/** The server may ignore the misdeed, but not answer it. */
function demandUnanswered(misdeed: SocketRecord): string | undefined {
  return isAnswered(misdeed) ? 'it was answered' : undefined;
}

export const SESSION_CHECKS: Runs<SocketLab> = {
  'first-message-starts': eachMisdeed(['audio before SESSION_START'], demandRefused),
  'silent-socket-ends': eachMisdeed(['no message'], ({ call: { socket } }) =>
    socket.closing?.isByServer === true ? undefined : 'the socket was not closed within 15 s',
  ),
  'starts-once': eachMisdeed(['a second SESSION_START'], demandUnanswered),
  'call-does-not-change': eachMisdeed(['another conversation', 'another agent'], demandUnanswered),
  'foreign-call-refused': eachMisdeed(['another organization', 'another organization later'], (misdeed) => {
    if (isAnswered(misdeed)) return 'it was answered';
    return misdeed.call.socket.closing?.isByServer === true ? undefined : 'the socket was not closed';
  }),
  'text-frames-wanted': eachMisdeed(['a binary frame'], demandUnanswered),
  'malformed-message-refused': eachMisdeed(['no JSON', 'a request without a payload'], demandRefused),
  'huge-message-refused': eachMisdeed(['a message of 20 MB'], demandRefused),
  'errors-by-the-book': eachMisdeed(
    [
      'no message',
      'audio before SESSION_START',
      'another organization',
      'a binary frame',
      'no JSON',
      'a request without a payload',
      'audio that is no base64',
      'two conversation ids in one message',
      'a second SESSION_START',
      'another organization later',
    ],
    ({ name }, after) => {
      const errors = errorsIn(after);
      if (errors.length === 0) return NOTHING;
      for (const { code, status, detail } of errors) {
        if (typeof code !== 'string' || !CODES.includes(code)) return 'the code of an ERROR is none of the contract';
        if (typeof status !== 'number' || !Number.isInteger(status)) return 'an ERROR has no status number';
        if (detail !== undefined && typeof detail !== 'string') return 'the detail of an ERROR is no text';
        if (detail === undefined) return 'an ERROR has no detail';
        const right = RIGHT_CODES[name] ?? ['bad_request'];
        if (!right.includes(code)) return `"${name}" is answered with ${code} instead of ${right.join(' or ')}`;
      }
      return undefined;
    },
  ),
  'closed-with-right-code': eachMisdeed(
    [
      'no message',
      'audio before SESSION_START',
      'another organization',
      'a binary frame',
      'no JSON',
      'a request without a payload',
      'two conversation ids in one message',
      'a second SESSION_START',
      'another organization later',
    ],
    ({ name, call: { socket } }) => {
      const { closing } = socket;
      if (closing?.isByServer !== true) return NOTHING;
      const right = RIGHT_CLOSES[name] ?? [1002, 1003, 1008];
      return right.includes(closing.code)
        ? undefined
        : `"${name}" was closed with ${String(closing.code)} and not with ${right.join(' or ')}`;
    },
  ),
  'error-before-close': eachMisdeed(
    ['audio before SESSION_START', 'no JSON', 'a request without a payload', 'two conversation ids in one message', 'a binary frame'],
    ({ call: { socket } }, after) => {
      if (socket.closing?.isByServer !== true) return NOTHING;
      return errorsIn(after).length > 0 ? undefined : 'the socket was closed without an ERROR';
    },
  ),
};

const CODES: readonly string[] = ['unauthorized', 'bad_request', 'unsupported_media', 'upstream_error', 'rate_limit', 'timeout'];
/** The right ERROR codes by misdeed; for all others, bad_request. */
const RIGHT_CODES: Readonly<Record<string, readonly string[]>> = {
  'no message': ['timeout'],
  'a binary frame': ['unsupported_media', 'bad_request'],
  'another organization': ['unauthorized'],
  'another organization later': ['unauthorized', 'bad_request'],
  'audio that is no base64': ['bad_request', 'unsupported_media'],
};
/** The right close codes by misdeed; for all others, one of three for breaches of the protocol. */
const RIGHT_CLOSES: Readonly<Record<string, readonly number[]>> = {
  'no message': [1008],
  'a binary frame': [1003],
  'another organization': [1008],
  'another organization later': [1008, 1002],
};
