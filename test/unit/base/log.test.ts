import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AppError, toAppError } from '../../../src/base/errors.ts';
import { throughJson } from '../../../src/base/json.ts';
import { errorFields } from '../../../src/base/error-fields.ts';
import { createLogger, logDestination } from '../../../src/base/log.ts';

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

  it('writes every line about what is wanted, whatever the level, and only while it is wanted', () => {
    const { lines, log } = captured();
    log.setLevel('warn');
    const wanted = new Set(['a']);
    log.writeAll('call', wanted);
    log.debug({ call: 'a' }, 'own');
    log.child({ call: 'a' }).child({ bot: 'b' }).debug({}, 'of a child');
    log.child({ call: 'a' }).debug({ call: 'b' }, 'another');
    log.debug({}, 'none');
    wanted.delete('a');
    log.debug({ call: 'a' }, 'over');
    const written = lines()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
    expect(written).toEqual(['own', 'of a child']);
  });

  it('redacts names under which a secret might slip in', () => {
    const { lines, log } = captured();
    log.warn({ token: 'CANARY1', call: { digits: 'CANARY2' } }, 'careless');
    expect(lines()).not.toContain('CANARY');
  });

  it('writes what foreign code has thrown even where to look at it throws', () => {
    const { lines, log } = captured();
    const hostile = new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw new Error('not even this');
        },
      },
    );
    const odd = Object.assign(new Error('no'), { stack: 7 });
    log.error({ err: toAppError(hostile, 'bot_failed', 'the handler threw') }, 'failed');
    log.error({ err: odd }, 'failed');
    const [first, second] = lines().trim().split('\n');
    expect(JSON.parse(first ?? '')).toMatchObject({ err: { code: 'bot_failed', cause: { thrown: 'object' } } });
    expect(JSON.parse(second ?? '')).toMatchObject({ err: { thrown: 'unreadable' } });
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

describe('a destination that takes no lines', () => {
  const logTo = (fd: number): ReturnType<typeof createLogger> => createLogger({ level: 'info', destination: logDestination(fd) });

  it('does not end the process when its disk is full', async () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => {
      closeSync(full);
    });
    const log = logTo(full);
    for (let line = 0; line < 3; line += 1) log.info({ line }, 'nobody keeps this');
    // What it emits later, too, would be an uncaught exception of this test.
    await new Promise(setImmediate);
    expect(() => {
      log.info({}, 'nor this');
    }).not.toThrow();
  });

  it('holds nobody up as a pipe that is not read, and has the lines again that are written once it is', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'parley-log-'));
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    // For both ways, or opening it would wait for a reader.
    const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => {
      closeSync(fd);
      rmSync(folder, { recursive: true });
    });
    const log = logTo(fd);
    const lines = (count: number): void => {
      for (let line = 0; line < count; line += 1) log.info({ line, filler: 'x'.repeat(1000) }, 'a line');
    };
    // More than a pipe holds, and more than waits.
    lines(3000);
    const read = (): string => {
      const bytes = Buffer.alloc(4 * 1024 * 1024);
      let length = 0;
      try {
        for (;;) length += readSync(fd, bytes, length, 65_536, null);
      } catch {
        return bytes.toString('utf8', 0, length);
      }
    };
    expect(read().split('\n').length).toBeGreaterThan(30);
    let said = '';
    for (let times = 0; times < 40; times += 1) {
      log.info({}, 'the last line');
      said += read();
    }
    expect(said.trimEnd().split('\n').at(-1)).toContain('the last line');
    expect(
      said
        .split('\n')
        .filter((line) => line !== '')
        .every((line) => line.startsWith('{') || line === said.split('\n')[0]),
    ).toBe(true);
  });
});
