import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { AppError, toAppError } from '../../../src/base/errors.ts';
import { throughJson } from '../../../src/base/json.ts';
import { createLogger, errorFields } from '../../../src/base/log.ts';

function captured(): { readonly lines: () => string; readonly log: ReturnType<typeof createLogger> } {
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return { lines: () => text, log: createLogger({ level: 'debug', destination }) };
}

describe('log', () => {
  it('writes one JSON line with level, time and message, and the fields of its parent', () => {
    const { lines, log } = captured();
    log.child({ conversationId: 'c' }).info({ turnId: 't' }, 'turn ended');
    expect(JSON.parse(lines())).toMatchObject({ level: 'info', conversationId: 'c', turnId: 't', msg: 'turn ended' });
  });

  it('redacts names under which a secret might slip in', () => {
    const { lines, log } = captured();
    log.warn({ token: 'CANARY1', call: { digits: 'CANARY2' } }, 'careless');
    expect(lines()).not.toContain('CANARY');
  });

  it('shows our own errors with code and details, and of foreign ones neither message nor stack text', () => {
    const { lines, log } = captured();
    const foreign = new Error('caller said CANARY');
    log.error({ err: toAppError(foreign, 'bot_failed', 'the handler threw') }, 'failed');
    expect(lines()).not.toContain('CANARY');
    expect(JSON.parse(lines())).toMatchObject({ err: { code: 'bot_failed', message: 'the handler threw', cause: { thrown: 'Error' } } });
  });

  it('keeps the code of a system error and survives a cause that is its own cause', () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    expect(errorFields(refused)).toMatchObject({ code: 'ECONNREFUSED' });
    refused.cause = refused;
    expect(JSON.stringify(errorFields(refused)).length).toBeLessThan(20_000);
    expect(errorFields('text')).toEqual({ thrown: 'string', at: [] });
  });
});

describe('toAppError', () => {
  it('passes our own errors and wraps every other value without its message', () => {
    const own = new AppError('overloaded', 'full');
    expect(toAppError(own)).toBe(own);
    expect(toAppError(new Error('secret'))).toMatchObject({ code: 'internal', message: 'an unexpected error' });
    expect(toAppError(undefined).cause).toBeUndefined();
  });
});

describe('throughJson', () => {
  it('returns a frozen copy, and refuses what has no JSON form', () => {
    const value = { list: [{ n: 1 }] };
    const copy = throughJson(value);
    expect(copy).toEqual(value);
    expect(copy).not.toBe(value);
    expect(Object.isFrozen(copy) && Object.isFrozen((copy as typeof value).list[0])).toBe(true);
    expect(() => throughJson(undefined)).toThrow(TypeError);
    expect(() => throughJson(1n)).toThrow(TypeError);
  });
});
