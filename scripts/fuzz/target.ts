// The server that is fuzzed over real sockets, as the areas see it.
import { randomBytes } from 'node:crypto';
import type net from 'node:net';

/** Longest wait for an answer that must come, ms: a server waits ten seconds for a first message. */
export const ANSWER_MS = 20_000;

export interface Target {
  /** Of the port for gRPC, with TLS. */
  readonly url: string;
  readonly port: number;
  /** Of the port for WebSocket, with TLS. */
  readonly socketPort: number;
  readonly certificatePem: string;
  readonly callerInputPath: string;
  /** Good ones. */
  readonly token: string;
  readonly socketToken: string;
}

/** What `work` resolves with; undefined after `ms`. */
export async function atMost<Value>(work: Promise<Value>, ms: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a socket is closed within `ms`; it is destroyed in any case. */
export async function isClosedWithin(socket: net.Socket, ms: number): Promise<boolean> {
  const closed = new Promise<true>((resolve) => {
    if (socket.destroyed) resolve(true);
    else
      socket.once('close', () => {
        resolve(true);
      });
  });
  const isClosed = (await atMost(closed, ms)) === true;
  socket.destroy();
  return isClosed;
}

/** The input with an id of its own in place of `placeholder`, of the same length: no two inputs are one call. */
export function freshConversation(input: Buffer, placeholder: string): Buffer {
  const id = randomBytes(placeholder.length).toString('base64url').slice(0, placeholder.length);
  return replaced(input, placeholder, id);
}

/** Every place of `placeholder` overwritten. @param text - of the same length. */
export function replaced(input: Buffer, placeholder: string, text: string): Buffer {
  const changed = Buffer.from(input);
  for (let at = changed.indexOf(placeholder); at >= 0; at = changed.indexOf(placeholder, at + placeholder.length))
    changed.write(text, at, 'latin1');
  return changed;
}
