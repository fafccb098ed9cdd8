// A client that shares nothing with us but proto/: Python's grpcio, with stubs made by protoc. It lists the agents and
// holds exchanges A and B with the bundled bots, over TLS and with a token.
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/package-root.ts';
import { DEFAULT_LISTEN } from '../support/defaults.ts';
import { DEBIAN_PYTHON, requireDebian } from '../support/debian.ts';
import { RunningServer, TEST_SPEECH } from '../support/running-server.ts';

const run = promisify(execFile);
const LIMIT_MS = 60_000;
const PLUGIN = '/usr/bin/grpc_python_plugin';

const isComplete = requireDebian({
  commands: ['protoc'],
  python: ['grpc', 'google.protobuf'],
  // The plug-in that makes the stubs, and the well-known types that our protos import.
  files: [PLUGIN, '/usr/include/google/protobuf/struct.proto'],
  packages: ['python3-grpcio', 'python3-protobuf', 'protobuf-compiler', 'protobuf-compiler-grpc', 'libprotobuf-dev'],
});

/** What the client printed of one RPC. */
interface PythonRpc {
  readonly rpc: string;
  readonly status?: string;
  readonly responses?: readonly PythonResponse[];
}

interface PythonResponse {
  readonly type: string;
  readonly events: readonly string[];
  readonly prompts: readonly { readonly bytes: number; readonly riff: boolean; readonly text: string; readonly barge_in: boolean }[];
}

/** A response in a few words, as in the reference exchanges. */
function story({ type, events, prompts }: PythonResponse): string {
  const sounds = prompts.map(({ bytes, riff, text }) => `${text === '' ? '' : 'text+'}${bytes === 0 ? 'empty' : riff ? 'wav' : 'audio'}`);
  return [type, ...events, ...sounds].join(' ');
}

let stubs: string;
beforeAll(async () => {
  stubs = await mkdtemp(path.join(tmpdir(), 'parley-python-'));
  if (!isComplete) return;
  const protos = path.join(packageRoot(), 'proto');
  const files = readdirSync(protos).filter((file) => file.endsWith('.proto'));
  const plugin = `--plugin=protoc-gen-grpc_python=${PLUGIN}`;
  await run('protoc', [`-I${protos}`, plugin, `--python_out=${stubs}`, `--grpc_python_out=${stubs}`, ...files], { timeout: LIMIT_MS });
});
afterAll(() => rm(stubs, { recursive: true, force: true }));

describe.each(['wav', 'chunk'] as const)("a client of Python's grpcio, in %s mode", (mode) => {
  let server: RunningServer;
  let rpcs: ReadonlyMap<string, PythonRpc>;

  beforeAll(async () => {
    server = await RunningServer.start({ flags: [`--media.mode=${mode}`] });
    if (!isComplete) return;
    await server.app.warmed;
    const { stdout } = await run(
      DEBIAN_PYTHON,
      [
        path.join(packageRoot(), 'test', 'fixtures', 'python', 'client.py'),
        stubs,
        server.target,
        server.certificate.certificateFile,
        await server.issuer.issueToken(),
        server.issuer.claims.organizationId,
        path.join(TEST_SPEECH, 'sentence.wav'),
      ],
      { timeout: LIMIT_MS },
    );
    const lines = stdout.trim().split('\n');
    rpcs = new Map(lines.map((line) => JSON.parse(line) as PythonRpc).map((rpc) => [rpc.rpc, rpc]));
  });
  afterAll(() => server.close());

  const spoken = mode === 'chunk' ? ['CHUNK audio', 'FINAL empty'] : ['FINAL wav'];
  const told = (rpc: string): readonly string[] | undefined => rpcs.get(rpc)?.responses?.map(story);
  const last = (rpc: string): PythonResponse | undefined => rpcs.get(rpc)?.responses?.at(-1);

  it('checks the health and lists the agents; without a token it does not', () => {
    expect(rpcs.get('health')).toMatchObject({ serving: 'SERVING' });
    expect(rpcs.get('list')).toMatchObject({
      agents: [
        ['appointments', 'Appointments', false],
        ['clinic', 'Clinic', false],
        ['code-line', 'Code line', false],
        ['echo', 'Echo', false],
        ['front-desk', 'Front desk', false],
        ['talk', 'Talk', false],
      ],
    });
    expect(rpcs.get('list without a token')).toMatchObject({ status: 'UNAUTHENTICATED', details: 'token refused' });
  });

  it('holds exchange A: welcome, an utterance with its echo, and the end', () => {
    expect(told('A1')).toEqual(spoken);
    expect(last('A1')).toMatchObject({ mode: 'INPUT_VOICE_DTMF', sensitive: false, no_input_ms: DEFAULT_LISTEN.noInputMs });
    expect(told('A2')).toEqual(['FINAL START_OF_INPUT', mode === 'chunk' ? 'CHUNK END_OF_INPUT' : 'FINAL END_OF_INPUT', ...spoken]);
    // The sentence lasts 3.35 s; its echo has the pre-roll before it and a little silence behind it.
    const echo = rpcs.get('A2')?.responses?.flatMap(({ prompts }) => prompts.map(({ bytes }) => bytes)) ?? [];
    expect(Math.max(...echo)).toBeGreaterThan(8000 * 2.5);
    expect(Math.max(...echo)).toBeLessThan(8000 * 4.5);
    expect(last('A3')).toMatchObject({ events: [], prompts: [] });
  });

  it('holds exchange B: four sensitive digits, their confirmation, and the end by the bot', () => {
    expect(told('B1')).toEqual(spoken);
    expect(last('B1')).toMatchObject({ digits: 4, sensitive: true });
    expect(told('B2')).toEqual([]);
    expect(told('B3')).toEqual(spoken);
    expect(last('B3')).toMatchObject({ digits: 1, sensitive: true });
    expect(told('B4')).toEqual(mode === 'chunk' ? ['CHUNK audio', 'FINAL SESSION_END empty'] : ['FINAL SESSION_END wav']);
    expect(last('B4')).toMatchObject({ mode: '', metadata: [['outcome']] });
    // G-7C: the platform's own end comes too late to be told anything.
    expect(last('B5')?.prompts ?? []).toEqual([]);
  });

  it('sees every RPC end well, and leaves nothing open', async () => {
    const statuses = [...rpcs.values()].filter(({ rpc }) => /^[AB]\d$/.test(rpc)).map(({ status }) => status);
    expect(statuses).toEqual(Array(8).fill('OK'));
    expect(server.logged({ level: 'warn' }).map(({ reason }) => reason)).toEqual(['token_missing']);
    await server.quiet();
  });
});
