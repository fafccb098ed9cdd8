// Where the operations server of this machine answers.
import type { Settings } from '../app/config/settings.ts';

/** `http://HOST:PORT`; the host is loopback when the server listens on every address. */
export function operationsOrigin({ host, port }: Pick<Settings['ops'], 'host' | 'port'>): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${String(port)}`;
}
