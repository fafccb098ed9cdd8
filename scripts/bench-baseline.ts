// `npm run bench -- baseline`: what one server costs before it works hard. Time from start to ready, time from SESSION_START
// to the first audio, memory with no and with 500 idle sessions. Real process, TLS and token check on, loopback only.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import { loadProfile } from '../src/contract/profile.ts';
import { GrpcConnection } from '../src/fake-platform/lines/grpc-line.ts';
import { parseTarget } from '../src/fake-platform/lines/target.ts';
import { median, rounded } from './bench/figures.ts';
import { command } from './command-line.ts';
import { prepareSurroundings, startBuilt, type BuiltServer, type Surroundings } from './surroundings.ts';

const STARTS = 5;
const CALLS = 50;
const IDLE_SESSIONS = 500;
const MB = 2 ** 20;
/** A refused call would count as an idle session. */
const NO_LIMITS = ['--overload.max_loop_delay_ms=0', '--sessions.max_per_organization=0', '--sessions.max_new_per_s_per_organization=0'];

const help = `usage: npm run bench -- baseline
Builds nothing: run \`npm run build\` first. The last line is JSON.
example: npm run build && npm run bench -- baseline
`;

/** Opens a session. @returns the ms until its first audio. */
function startSession(connection: GrpcConnection, organizationId: string): Promise<number> {
  const line = connection.line({ conversationId: randomUUID(), organizationId, agentId: 'echo', vendorConfig: '', allowPartial: false });
  return new Promise((resolve, reject) => {
    const sentAtMs = performance.now();
    let firstAudioMs: number | undefined;
    const turn = line.open({
      answered: ({ prompts }) => {
        if (prompts.some(({ audio }) => audio.length > 0)) firstAudioMs ??= performance.now() - sentAtMs;
      },
      ended: (end) => {
        if (firstAudioMs !== undefined && end.kind === 'completed') resolve(firstAudioMs);
        else reject(new Error(end.kind === 'broken' ? end.failure.message : 'the session start brought no audio'));
      },
    });
    turn.send({ kind: 'session_start', name: '', parameters: {} });
    turn.halfClose();
  });
}

/** First audio and memory, with sessions that stay idle. */
async function measured({ issuer, certificatePem }: Surroundings, server: BuiltServer) {
  const connection = new GrpcConnection({
    target: parseTarget(`grpcs://localhost:${String(server.port)}`),
    profile: loadProfile('fake'),
    clock: systemClock,
    token: await issuer.issueToken(),
    certificateAuthority: Buffer.from(certificatePem),
    connectLimitMs: 20_000,
  });
  const sessions = async (count: number): Promise<number[]> => {
    const latenciesMs: number[] = [];
    for (let call = 0; call < count; call += 1) latenciesMs.push(await startSession(connection, issuer.claims.organizationId));
    return latenciesMs;
  };
  try {
    await sessions(1);
    const emptyMb = (await server.process.ask('rss')) / MB;
    const latenciesMs = await sessions(CALLS);
    console.log(
      `first audio  median ${median(latenciesMs).toFixed(1)} ms, largest ${Math.max(...latenciesMs).toFixed(1)} ms of ${String(CALLS)} calls`,
    );
    await sessions(IDLE_SESSIONS - CALLS);
    const idleMb = (await server.process.ask('rss')) / MB;
    console.log(
      `memory  ${emptyMb.toFixed(0)} MB resident at the start, ${idleMb.toFixed(0)} MB with ${String(IDLE_SESSIONS)} idle sessions`,
    );
    return {
      firstAudioMs: rounded(median(latenciesMs)),
      residentMb: rounded(emptyMb, 1),
      residentMbWith500IdleSessions: rounded(idleMb, 1),
    };
  } finally {
    await connection.close();
  }
}

await command({
  help,
  options: {},
  run: async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-bench-'));
    const surroundings = await prepareSurroundings(folder);
    try {
      const readyTimesMs: number[] = [];
      for (let start = 0; start < STARTS; start += 1) {
        const startedAtMs = performance.now();
        const server = await startBuilt(surroundings, NO_LIMITS);
        readyTimesMs.push(performance.now() - startedAtMs);
        console.log(`start ${String(start + 1)} of ${String(STARTS)}  ready after ${(readyTimesMs.at(-1) ?? 0).toFixed(0)} ms`);
        await server.process.stop();
      }
      const server = await startBuilt(surroundings, NO_LIMITS);
      const figures = await measured(surroundings, server);
      await server.process.stop();
      return { readyMs: Math.round(median(readyTimesMs)), ...figures, node: process.version };
    } finally {
      await surroundings.issuer.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
});
