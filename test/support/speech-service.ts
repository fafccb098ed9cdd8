// A speech service on loopback for tests: takes down what it is asked and answers as the test says, well or badly. Speaks
// plain HTTP through Node's own server; knows nothing of what Parley makes of its answers.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { until } from './until.ts';

/** One request as it arrived. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** True once the other side has let go of it. */
  isAbandoned: boolean;
  /** The answer, for tests that write it step by step. */
  readonly response: ServerResponse;
}

/** How one request is answered. */
export type Answering = (response: ServerResponse, received: Received) => void;

/** A running service. */
export interface SpeechService {
  /** Its address, without a slash at the end. */
  readonly url: string;
  readonly received: Received[];
  /** The next requests are answered in this way, one after the other; the last way stays. */
  answer(...ways: readonly Answering[]): void;
  /** Resolves when so many requests have arrived whole. */
  arrived(count: number): Promise<Received>;
}

/** Starts one that is gone when the test ends. */
export async function speechService(...ways: readonly Answering[]): Promise<SpeechService> {
  const queue: Answering[] = [...ways];
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one: Received = { method, path: url, headers, body: Buffer.concat(chunks), isAbandoned: false, response };
      response.on('close', () => {
        one.isAbandoned = !response.writableFinished;
      });
      received.push(one);
      const way = queue.length > 1 ? queue.shift() : queue[0];
      (way ?? status(500))(response, one);
    });
  });
  // With this limit a client closes every connection after its answer: nothing idle is left when a test looks for what is left.
  server.keepAliveTimeout = 1;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    received,
    answer: (...next) => {
      queue.splice(0, queue.length, ...next);
    },
    arrived: async (count) => {
      await until(`${String(count)} requests have arrived`, () => received.length >= count);
      const last = received[count - 1];
      if (last === undefined) throw new Error('unreachable');
      return last;
    },
  };
}

/** One field of an uploaded form. */
export interface FormField {
  readonly content: Buffer;
  readonly fileName: string | undefined;
  readonly contentType: string | undefined;
}

/** The fields of an uploaded form, by name (RFC 7578). */
export function fieldsOf({ body, headers }: Received): ReadonlyMap<string, FormField> {
  const boundary = /boundary="?([^";]+)/u.exec(headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) throw new Error('the request is no form');
  // latin1 keeps every byte as one character.
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  return new Map(
    parts.map((part) => {
      const headEnd = part.indexOf('\r\n\r\n');
      const head = part.slice(0, headEnd);
      const field: FormField = {
        content: Buffer.from(part.slice(headEnd + 4, -2), 'latin1'),
        fileName: /filename="([^"]*)"/u.exec(head)?.[1],
        contentType: /content-type: *(\S+)/iu.exec(head)?.[1],
      };
      return [/\bname="([^"]*)"/u.exec(head)?.[1] ?? '', field] as const;
    }),
  );
}

/** Any answer. */
export function body(content: string | Uint8Array, contentType: string, code = 200): Answering {
  return (response) => {
    response.writeHead(code, { 'content-type': contentType }).end(content);
  };
}

export function json(value: unknown, code = 200): Answering {
  return body(JSON.stringify(value), 'application/json', code);
}

export function status(code: number, headers: Readonly<Record<string, string>> = {}): Answering {
  return (response) => {
    response.writeHead(code, headers).end('CANARY-BODY');
  };
}

/** Takes the request and never answers. */
export const hang: Answering = () => undefined;

/** Sends the beginning of an answer and nothing more. */
export function stall(content: string | Uint8Array, contentType: string): Answering {
  return (response) => {
    response.writeHead(200, { 'content-type': contentType });
    if (content.length === 0) response.flushHeaders();
    else response.write(content);
  };
}

/** Cuts the connection, after the beginning of an answer when there is one. */
export function cut(content?: Uint8Array, contentType = 'audio/pcm'): Answering {
  return (response) => {
    if (content === undefined) response.socket?.destroy();
    else response.writeHead(200, { 'content-type': contentType }).write(content, () => response.socket?.destroy());
  };
}

/** Cuts the connection within an answer after which it would have closed it anyway. */
export function cutAtTheEnd(content: Uint8Array, headers: Readonly<Record<string, string>>): Answering {
  return (response) => {
    response
      .writeHead(200, { 'content-type': 'audio/pcm', connection: 'close', ...headers })
      .write(content, () => response.socket?.destroy());
  };
}

/** Sends pieces of an answer, each when the one before has left. */
export function pieces(contents: readonly Uint8Array[], contentType = 'audio/pcm'): Answering {
  return (response) => {
    response.writeHead(200, { 'content-type': contentType });
    const [...left] = contents;
    const next = (): void => {
      const piece = left.shift();
      if (piece === undefined) response.end();
      else
        response.write(piece, () => {
          setImmediate(next);
        });
    };
    next();
  };
}

/** More than anybody wants, as fast as it is taken. */
export function endless(contentType: string, chunk: Uint8Array = new Uint8Array(65_536)): Answering {
  return (response) => {
    response.writeHead(200, { 'content-type': contentType });
    const more = (): void => {
      if (!response.destroyed && response.write(chunk)) setImmediate(more);
      else response.once('drain', more);
    };
    more();
  };
}
