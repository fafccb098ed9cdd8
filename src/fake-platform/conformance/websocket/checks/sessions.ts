// Checks of how a call is tied to its socket, and how it begins.
import type { Check } from '../../check.ts';
import { NOTHING } from '../../shape-check.ts';
import { errorsIn, type Message } from '../message.ts';
import type { SocketLab, SocketRecord } from '../socket-probe.ts';
import { misdeedCheck } from '../socket-shape.ts';

/** Whether the server answered a misdeed like a proper message. */
function isAnswered({ turns }: SocketRecord): boolean {
  return turns.at(-1)?.final !== undefined;
}

/** The server must reject it with an ERROR, or close the socket. */
function demandRefused(misdeed: SocketRecord, after: readonly Message[]): string | undefined {
  if (isAnswered(misdeed)) return 'it was answered';
  const isRefused = misdeed.call.socket.closing?.isByServer === true || errorsIn(after).length > 0;
  return isRefused ? undefined : 'it got no ERROR, and the socket was not closed';
}

/** A server may ignore it. */
function demandUnanswered(misdeed: SocketRecord): string | undefined {
  return isAnswered(misdeed) ? 'it was answered' : undefined;
}

export const SESSION_CHECKS: readonly Check<SocketLab>[] = [
  misdeedCheck({
    id: 'first-message-starts',
    rules: ['W-20'],
    title: 'A first message that is no SESSION_START is refused.',
    of: ['audio before SESSION_START'],
    inspect: demandRefused,
  }),
  misdeedCheck({
    id: 'silent-socket-ends',
    rules: ['W-20'],
    title: 'A socket on which no SESSION_START comes is closed after some ten seconds.',
    level: 'advice',
    of: ['no message'],
    inspect: ({ call: { socket } }) => (socket.closing?.isByServer === true ? undefined : 'the socket was not closed within 15 s'),
  }),
  misdeedCheck({
    id: 'starts-once',
    rules: ['W-21'],
    title: 'A second SESSION_START on a socket is not answered.',
    of: ['a second SESSION_START'],
    inspect: demandUnanswered,
  }),
  misdeedCheck({
    id: 'call-does-not-change',
    rules: ['W-21'],
    title: 'A message of another conversation, or for another agent, is not answered.',
    of: ['another conversation', 'another agent'],
    inspect: demandUnanswered,
  }),
  misdeedCheck({
    id: 'foreign-call-refused',
    rules: ['W-22'],
    title: 'A call of an organization that is not the token’s is refused and closed, without an answer.',
    needs: ['token_check', 'token'],
    of: ['another organization', 'another organization later'],
    inspect: (misdeed) => {
      if (isAnswered(misdeed)) return 'it was answered';
      return misdeed.call.socket.closing?.isByServer === true ? undefined : 'the socket was not closed';
    },
  }),
  misdeedCheck({
    id: 'text-frames-wanted',
    rules: ['W-0A'],
    title: 'What comes in a binary frame is not answered.',
    level: 'advice',
    of: ['a binary frame'],
    inspect: demandUnanswered,
  }),
  misdeedCheck({
    id: 'malformed-message-refused',
    rules: ['W-43', 'W-12'],
    title: 'Text that is no JSON, and a request without a payload, are refused.',
    of: ['no JSON', 'a request without a payload'],
    inspect: demandRefused,
  }),
  misdeedCheck({
    id: 'huge-message-refused',
    rules: ['W-45'],
    title: 'A message of 20 MB is refused.',
    level: 'advice',
    of: ['a message of 20 MB'],
    inspect: demandRefused,
  }),
  misdeedCheck({
    id: 'errors-by-the-book',
    rules: ['W-43'],
    title: 'An ERROR has one of the six codes, the right one, with a status number and a detail.',
    of: [
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
    inspect: ({ name }, after) => {
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
  }),
  misdeedCheck({
    id: 'closed-with-right-code',
    rules: ['W-44'],
    title: 'A socket is closed with the code for what happened: 1002 or 1008, 1003 for binary frames, 1008 where no start came.',
    of: [
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
    inspect: ({ name, call: { socket } }) => {
      const { closing } = socket;
      if (closing?.isByServer !== true) return NOTHING;
      const right = RIGHT_CLOSES[name] ?? [1002, 1003, 1008];
      return right.includes(closing.code)
        ? undefined
        : `"${name}" was closed with ${String(closing.code)} and not with ${right.join(' or ')}`;
    },
  }),
  misdeedCheck({
    id: 'error-before-close',
    rules: ['W-46'],
    title: 'Before a socket is closed for an error an ERROR says why.',
    level: 'ours',
    of: ['audio before SESSION_START', 'no JSON', 'a request without a payload', 'two conversation ids in one message', 'a binary frame'],
    inspect: ({ call: { socket } }, after) => {
      if (socket.closing?.isByServer !== true) return NOTHING;
      return errorsIn(after).length > 0 ? undefined : 'the socket was closed without an ERROR';
    },
  }),
];

const CODES: readonly string[] = ['unauthorized', 'bad_request', 'unsupported_media', 'upstream_error', 'rate_limit', 'timeout'];
/** The ERROR code by misdeed; all others are bad_request. */
const RIGHT_CODES: Readonly<Record<string, readonly string[]>> = {
  'no message': ['timeout'],
  'a binary frame': ['unsupported_media', 'bad_request'],
  'another organization': ['unauthorized'],
  'another organization later': ['unauthorized', 'bad_request'],
  'audio that is no base64': ['bad_request', 'unsupported_media'],
};
/** The close code by misdeed; a message that breaks the protocol may get any of three. */
const RIGHT_CLOSES: Readonly<Record<string, readonly number[]>> = {
  'no message': [1008],
  'a binary frame': [1003],
  'another organization': [1008],
  'another organization later': [1008, 1002],
};
