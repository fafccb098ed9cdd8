import { describe, expect, it } from 'vitest';
import { AppError, ERROR_MENDS, type ErrorCode } from '../../../../src/base/errors.ts';
import { SOCKET_ERROR_CODES } from '../../../../src/contract/envelope.ts';
import { CONVERSATION_ANSWER, socketAnswer } from '../../../../src/transport/ws/close-codes.ts';

// Object.keys of a literal has exactly its keys.
const CODES = Object.keys(ERROR_MENDS) as readonly ErrorCode[];
const answer = (code: ErrorCode): readonly unknown[] => {
  const { code: wire, status, close } = socketAnswer(new AppError(code, 'what happened'));
  return [wire, status, close];
};

describe('how an error ends a socket', () => {
  it.each([
    ['bad_message', 'bad_request', 400, 1002],
    ['agent_unknown', 'bad_request', 404, 1008],
    ['agent_conflict', 'bad_request', 409, 1008],
    ['foreign_organization', 'unauthorized', 401, 1008],
    ['unauthenticated', 'unauthorized', 401, 1008],
    ['unsupported_audio', 'unsupported_media', 415, 1003],
    ['turn_timeout', 'timeout', 408, 1008],
    ['overloaded', 'rate_limit', 429, 1013],
    ['slow_reader', 'rate_limit', 429, 1013],
    ['shutting_down', 'rate_limit', 429, 1001],
    ['internal', 'upstream_error', 502, 1011],
    ['store_failed', 'upstream_error', 502, 1011],
  ] as const)('W-43 W-44: %s is %s with %i and the close code %i', (code, ...expected) => {
    expect(answer(code)).toEqual(expected);
  });

  it('W-43: has a code of the contract and its status for every error there is', () => {
    const statuses = {
      unauthorized: [401],
      bad_request: [400, 404, 409],
      unsupported_media: [415],
      upstream_error: [502],
      rate_limit: [429],
      timeout: [408],
    };
    expect(Object.keys(statuses)).toEqual([...SOCKET_ERROR_CODES]);
    for (const code of CODES) {
      const { code: wire, status } = socketAnswer(new AppError(code, 'what happened'));
      expect(statuses[wire], code).toContain(status);
    }
  });

  it('keeps to itself what is no business of the other side', () => {
    expect(socketAnswer(new AppError('internal', 'secret')).text).toBe('internal error');
    expect(socketAnswer(new AppError('unauthenticated', 'which check failed')).text).toBe('token refused');
    expect(socketAnswer(new AppError('bad_message', 'what is wrong')).text).toBeUndefined();
  });

  it('W-0A W-2A: has an answer for what is no sound or no text, and one of its own for a conversation that is taken', () => {
    expect(socketAnswer(new AppError('unsupported_audio', 'the message is binary'))).toMatchObject({
      code: 'unsupported_media',
      status: 415,
      close: 1003,
    });
    expect(CONVERSATION_ANSWER).toMatchObject({ code: 'bad_request', status: 409, close: 1008 });
  });
});
