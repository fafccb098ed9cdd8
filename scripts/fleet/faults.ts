// What can break, each as a small function that breaks it, waits, and mends it. Done to a fleet from outside, while calls run; no
// server knows of it.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../../test/support/until.ts';
import type { Fleet } from '../../test/fleet/fleet.ts';
import { KeptRedis } from '../../test/fleet/kept-redis.ts';
import type { LineRelay } from '../../test/fleet/line-relay.ts';
import type { Replica, StartChange } from '../../test/fleet/replica.ts';
import { waited } from '../../test/fleet/trial.ts';

/** What a fault is done to. */
export interface Stage {
  readonly fleet: Fleet;
  /** Between the servers and the administration of the platform, where the fleet has one. */
  readonly adminLine?: LineRelay;
  /** Of the server that is meant, where one is. */
  readonly replica: Replica;
  readonly signal: AbortSignal;
}

/** One fault. */
export interface Fault {
  readonly name: string;
  /** What happens, for people. */
  readonly what: string;
  /** Whether the servers look after their data sources themselves. */
  readonly needsAdministration?: true;
  /** Why it cannot be done on this machine; undefined when it can. */
  readonly missing?: () => string | undefined;
  readonly breakIt: (stage: Stage) => Promise<void>;
}

/** How long what is stopped stays so, ms: longer than it takes to find a server dead, shorter than a caller's patience. */
const STOPPED_MS = 4000;
/** How long others are away, ms. */
const AWAY_MS = 1500;
const LONG_AWAY_MS = 8000;
/** Each way between the servers and Redis, ms. */
const SLOW_MS = 40;
/** How far a clock jumps: beyond every time that is measured, within the life of tokens. */
const JUMP = '+3600';
const CLOCK_TOLERANCE_MS = 3000;

/** All of them, in the order in which they are tried. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'none',
    what: 'nothing happens',
    breakIt: () => Promise.resolve(),
  },
  {
    name: 'kill',
    what: 'kill -9 of a server; it is started again after a moment',
    breakIt: async ({ replica, signal }) => {
      await replica.kill();
      await waited(AWAY_MS, signal);
      await replica.start();
    },
  },
  {
    name: 'stop',
    what: 'a server stands still for 4 s (SIGSTOP, SIGCONT)',
    breakIt: async ({ replica, signal }) => {
      replica.signal('SIGSTOP');
      await waited(STOPPED_MS, signal);
      replica.signal('SIGCONT');
    },
  },
  {
    name: 'redis_restart',
    what: 'Redis is killed and started again with what it kept',
    breakIt: async ({ fleet, signal }) => {
      await fleet.redis.kill();
      await waited(AWAY_MS, signal);
      await fleet.redis.again();
    },
  },
  { name: 'redis_failover', what: 'Redis dies, and its copy takes its place behind the same address', breakIt: redisFailover },
  {
    name: 'key_server_down',
    what: 'the key server is away for 8 s',
    breakIt: async ({ fleet, signal }) => {
      await fleet.keyLine.down();
      await waited(LONG_AWAY_MS, signal);
      await fleet.keyLine.up();
    },
  },
  {
    name: 'start_without_keys',
    what: 'a server is killed and started again while the key server is away',
    breakIt: async ({ fleet, replica, signal }) => {
      await fleet.keyLine.down();
      await replica.kill();
      await replica.start();
      await waited(STOPPED_MS, signal);
      await fleet.keyLine.up();
    },
  },
  {
    name: 'admin_api_down',
    what: 'the administration of the platform is away while a server is restarted',
    needsAdministration: true,
    breakIt: async ({ adminLine, replica, signal }) => {
      await adminLine?.down();
      await replica.kill();
      await replica.start();
      await waited(AWAY_MS, signal);
      await adminLine?.up();
    },
  },
  {
    name: 'clock_jump',
    what: 'the clock of a server jumps by an hour, and back',
    missing: () => (clockLibrary() === undefined ? 'libfaketime is missing: apt-get install -y faketime' : undefined),
    breakIt: clockJump,
  },
  {
    name: 'log_disk_full',
    what: 'a server logs to a disk that is full (/dev/full)',
    breakIt: (stage) => {
      const full = openSync('/dev/full', 'w');
      return loggingTo(full, stage);
    },
  },
  {
    name: 'log_unread',
    what: 'a server logs to a pipe that nobody reads',
    breakIt: (stage) => {
      const pipe = path.join(stage.fleet.folder, 'unread');
      if (!existsSync(pipe)) execFileSync('mkfifo', [pipe]);
      // For both ways, or opening it would wait for a reader.
      return loggingTo(openSync(pipe, constants.O_RDWR), stage);
    },
  },
  {
    name: 'slow_network',
    what: 'every answer of Redis takes 80 ms for 8 s',
    breakIt: async ({ fleet, signal }) => {
      fleet.redisLine.slowTo(SLOW_MS);
      await waited(LONG_AWAY_MS, signal);
      fleet.redisLine.slowTo(0);
    },
  },
];

async function redisFailover({ fleet, signal }: Stage): Promise<void> {
  const copy = await KeptRedis.start(fleet.redis.port);
  fleet.onClosed(() => copy.stop());
  await fleet.redis.kill();
  // As long as it takes to notice.
  await waited(AWAY_MS, signal);
  await copy.promote();
  fleet.redisLine.turnTo(copy.port);
}

/** Debian's library that gives one program another clock; the one for programs with threads. */
function clockLibrary(): string | undefined {
  return readdirSync('/usr/lib')
    .map((folder) => path.join('/usr/lib', folder, 'faketime', 'libfaketimeMT.so.1'))
    .find(existsSync);
}

/** A server that runs under a clock of its own. Times that are measured go on evenly, as they do when a machine's clock is set. */
async function clockJump({ fleet, replica, signal }: Stage): Promise<void> {
  const file = path.join(fleet.folder, 'clock');
  writeFileSync(file, '+0\n');
  const env = {
    LD_PRELOAD: clockLibrary() ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
  await startedAnew(replica, { env });
  for (const offset of [JUMP, '+0']) {
    await waited(STOPPED_MS, signal);
    writeFileSync(file, `${offset}\n`);
    // Or nothing would be proved. What an answer says of the time may be a second old.
    await until(
      `the clock of the server has jumped by ${offset} s`,
      async () => Math.abs((await clockOf(replica)) - Date.now() - Number(offset) * 1000) < CLOCK_TOLERANCE_MS,
      STOPPED_MS,
    );
  }
  await waited(STOPPED_MS, signal);
  await startedAnew(replica, {});
}

/** What a server takes the time for, ms since the epoch: it stands in every answer over HTTP. */
async function clockOf({ ports }: Replica): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${String(ports.ops)}/health/live`, {
    headers: { connection: 'close' },
    signal: AbortSignal.timeout(5000),
  });
  return Date.parse(answer.headers.get('date') ?? '');
}

/** A server whose log goes somewhere else, and says much. */
async function loggingTo(stderr: number, { replica, signal }: Stage): Promise<void> {
  try {
    await startedAnew(replica, { stderr, flags: ['--log.level=debug'] });
    await waited(LONG_AWAY_MS, signal);
    if (!replica.isRunning) throw new Error('the server has ended because of its log');
  } finally {
    await startedAnew(replica, {});
    closeSync(stderr);
  }
}

/** In good order, so that what comes of it is not what a kill does. */
async function startedAnew(replica: Replica, change: StartChange): Promise<void> {
  if (replica.isRunning) await replica.stop().catch(() => replica.kill());
  await replica.start(change);
}
