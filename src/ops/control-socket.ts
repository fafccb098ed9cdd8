// The control socket: HTTP over a Unix socket. Protected only by the permissions of the file and its folder: whoever may open the file
// commands the server. One request is one command, in JSON. Does not know the commands.
import { chmodSync } from 'node:fs';
import { lstat, mkdir, stat, unlink } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { AppError, toAppError } from '../base/errors.ts';
import { parseJson } from '../base/json.ts';
import type { Logger } from '../base/log.ts';

/** Longest path of a Unix socket on Linux, bytes. */
const MAX_PATH_BYTES = 107;
const MAX_BODY_BYTES = 4096;
const MAX_ANSWER_BYTES = 1_048_576;
const MAX_CONNECTIONS = 10;
/** Limit for receiving a whole request, ms. */
const REQUEST_MS = 5000;
/** Limit for answering a request, ms: longer than any command takes. */
const ANSWER_MS = 20_000;

export interface ControlSocketOptions {
  /** Absolute path of the socket. */
  readonly path: string;
  /** Runs a command and returns the answer for JSON; must be bounded in time. Throws AppError `bad_message` for an invalid command. */
  readonly run: (sent: unknown) => Promise<object>;
  readonly log: Logger;
}

export interface ControlSocket {
  /** Removes the socket and cuts open connections. */
  close(): Promise<void>;
}

/**
 * Opens the socket for this user and root only. Replaces the socket of a process that has ended, and creates a missing folder.
 *
 * @throws AppError `listen_failed` when others may write into the folder, or another process answers at the path.
 */
export async function openControlSocket({ path: file, run, log }: ControlSocketOptions): Promise<ControlSocket> {
  const limits = { maxHeaderSize: 4096, headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1000 };
  const server = http.createServer(limits, (request, response) => {
    void answer(request, run, log).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body));
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  try {
    await prepareFolder(path.dirname(file));
    await listen(server, file);
  } catch (thrown) {
    server.close();
    const why = thrown instanceof AppError ? thrown.message : thrown instanceof Error ? thrown.message : 'unknown error';
    throw new AppError('listen_failed', `the control socket ${file} (control.socket) cannot be opened: ${why}`, { cause: thrown });
  }
  // Without this listener, an error would end the process, for example when file descriptors run out.
  server.on('error', (error) => {
    log.error({ err: error }, 'the control socket failed');
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** Never rejects. */
async function answer(request: http.IncomingMessage, run: ControlSocketOptions['run'], log: Logger): Promise<Answer> {
  try {
    if (request.method !== 'POST' || request.url !== '/') throw new AppError('bad_message', 'a command is a POST to /');
    return { status: 200, body: await run(parseJson(await textOf(request, MAX_BODY_BYTES))) };
  } catch (thrown) {
    const { code, message } = toAppError(thrown);
    if (code === 'bad_message') return { status: 400, body: { error: message } };
    log.error({ err: thrown }, 'a command failed');
    return { status: 500, body: { error: message } };
  }
}

async function textOf(message: http.IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of message as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new AppError('bad_message', `more than ${String(maxBytes)} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** @throws Error whose message says what is wrong with the folder. */
async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  const { uid, mode } = await stat(folder);
  // Others who may write there could replace our socket with their own.
  if (uid !== 0 && uid !== process.getuid?.()) throw new Error(`the folder ${folder} belongs to another user`);
  if ((mode & 0o022) !== 0) throw new Error(`others may write into the folder ${folder}: chmod go-w`);
}

async function listen(server: net.Server, file: string): Promise<void> {
  // Some systems cut longer paths without an error.
  if (Buffer.byteLength(file) > MAX_PATH_BYTES) throw new Error(`its path has more than ${String(MAX_PATH_BYTES)} bytes`);
  try {
    await bound(server, file);
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE')) throw error;
    if (!(await lstat(file)).isSocket()) throw new Error('something else lies there', { cause: error });
    if (await isAnswered(file)) throw new Error('another process answers there; give each server a path of its own', { cause: error });
    await unlink(file);
    await bound(server, file);
  }
}

function bound(server: net.Server, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(file, () => {
      server.off('error', reject);
      // Before the first connection is accepted.
      chmodSync(file, 0o600);
      resolve();
    });
  });
}

/** Whether a process answers at a socket. */
function isAnswered(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(file);
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', (error) => {
      resolve(!hasCode(error, 'ECONNREFUSED'));
    });
  });
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Sends a command to a running server. @returns the server's answer.
 *
 * @throws AppError `control_failed` when no server answers in time, or it refuses the command.
 */
export function sendCommand(file: string, command: object): Promise<unknown> {
  const failed = (why: string, cause?: unknown): AppError => new AppError('control_failed', `${file}: ${why}`, { cause });
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath: file, method: 'POST', path: '/', signal: AbortSignal.timeout(ANSWER_MS) }, (response) => {
      textOf(response, MAX_ANSWER_BYTES).then(
        (text) => {
          const answer = parseJson(text);
          if (response.statusCode === 200) resolve(answer);
          else
            reject(
              failed(typeof answer === 'object' && answer !== null && 'error' in answer ? String(answer.error) : 'no answer of a server'),
            );
        },
        (error: unknown) => {
          reject(failed('the answer broke off', error));
        },
      );
    });
    request.on('error', (error) => {
      reject(failed(reasonOf(error), error));
    });
    request.end(JSON.stringify(command));
  });
}

function reasonOf(error: Error): string {
  if (hasCode(error, 'ENOENT') || hasCode(error, 'ECONNREFUSED')) return 'no server answers there';
  if (hasCode(error, 'EACCES')) return 'this user may not open it; only the user of the server and root may';
  return error.name === 'AbortError' || error.name === 'TimeoutError' ? 'the server did not answer in time' : error.message;
}
