// The ready line of the server, as text and as JSON.
import type { ReadySummary } from '../../app/ready-summary.ts';

/** The content of the ready line. `workers` is set when there are several. */
export type Ready = ReadySummary & { readonly workers?: number };

export function readyLine(ready: Ready): string {
  const { address, security, bots, botsWithoutWords, dataSources, isRegistering, hasTokenCheck, opsPort, websocket, workers } = ready;
  const check = hasTokenCheck ? 'token check ON' : 'token check OFF';
  const more = isRegistering ? ' and each that an organization authorizes' : '';
  const line = `ready  ${address}  ${security}  bots ${bots.join(', ')}  data sources ${String(dataSources)}${more}  ${check}  operations port ${String(opsPort)}`;
  const unheard = botsWithoutWords === undefined ? '' : `  NO RECOGNIZER for the words of ${botsWithoutWords.join(', ')}`;
  const sockets = websocket === undefined ? '' : `  WebSocket ${websocket.address} ${websocket.security}`;
  return `${line}${sockets}${unheard}${workers === undefined ? '' : `  workers ${String(workers)}`}`;
}

export function printReady(ready: Ready, isJson: boolean): void {
  console.log(isJson ? JSON.stringify({ event: 'ready', ...ready }) : readyLine(ready));
}
