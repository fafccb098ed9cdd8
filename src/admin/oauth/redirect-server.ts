// The local server to which a browser returns after a login. Passes requests for one address to the owner of the server, and refuses all
// others.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { isLoopback } from '../../base/loopback.ts';
import { loginPage, PAGE_HEADERS, type LoginEnd } from './login-page.ts';

/** Most connections: browsers open some that they never use. */
const MAX_CONNECTIONS = 20;
/** Limit for receiving a request, ms; enforced by Node. */
const REQUEST_MS = 10_000;
/** Limit for sending the page to open connections when the server closes, ms. */
const CLOSE_MS = 2000;

/** A running server. Call `close`. */
export interface RedirectServer {
  close(): Promise<void>;
}

/**
 * Parses the redirect address.
 *
 * @throws AppError `config_invalid` unless the address is https, or http on loopback with a port, and without user, query and fragment.
 */
export function redirectAddress(redirectUri: string): URL {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  if (url !== undefined && isFit(url)) return url;
  throw new AppError(
    'config_invalid',
    'the redirect address must be https://, or http:// on loopback with a port such as http://127.0.0.1:8765/callback',
  );
}

function isFit({ protocol, hostname, port, username, password, search, hash }: URL): boolean {
  const isPlain = [username, password, search, hash].every((part) => part === '');
  if (!isPlain || protocol === 'https:') return isPlain;
  return protocol === 'http:' && port !== '' && isLoopback(hostname.replace(/^\[|\]$/gu, ''));
}

/**
 * Listens at a redirect address.
 *
 * @param take - handles a request for this address and returns the page; never rejects. Called once per request.
 * @throws AppError `login_failed` when the server cannot listen at the address.
 */
export async function openRedirectServer(address: URL, clock: Clock, take: (url: URL) => Promise<LoginEnd>): Promise<RedirectServer> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, maxHeaderSize: 16_384 }, (request, response) => {
    void answered(request, address, take).then((end) => {
      send(response, end);
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  const host = address.hostname.replace(/^\[|\]$/gu, '');
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'something else listens there' : (cause.code ?? 'unknown');
      reject(new AppError('login_failed', `nobody can listen at the redirect address ${address.origin}: ${why}`));
    });
    server.listen(Number(address.port), host, resolve);
  });
  return {
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      await waitAtMost(closed, CLOSE_MS, clock);
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answered(request: IncomingMessage, address: URL, take: (url: URL) => Promise<LoginEnd>): Promise<LoginEnd> {
  const { url: target = '', method } = request;
  const url = target.startsWith('/') && URL.canParse(address.origin + target) ? new URL(address.origin + target) : undefined;
  if (url?.pathname !== address.pathname) return { status: 404, title: 'Nothing here', text: 'There is nothing at this address.' };
  if (method !== 'GET') return { status: 405, title: 'Not so', text: 'This address is only read.' };
  return take(url);
}

function send(response: ServerResponse, end: LoginEnd): void {
  response.writeHead(end.status, PAGE_HEADERS).end(loginPage(end));
}
