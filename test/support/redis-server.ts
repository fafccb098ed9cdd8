// Debian's redis-server on a free port of loopback, with nothing kept on disk unless it is asked for: for stores over a real server, and for what
// happens to them when it is killed, hangs or comes back. Whoever starts one stops it.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { Authority } from './certificate-authority.ts';
import type { DebianNeeds } from './debian.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** For `requireDebian`. */
export const REDIS_NEEDS: DebianNeeds = { commands: ['redis-server'], packages: ['redis-server'] };

/** Generous for a busy machine, ms: a server that is up answers in less than one. */
const ANSWER_LIMIT_MS = 5000;

/** How a server is started. */
export interface RedisServerOptions {
  readonly password?: string;
  /** Signs its certificate for `localhost`; the server then speaks TLS and nothing else. */
  readonly authority?: Authority;
  /** Lines of its list of users; the tests have one of their own beside them. */
  readonly acl?: readonly string[];
  /** Whether every write is on disk before it is answered, and there again after a restart. */
  readonly isKept?: true;
}

/** The user of {@link RedisServer.ask} where there is a list of users. */
const TESTER = 'tester';

/** One server. */
export class RedisServer {
  readonly port: number;
  /** Its certificate's authority as a file. */
  readonly caFile: string;
  readonly #folder: string;
  readonly #options: RedisServerOptions;
  #child: ChildProcess | undefined;
  #said = '';

  private constructor(port: number, folder: string, options: RedisServerOptions) {
    this.port = port;
    this.caFile = path.join(folder, 'ca.pem');
    this.#folder = folder;
    this.#options = options;
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const folder = await mkdtemp(path.join(tmpdir(), 'parley-redis-'));
    const server = new RedisServer(await freePort(), folder, options);
    const { authority } = options;
    if (authority !== undefined) {
      const { cert, key } = await authority.issue();
      await Promise.all([
        writeFile(server.caFile, authority.pem),
        writeFile(path.join(folder, 'cert.pem'), cert),
        writeFile(path.join(folder, 'key.pem'), key),
      ]);
    }
    if (options.acl !== undefined) {
      const lines = [...options.acl, `user ${TESTER} on >${TESTER} ~* &* +@all`, ''];
      await writeFile(path.join(folder, 'users.acl'), lines.join('\n'));
    }
    await server.again();
    return server;
  }

  /** As settings have it. */
  get url(): string {
    return this.#options.authority === undefined ? `redis://127.0.0.1:${String(this.port)}` : `rediss://localhost:${String(this.port)}`;
  }

  /** Starts it after it was killed: at the same port, and empty unless it keeps its data. */
  async again(): Promise<void> {
    const child = spawn('redis-server', this.#flags(), { cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.#said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (this.#said += bytes.toString()));
    child.once('close', () => {
      if (this.#child === child) this.#child = undefined;
    });
    await until(
      () => `redis-server answers; it said: ${this.#said}`,
      async () => {
        if (this.#child === undefined) throw new Error(`redis-server has ended; it said: ${this.#said}`);
        return (await this.ask('PING').catch(() => '')) === '+PONG';
      },
    );
  }

  /** With SIGKILL, whatever its state; resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  /** It is there and answers nothing until `resume`. */
  hang(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** What the server answers to one command over a connection of its own, as it stands on the wire, without the last line end. */
  async ask(...words: readonly string[]): Promise<string> {
    const { password = '', acl } = this.#options;
    const login = acl === undefined ? [password].filter((word) => word !== '') : [TESTER, TESTER];
    const commands = [...(login.length === 0 ? [] : [['AUTH', ...login]]), words, ['QUIT']];
    const socket = connectTo(this.port, this.#options.authority);
    try {
      const answers = await exchange(socket, commands.map(encoded).join(''));
      const after = login.length === 0 ? answers : answers.replace('+OK\r\n', '');
      return after.replace(/\r\n\+OK\r\n$/u, '');
    } finally {
      socket.destroy();
    }
  }

  #flags(): readonly string[] {
    const { password, authority, acl, isKept } = this.#options;
    const port = String(this.port);
    const tls = ['--port', '0', '--tls-port', port, '--tls-cert-file', 'cert.pem', '--tls-key-file', 'key.pem', '--tls-auth-clients', 'no'];
    return [
      ...['--bind', '127.0.0.1', '--save', '', '--appendonly', isKept === true ? 'yes' : 'no', '--dir', this.#folder],
      ...(isKept === true ? ['--appendfsync', 'always'] : []),
      ...(acl === undefined ? [] : ['--aclfile', 'users.acl']),
      ...(authority === undefined ? ['--port', port] : tls),
      ...(password === undefined ? [] : ['--requirepass', password]),
    ];
  }
}

/** What a sentinel at a port of 127.0.0.1 answers to one command, as it stands on the wire. Sentinels know no QUIT. */
export async function askSentinel(
  port: number,
  words: readonly string[],
  { password = '', authority }: Pick<RedisServerOptions, 'password' | 'authority'>,
): Promise<string> {
  const socket = connectTo(port, authority);
  const login = password === '' ? '' : encoded(['AUTH', password]);
  try {
    const answers = exchange(socket, `${login}${encoded(words)}`);
    socket.end();
    return await answers;
  } finally {
    socket.destroy();
  }
}

function connectTo(port: number, authority: Authority | undefined): Socket {
  return authority === undefined
    ? connect(port, '127.0.0.1')
    : connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.pem });
}

/** Everything that is answered until the server closes. */
function exchange(socket: Socket, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answers = '';
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy(new Error('redis-server does not answer')));
    socket.on('data', (bytes: Buffer) => (answers += bytes.toString()));
    socket.once('error', reject);
    socket.once('close', () => {
      resolve(answers);
    });
    socket.write(text);
  });
}

function encoded(words: readonly string[]): string {
  const parts = words.map((word) => `$${String(Buffer.byteLength(word))}\r\n${word}\r\n`);
  return `*${String(words.length)}\r\n${parts.join('')}`;
}
