// `npm run bench -- baseline`: what one server costs before it works hard. Time from start to ready, time from SESSION_START
// to the first audio, memory with no and with 500 idle sessions. Real process, TLS and token check on, loopback only.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { credentials, Metadata, type ClientDuplexStream, Client } from '@grpc/grpc-js';
import { EVENT_INPUT, loadContract, type MediaRequest, type MediaResponse } from '../src/contract/grpc.ts';
import { loadProfile } from '../src/contract/profile.ts';
import { builtMain } from './bench/built-main.ts';
import { median } from './bench/figures.ts';
import { prepareSurroundings } from './surroundings.ts';

const STARTS = 5;
const CALLS = 50;
const IDLE_SESSIONS = 500;

if (process.argv.includes('--help')) {
  console.log(
    'usage: npm run bench -- baseline\nBuilds nothing: run `npm run build` first. The last line is JSON.\nexample: npm run build && npm run bench -- baseline',
  );
  process.exit(0);
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
  readonly readyMs: number;
}

async function startServer(configFile: string, running: Set<ChildProcess>): Promise<Server> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [builtMain(), 'serve', '--json', `--config=${configFile}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  for await (const line of createInterface({ input: child.stdout })) {
    const ready: unknown = JSON.parse(line);
    if (typeof ready === 'object' && ready !== null && 'port' in ready && typeof ready.port === 'number') {
      return { child, port: ready.port, readyMs: performance.now() - startedAtMs };
    }
  }
  throw new Error('the server ended before it was ready');
}

async function stopServer({ child }: Server): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

async function residentKb({ child }: Server): Promise<number> {
  const status = await readFile(`/proc/${String(child.pid)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN);
}

const contract = loadContract(loadProfile('fake'));
const rpc = contract.media.definition.ProcessCallerInput;

/** Opens a session and returns the ms until its first audio. */
function startSession(client: Client, organizationId: string, metadata: Metadata): Promise<number> {
  return new Promise((resolve, reject) => {
    const sentAtMs = performance.now();
    let firstAudioMs: number | undefined;
    const call: ClientDuplexStream<MediaRequest, MediaResponse> = client.makeBidiStreamRequest(
      rpc.path,
      rpc.requestSerialize,
      rpc.responseDeserialize,
      metadata,
    );
    call.on('data', (response: MediaResponse) => {
      if ((response.prompts ?? []).some((prompt) => (prompt.audio_content?.length ?? 0) > 0)) firstAudioMs ??= performance.now() - sentAtMs;
    });
    call.on('error', reject);
    call.on('end', () => {
      if (firstAudioMs === undefined) reject(new Error('the session start brought no audio'));
      else resolve(firstAudioMs);
    });
    call.write({
      conversation_id: randomUUID(),
      customer_org_id: organizationId,
      virtual_agent_id: 'echo',
      event_input: { event_type: EVENT_INPUT.SESSION_START },
    });
    call.end();
  });
}

const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-bench-'));
const { issuer, configFile, certificatePem } = await prepareSurroundings(folder);
const running = new Set<ChildProcess>();
try {
  const readyTimes: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const server = await startServer(configFile, running);
    readyTimes.push(server.readyMs);
    console.log(`start ${String(start + 1)} of ${String(STARTS)}  ready after ${server.readyMs.toFixed(0)} ms`);
    await stopServer(server);
  }

  const server = await startServer(configFile, running);
  const client = new Client(`localhost:${String(server.port)}`, credentials.createSsl(Buffer.from(certificatePem)));
  const metadata = new Metadata();
  metadata.set('authorization', await issuer.issueToken());
  const { organizationId } = issuer.claims;
  await startSession(client, organizationId, metadata);
  const emptyKb = await residentKb(server);
  const latencies: number[] = [];
  for (let call = 0; call < CALLS; call += 1) latencies.push(await startSession(client, organizationId, metadata));
  console.log(
    `first audio  median ${median(latencies).toFixed(1)} ms, largest ${Math.max(...latencies).toFixed(1)} ms of ${String(CALLS)} calls`,
  );
  for (let call = CALLS; call < IDLE_SESSIONS; call += 1) await startSession(client, organizationId, metadata);
  const idleKb = await residentKb(server);
  console.log(
    `memory  ${(emptyKb / 1024).toFixed(0)} MB resident at the start, ${(idleKb / 1024).toFixed(0)} MB with ${String(IDLE_SESSIONS)} idle sessions`,
  );
  client.close();
  await stopServer(server);
  console.log(
    JSON.stringify({
      readyMs: Math.round(median(readyTimes)),
      firstAudioMs: Number(median(latencies).toFixed(2)),
      residentMb: Number((emptyKb / 1024).toFixed(1)),
      residentMbWith500IdleSessions: Number((idleKb / 1024).toFixed(1)),
      node: process.version,
    }),
  );
} finally {
  // After a failure a server would outlive this command.
  for (const child of running) child.kill('SIGKILL');
  await issuer.close();
  await rm(folder, { recursive: true, force: true });
}
