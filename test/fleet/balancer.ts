// HAProxy before a fleet: the shipped recipe, with as many servers as there are and nothing that calls do not need.
// It balances each RPC over HTTP/2, and each socket, and asks every server for its health, as in production.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { freePort } from '../support/free-port.ts';
import { ROOT } from '../support/source-tree.ts';
import { until } from '../support/until.ts';
import { Child } from './child.ts';

const RECIPE = 'deploy/haproxy/parley.cfg';
/** Where Debian puts it, which is not on everybody's path. */
export const HAPROXY = '/usr/sbin/haproxy';
/** Of both sides. */
const MAX_CONNECTIONS = 4000;

/** Where one server listens. */
export interface BalancedPorts {
  readonly grpc: number;
  readonly ops: number;
  /** For calls over WebSocket, if they are taken. */
  readonly socket?: number;
}

/** A running one. Whoever starts it stops it. */
export class Balancer {
  readonly port: number;
  readonly #child: Child;

  private constructor(port: number, child: Child) {
    this.port = port;
    this.#child = child;
  }

  /** @param folder - for its files. @param pem - certificate and key as PEM. */
  static async start(folder: string, behind: readonly BalancedPorts[], pem: string): Promise<Balancer> {
    const port = await freePort();
    const pemFile = path.join(folder, 'balancer.pem');
    const file = path.join(folder, 'balancer.cfg');
    await writeFile(pemFile, pem, { mode: 0o600 });
    await writeFile(file, recipeFor(behind, port, pemFile, path.join(folder, 'balancer.sock')));
    const child = new Child({ command: HAPROXY, args: ['-db', '-f', file] });
    await until(
      () => `HAProxy takes connections; it said: ${child.said}`,
      () => {
        if (child.isOver) throw new Error(`HAProxy has ended: ${child.said}`);
        return isListening(port);
      },
    );
    return new Balancer(port, child);
  }

  /** What it has logged lately. */
  get log(): string {
    return this.#child.said;
  }

  /** Ends it, whatever it carries. */
  stop(): Promise<void> {
    return this.#child.kill();
  }
}

/** The shipped file with other addresses; what it does not hold any more is an error, so that both cannot part. */
function recipeFor(behind: readonly BalancedPorts[], port: number, pemFile: string, socketFile: string): string {
  const shipped = readFileSync(path.join(ROOT, RECIPE), 'utf8');
  const sections = shipped.split(/^(?=(?:global|defaults|frontend|backend)\b)/mu);
  const named = (start: string): string => {
    const found = sections.find((section) => section.startsWith(start));
    if (found === undefined) throw new Error(`${RECIPE} has no section ${start}`);
    return found;
  };
  const backend = (name: string, portOf: (ports: BalancedPorts) => number | undefined): string => {
    const shippedOne = named(`backend ${name}`);
    const [one] = /^ *server .*$/mu.exec(shippedOne) ?? [];
    if (one === undefined) throw new Error(`${RECIPE} has no server in the backend ${name}`);
    const servers = behind.map((ports, index) => {
      const port = portOf(ports);
      if (port === undefined) return '';
      const server = one.replace(/server \S+ \S+/u, `server s${String(index)} 127.0.0.1:${String(port)}`);
      return `${server.replace(/ port \d+/u, ` port ${String(ports.ops)}`)}\n`;
    });
    return `${shippedOne.replaceAll(/^ *server .*\n/gmu, '')}${servers.join('')}\n`;
  };
  let text = [
    named('global'),
    named('defaults'),
    // Webhooks have no servers here.
    named('frontend platform').replaceAll(/^ *use_backend parley_webhooks .*\n/gmu, ''),
    backend('parley_grpc', ({ grpc }) => grpc),
    backend('parley_websocket', ({ socket }) => socket),
  ].join('');
  const replace = (what: string, by: string): void => {
    if (!text.includes(what)) throw new Error(`${RECIPE} does not hold ${what}`);
    text = text.replaceAll(what, by);
  };
  replace('bind :443 ', `bind 127.0.0.1:${String(port)} `);
  replace('/etc/haproxy/parley.pem', pemFile);
  replace('/run/haproxy/admin.sock', socketFile);
  // As many as the open files of a machine for tests allow.
  replace('maxconn 20000', `maxconn ${String(MAX_CONNECTIONS)}`);
  // Only root can become somebody else, and nobody else may read the folder.
  for (const line of ['    user haproxy\n', '    group haproxy\n']) replace(line, '');
  return text;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
