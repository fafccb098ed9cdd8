// A proxy of deploy/ as a process: its file as it is shipped, with nothing replaced but addresses, ports, paths and what a machine
// that runs tests does not give. What is to be replaced and is not found is an error, so that the file and its test cannot part.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from './source-tree.ts';
import { until } from './until.ts';

/** The proxies that have a recipe. */
export type ProxyKind = 'nginx' | 'HAProxy';

/** Where one process of Parley listens. */
export interface ProxiedPorts {
  readonly grpc: number;
  readonly websocket: number;
  readonly ops: number;
  readonly webhooks: number;
}

/** What a proxy is started with. */
export interface ProxyPlan {
  readonly kind: ProxyKind;
  /** The port of the proxy itself. */
  readonly port: number;
  /** The two processes behind it. */
  readonly behind: readonly [ProxiedPorts, ProxiedPorts];
  /** PEM texts. */
  readonly certificate: { readonly cert: string; readonly key: string };
  /** Changes the file further. Default: nothing. */
  readonly changed?: (text: string) => string;
}

/** The ports of the two processes that the files speak of. */
const SHIPPED = [
  { grpc: 8086, websocket: 8088, ops: 8087, webhooks: 8089 },
  { grpc: 8186, websocket: 8188, ops: 8187, webhooks: 8189 },
] as const;

const FILES: Readonly<Record<ProxyKind, string>> = { nginx: 'deploy/nginx/parley.conf', HAProxy: 'deploy/haproxy/parley.cfg' };

/** A running proxy. Whoever starts it stops it. */
export class ShippedProxy {
  readonly #folder: string;
  readonly #plan: ProxyPlan;
  readonly #child: ChildProcess;
  #hasEnded = false;

  private constructor(folder: string, plan: ProxyPlan) {
    this.#folder = folder;
    this.#plan = plan;
    this.#write(plan.changed);
    const [command, ...args] =
      plan.kind === 'nginx'
        ? ['/usr/sbin/nginx', '-p', folder, '-e', this.#logFile, '-c', path.join(folder, 'nginx.conf')]
        : ['/usr/sbin/haproxy', '-db', '-f', path.join(folder, 'parley.cfg')];
    this.#child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        writeFileSync(this.#logFile, bytes, { flag: 'a' });
      });
    }
    this.#child.once('close', () => {
      this.#hasEnded = true;
    });
  }

  /** Starts it and waits until it takes connections. */
  static async start(plan: ProxyPlan): Promise<ShippedProxy> {
    const proxy = new ShippedProxy(mkdtempSync(path.join(tmpdir(), 'parley-proxy-')), plan);
    try {
      await until(
        () => `${plan.kind} takes connections; it said: ${proxy.log}`,
        async () => {
          if (proxy.#hasEnded) throw new Error(`${plan.kind} has ended: ${proxy.log}`);
          return isListening(plan.port);
        },
      );
    } catch (error) {
      await proxy.stop();
      throw error;
    }
    return proxy;
  }

  /** What it has logged so far. */
  get log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  /** Changes the file and has the running proxy read it again, as `nginx -s reload` does. */
  reload(changed: (text: string) => string): void {
    this.#write(changed);
    this.#child.kill('SIGHUP');
  }

  /** Ends it, whatever it carries, and removes its files. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await until(
      () => `${this.#plan.kind} has ended`,
      () => this.#hasEnded,
    );
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #logFile(): string {
    return path.join(this.#folder, 'proxy.log');
  }

  #write(changed: (text: string) => string = (text) => text): void {
    const { kind, port, behind, certificate } = this.#plan;
    writeFileSync(this.#logFile, '', { flag: 'a' });
    let text = readFileSync(path.join(ROOT, FILES[kind]), 'utf8');
    const replace = (what: string, by: string): void => {
      if (!text.includes(what)) throw new Error(`${FILES[kind]} does not hold ${what}`);
      text = text.replaceAll(what, by);
    };
    for (const [index, ports] of SHIPPED.entries()) replacePorts(replace, kind, ports, behind[index === 0 ? 0 : 1]);
    if (kind === 'nginx') {
      replace('listen 443 ', `listen 127.0.0.1:${String(port)} `);
      for (const [name, pem] of Object.entries({ 'tls.crt': certificate.cert, 'tls.key': certificate.key })) {
        replace(`/etc/nginx/parley/${name}`, this.#file(name, pem));
      }
      this.#file('nginx.conf', this.#nginxFrame());
      this.#file('parley.conf', changed(text));
      return;
    }
    replace('bind :443 ', `bind 127.0.0.1:${String(port)} `);
    replace('/etc/haproxy/parley.pem', this.#file('parley.pem', `${certificate.cert}\n${certificate.key}`));
    replace('/run/haproxy/admin.sock', path.join(this.#folder, 'admin.sock'));
    // It wants two descriptors for each connection at its start, more than a machine that runs tests may give.
    replace('    maxconn 20000\n', '    maxconn 500\n');
    // Only root can become somebody else.
    if (process.getuid?.() !== 0) for (const line of ['    user haproxy\n', '    group haproxy\n']) replace(line, '');
    this.#file('parley.cfg', changed(text));
  }

  /** What stands around the file in the nginx of Debian: its own nginx.conf, with the files of a process without rights. */
  #nginxFrame(): string {
    const folder = this.#folder;
    mkdirSync(path.join(folder, 'temporary'), { recursive: true });
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/temporary/${each};`);
    return [
      'daemon off;',
      `pid ${folder}/nginx.pid;`,
      `error_log ${this.#logFile} notice;`,
      // More than one, because they share the circle of servers.
      'worker_processes 2;',
      'events { worker_connections 512; }',
      `http { access_log off; ${places.join(' ')} include ${folder}/parley.conf; }`,
      '',
    ].join('\n');
  }

  #file(name: string, text: string): string {
    const file = path.join(this.#folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }
}

function replacePorts(replace: (what: string, by: string) => void, kind: ProxyKind, shipped: ProxiedPorts, own: ProxiedPorts): void {
  for (const name of ['grpc', 'websocket', 'webhooks'] as const) {
    replace(`127.0.0.1:${String(shipped[name])} `, `127.0.0.1:${String(own[name])} `);
  }
  if (kind === 'HAProxy') replace(` port ${String(shipped.ops)}\n`, ` port ${String(own.ops)}\n`);
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
