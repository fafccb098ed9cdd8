// What is done to real servers so that each alert fires. Everything is as it would happen to them, only sooner: see faster-rules.ts.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import type { CallOptions, CallResult } from '../../src/fake-platform/caller/caller.ts';
import type { ModelScript } from '../../src/cli/platform.ts';
import type { ThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';
import { sendCommand } from '../../src/ops/control-socket.ts';
import { press, RoutedCall, silentUntil } from '../../test/fleet/routed-call.ts';
import { Routes } from '../../test/fleet/routed-line.ts';
import { freePort } from '../../test/support/free-port.ts';
import { LEAVE } from './callers.ts';
import { CALM_MODEL, type Stage } from './stage.ts';

/** How many times as fast time goes in the rules and for the tokens: a day's token lives some minutes. */
export const TIMES = 60;
/** More calls at once are refused by a server. */
const MOST_CALLS = 24;
/** So many callers call again and again, so that something happens every other second. */
const SOME = 4;
/** Pause between two things that happen again and again, ms. */
const AGAIN_MS = 300;
/** A worker that starts needs some time before it is killed, too, ms; and so many ends a server endures. */
const [KILL_EVERY_MS, MOST_KILLS] = [2500, 8];
/** Another organization comes while the pauses before the tries of the one before grow, ms. */
const AUTHORIZE_EVERY_MS = 15_000;
/** More than a model is asked. */
const REQUESTS = 1000;

/** Of the servers that it happens to. */
export const FAULT_FLAGS: readonly string[] = [
  // One hour before the end of a day is what is shipped.
  ...['--admin.data_sources.token_lifetime_minutes=2', '--admin.data_sources.renewal_lead_minutes=1'],
  ...['--admin.data_sources.retry_interval_s=1', '--admin.data_sources.check_interval_s=10'],
  ...[`--sessions.max=${String(MOST_CALLS)}`, '--sessions.max_per_organization=0', '--sessions.max_new_per_s_per_organization=0'],
  ...['--sessions.idle_timeout_ms=15000', '--sessions.sweep_ms=1000', '--turns.slow_reader_ms=1000'],
];

/** What faults happen to. */
export interface World extends Stage {
  /** A certificate that ends soon. */
  readonly aging: ThrowAwayCertificate;
  /** Places a call at the first server, with the token that is good now. */
  readonly call: (more: Partial<CallOptions>) => Promise<CallResult>;
}

/** One thing that goes wrong. */
export interface Fault {
  /** The alerts that it fires, of whatever severity. */
  readonly alerts: readonly string[];
  /** Goes on until the signal; then all is as before. */
  readonly during: (world: World, over: AbortSignal) => Promise<unknown>;
  /** Nothing here takes it away, so that its alerts stay. Default false. */
  readonly stays?: boolean;
}

/** Faults of one list happen one after the other; the lists at the same time. */
export const FAULTS: readonly (readonly Fault[])[] = [
  [
    {
      alerts: ['ParleyModelSlow', 'ParleyFirstSoundLate'],
      during: (world, over) => played(world, over, { delays: { first_token: [1500, 1600] } }),
    },
    { alerts: ['ParleyModelFails'], during: (world, over) => played(world, over, { faults: allOf('chat') }) },
    {
      alerts: ['ParleyBotFails'],
      during: ({ call }, over) => crowd(over, SOME, () => call({ agentId: 'broken', script: [press('5'), LEAVE] })),
    },
    {
      alerts: ['ParleyPromptsFail', 'ParleySpeechCircuitOpen'],
      during: (world, over) => played(world, over, { faults: allOf('speech') }),
    },
    {
      alerts: ['ParleyRecordingsLost'],
      during: async ({ recordings }, over) => {
        await rename(recordings, `${recordings}.away`);
        await writeFile(recordings, '');
        await aborted(over);
        await rm(recordings);
        await rename(`${recordings}.away`, recordings);
      },
    },
    {
      alerts: ['ParleyTokensRefused', 'ParleyCallersTurnedAway'],
      // Somebody else has renewed the data source.
      during: ({ call, issuer, administration: { token } }, over) =>
        again(over, async () => call({ token: issuer.forge({ claims: { ...decodeJwt(await token()), jti: 'another' }, by: 'newest' }) })),
    },
    {
      alerts: ['ParleyStreamsFail'],
      during: async (world, over) => {
        const say = 'We are open until six. '.repeat(100);
        const reads = { script: [press('9'), LEAVE], hangUpAtMs: 13_000, conditions: { slowReader: { pauseMs: 5000 } } };
        await Promise.all([
          played(world, over, { rules: [{ when: String.raw`/9\]$/`, say }, ...(CALM_MODEL.rules ?? [])] }),
          crowd(over, 2 * SOME, () => world.call(reads), 1700),
        ]);
      },
    },
    {
      alerts: ['ParleyNearlyFull', 'ParleyCallsRefused', 'ParleyCallsUnanswered'],
      during: ({ call }, over) => crowd(over, MOST_CALLS + SOME, () => call({ script: [silentUntil(over), LEAVE] })),
    },
  ],
  [
    {
      alerts: ['ParleyRenewalLate', 'ParleyTokenEnds', 'ParleyWebhookMissing'],
      during: (world, over) => refusing(world, aborted(over)),
    },
    {
      alerts: ['ParleyAuthorizationFails'],
      during: (world, over) =>
        refusing(
          world,
          again(over, () => world.administration.api.authorize(randomUUID()), AUTHORIZE_EVERY_MS),
        ),
    },
    {
      alerts: ['ParleyNobodyRenews'],
      // A server that nobody watches renews.
      during: async ({ redis }, over) => {
        await redis.ask('SET', 'parley:admin:lease', 'another');
        await aborted(over);
        await redis.ask('DEL', 'parley:admin:lease');
      },
    },
    {
      alerts: ['ParleyStoreDown', 'ParleyAdminStoreReadOnly'],
      during: async ({ redis }, over) => {
        await redis.kill();
        await aborted(over);
        await redis.again();
      },
    },
    {
      alerts: ['ParleyLoginRefused'],
      // A person would have to log in again.
      stays: true,
      during: async ({ administration: { api } }, over) => {
        api.revokeTokens(api.integration.clientId);
        await aborted(over);
      },
    },
  ],
  [
    {
      alerts: ['ParleyForwardingFails'],
      during: async ({ accesses, administration, peerLine, replicas: [{ ports }] }, over) => {
        const token = await administration.token();
        const routes = new Routes(accesses.map((access) => ({ ...access, token })));
        const { organizationId } = administration;
        const script = [press('1'), LEAVE];
        peerLine.turnTo(await freePort());
        await again(over, () => new RoutedCall(routes, { agentId: 'desk', organizationId, script, serverOf: (rpc) => rpc }).heard());
        peerLine.turnTo(ports.peer);
        routes.close();
      },
    },
    {
      alerts: ['ParleyWorkersEnd'],
      during: async ({ replicas: [, { pid }] }, over) => {
        let kills = 0;
        await again(
          over,
          async () => {
            const [worker] = (await readFile(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')).split(' ');
            if (worker !== undefined && worker !== '' && ++kills <= MOST_KILLS) process.kill(Number(worker), 'SIGKILL');
          },
          KILL_EVERY_MS,
        );
      },
    },
    {
      alerts: ['ParleyNotReady'],
      during: async ({ controlSocket }, over) => {
        await sendCommand(controlSocket, { kind: 'drain' });
        await aborted(over);
        await sendCommand(controlSocket, { kind: 'undrain' });
      },
    },
    {
      alerts: ['ParleyDown'],
      during: async ({ replicas: [, second] }, over) => {
        second.signal('SIGSTOP');
        await aborted(over);
        second.signal('SIGCONT');
      },
    },
  ],
  [
    {
      alerts: ['ParleyFileRefused'],
      during: ({ certificate: { certificateFile } }, over) => replaced(over, { [certificateFile]: 'no certificate' }),
    },
    {
      alerts: ['ParleyCertificateEnds'],
      during: async ({ certificate, aging }, over) =>
        replaced(over, {
          [certificate.certificateFile]: aging.certificatePem,
          [certificate.keyFile]: await readFile(aging.keyFile, 'utf8'),
        }),
    },
  ],
];

/** Does it, and again when it is done, until the signal. */
async function again(over: AbortSignal, act: () => unknown, everyMs = AGAIN_MS): Promise<void> {
  while (!over.aborted) {
    await act();
    await pause(everyMs, undefined, { signal: over }).catch(() => undefined);
  }
}

/** So many callers do it again and again; each begins so much later than the one before, ms. */
export async function crowd(over: AbortSignal, callers: number, act: () => unknown, apartMs = AGAIN_MS): Promise<void> {
  const lines = Array.from({ length: callers }, async (_, index) => {
    await pause(index * apartMs, undefined, { signal: over }).catch(() => undefined);
    await again(over, act);
  });
  await Promise.all(lines);
}

async function aborted(over: AbortSignal): Promise<void> {
  if (!over.aborted) await once(over, 'abort');
}

/** The platform answers every request to its administration with 503. */
async function refusing({ administration: { api } }: World, until: Promise<unknown>): Promise<void> {
  api.faults.add('any', { kind: 'answer', status: 503 }, Infinity);
  await until;
  api.faults.clear();
}

/** The models follow another script, which differs from the calm one in this. */
async function played({ play }: World, over: AbortSignal, script: ModelScript): Promise<void> {
  await play({ ...CALM_MODEL, ...script });
  await aborted(over);
  await play(CALM_MODEL);
}

/** Every request to a service fails with 503. */
function allOf(on: 'chat' | 'speech'): ModelScript['faults'] {
  return Array.from({ length: REQUESTS }, (_, index) => ({ on, nth: index + 1, kind: 'error' }));
}

/** Files have other contents. */
async function replaced(over: AbortSignal, texts: Readonly<Record<string, string>>): Promise<void> {
  const before = await Promise.all(Object.keys(texts).map(async (file) => [file, await readFile(file, 'utf8')] as const));
  const write = (written: Iterable<readonly [string, string]>) => Promise.all([...written].map(([file, text]) => writeFile(file, text)));
  await write(Object.entries(texts));
  await aborted(over);
  await write(before);
}
