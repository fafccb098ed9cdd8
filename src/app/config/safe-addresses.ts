// Checks that an address is safe for secrets: TLS, or on this machine.
import { isLoopback } from '../../base/loopback.ts';
import { isSocketOrigin } from '../../base/socket-origin.ts';

export function isSafeHttp(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isOnLoopback(url));
}

/** Whether it is a safe origin of a WebSocket server, without a path. */
export function isSafeSocket(url: URL, text: string): boolean {
  return isSocketOrigin(text) && (url.protocol === 'wss:' || isOnLoopback(url));
}

/** Whether it is a safe address to open a WebSocket to. */
export function isSafeStream(url: URL): boolean {
  return url.protocol === 'wss:' || (url.protocol === 'ws:' && isOnLoopback(url));
}

function isOnLoopback({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/gu, ''));
}
