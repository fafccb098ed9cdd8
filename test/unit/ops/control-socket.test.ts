import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { createLogger } from '../../../src/base/log.ts';
import { openControlSocket, sendCommand, type ControlSocket } from '../../../src/ops/control-socket.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'parley-control-'));
  file = path.join(folder, 'own', 'control.sock');
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
});

const echo = (sent: unknown): Promise<object> =>
  sent === undefined || Array.isArray(sent) ? Promise.reject(new AppError('bad_message', 'no command')) : Promise.resolve({ sent });

async function open(run: (sent: unknown) => Promise<object> = echo): Promise<ControlSocket> {
  const socket = await openControlSocket({ path: file, run, log: createLogger({ level: 'silent' }) });
  onTestFinished(() => socket.close());
  return socket;
}

/** A request as some other program would send it. @returns status and body; undefined: it was cut. */
function ask(method: string, body: string): Promise<readonly [number | undefined, string] | undefined> {
  return new Promise((resolve) => {
    const request = http.request({ socketPath: file, method, path: '/' }, (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.on('end', () => {
        resolve([response.statusCode, text]);
      });
    });
    request.on('error', () => {
      resolve(undefined);
    });
    request.end(body);
  });
}

async function expectRefusal(work: Promise<unknown>, code: string, text: string): Promise<void> {
  const thrown: unknown = await work.catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(AppError);
  expect(thrown).toMatchObject({ code });
  expect(String(thrown)).toContain(text);
}

describe('the control socket', () => {
  it('is for its user alone, in a folder for its user alone, and gone when it is closed', async () => {
    const socket = await open();
    expect([statSync(file), statSync(path.dirname(file))].map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o700]);
    expect(await sendCommand(file, { kind: 'status' })).toEqual({ sent: { kind: 'status' } });
    await socket.close();
    expect(existsSync(file)).toBe(false);
    await expectRefusal(sendCommand(file, {}), 'control_failed', 'no server answers');
  });

  it('is not opened where others may write, or where something else lies', async () => {
    mkdirSync(path.dirname(file));
    chmodSync(path.dirname(file), 0o775);
    await expectRefusal(open(), 'listen_failed', 'chmod go-w');
    chmodSync(path.dirname(file), 0o755);
    writeFileSync(file, 'a file');
    await expectRefusal(open(), 'listen_failed', 'something else');
    expect(statSync(file).isFile()).toBe(true);
  });

  it('is not opened at a path that the system would cut', async () => {
    file = path.join(folder, 'a'.repeat(100), 'control.sock');
    await expectRefusal(open(), 'listen_failed', '107 bytes');
  });

  it('replaces the socket of a process that is gone, and not that of one that lives', async () => {
    mkdirSync(path.dirname(file), { mode: 0o700 });
    // Its file stays behind when it is moved away before the socket closes.
    const dead = net.createServer().listen(`${file}.moved`);
    await new Promise((resolve) => dead.once('listening', resolve));
    renameSync(`${file}.moved`, file);
    await new Promise((resolve) => dead.close(resolve));
    expect(statSync(file).isSocket()).toBe(true);
    await open();
    expect(await sendCommand(file, { kind: 'status' })).toEqual({ sent: { kind: 'status' } });
    await expectRefusal(open(), 'listen_failed', 'another process answers');
    expect(await sendCommand(file, { kind: 'status' })).toEqual({ sent: { kind: 'status' } });
  });

  it('answers what is no command with the reason, and what fails without it', async () => {
    await open((sent) => (sent === 'broken' ? Promise.reject(new Error('CANARY')) : echo(sent)));
    expect(await ask('GET', '')).toEqual([400, '{"error":"a command is a POST to /"}']);
    await expectRefusal(sendCommand(file, []), 'control_failed', 'no command');
    expect(await ask('POST', 'no JSON')).toEqual([400, '{"error":"no command"}']);
    expect((await ask('POST', 'x'.repeat(10_000))) ?? [400]).toMatchObject({ 0: 400 });
    expect(await ask('POST', '"broken"')).toEqual([500, '{"error":"an unexpected error"}']);
  });
});
