// The foreign protobuf implementation as a child process: starts it, asks it one thing at a time, ends it. What it does
// is said in python-codec.py.
import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../src/base/package-root.ts';
import { DEBIAN_PYTHON, type DebianNeeds } from './debian.ts';

/** What the codec needs; for `requireDebian`. */
export const PYTHON_CODEC_NEEDS: DebianNeeds = {
  commands: ['protoc'],
  python: ['google.protobuf'],
  // The well-known types that our protos import.
  files: ['/usr/include/google/protobuf/struct.proto'],
  packages: ['python3-protobuf', 'protobuf-compiler', 'libprotobuf-dev'],
};

/** A field as the foreign implementation knows it. */
export type ForeignField =
  | { readonly kind: 'map'; readonly number: number; readonly name: string; readonly values: ForeignField }
  | {
      readonly kind: 'string' | 'bytes' | 'bool' | 'int32' | 'int64' | 'double' | 'enum' | 'message';
      readonly number: number;
      readonly name: string;
      readonly repeated: boolean;
      readonly presence: boolean;
      readonly oneof: string;
      readonly type?: string;
      readonly numbers?: Readonly<Record<string, number>>;
    };

/** All messages by full name, and the request and response of each method. */
export interface ForeignSchema {
  readonly messages: Readonly<Record<string, readonly ForeignField[]>>;
  readonly methods: Readonly<Record<string, readonly [string, string]>>;
}

/** The child ends itself when its input ends; this is for the case that it hangs. */
const LIFE_LIMIT_MS = 120_000;

/** One running child. Whoever starts it closes it. */
export class PythonCodec {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #folder: string;
  #stderr = '';
  #closed = false;
  #waiting: { resolve(line: string): void; reject(error: Error): void } | undefined;

  constructor() {
    this.#folder = mkdtempSync(path.join(tmpdir(), 'parley-codec-'));
    const protos = path.join(packageRoot(), 'proto');
    const descriptors = path.join(this.#folder, 'protos.bin');
    const files = readdirSync(protos).filter((file) => file.endsWith('.proto'));
    execFileSync('protoc', [`-I${protos}`, '--include_imports', `--descriptor_set_out=${descriptors}`, ...files], { timeout: 20_000 });
    this.#child = spawn(DEBIAN_PYTHON, [path.join(import.meta.dirname, 'python-codec.py'), descriptors], { timeout: LIFE_LIMIT_MS });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.resolve(line);
    });
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-2000);
    });
    this.#child.on('close', () => {
      this.#closed = true;
      this.#waiting?.reject(new Error(`the Python codec ended: ${this.#stderr}`));
      this.#waiting = undefined;
    });
    // A write to a child that is gone; `close` reports it to whoever waits.
    this.#child.stdin.on('error', () => undefined);
  }

  /** What protoc and Python make of proto/. */
  schema(): Promise<ForeignSchema> {
    return this.#ask({ operation: 'schema' }) as Promise<ForeignSchema>;
  }

  /** What Python makes of file descriptors in base64, what is imported first. */
  reflected(files: readonly string[]): Promise<ForeignSchema> {
    return this.#ask({ operation: 'reflected', files }) as Promise<ForeignSchema>;
  }

  /** Parses messages of one type, and tells for each what it says and how Python writes it. */
  async roundTrip(type: string, messages: readonly Uint8Array[]): Promise<{ plain: unknown; bytes: Buffer }[]> {
    const replies = (await this.#ask({ operation: 'round_trip', type, messages: messages.map(base64) })) as {
      plain: unknown;
      bytes: string;
    }[];
    return replies.map(({ plain, bytes }) => ({ plain, bytes: Buffer.from(bytes, 'base64') }));
  }

  /** The messages as a platform of a later version would write them, with fields we do not know in each (G-90). */
  async later(type: string, messages: readonly Uint8Array[]): Promise<Buffer[]> {
    const replies = (await this.#ask({ operation: 'later', type, messages: messages.map(base64) })) as string[];
    return replies.map((bytes) => Buffer.from(bytes, 'base64'));
  }

  /** Ends the child and waits for it. */
  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    if (this.#closed) return;
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGKILL');
    await closed;
  }

  async #ask(request: object): Promise<unknown> {
    if (this.#waiting !== undefined) throw new Error('the Python codec answers one question at a time');
    if (this.#closed) throw new Error(`the Python codec has ended: ${this.#stderr}`);
    const line = await new Promise<string>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    });
    const reply = JSON.parse(line) as { value?: unknown; error?: string };
    if (reply.error !== undefined) throw new Error(`the Python codec refused: ${reply.error}`);
    return reply.value;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
