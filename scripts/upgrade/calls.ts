// A server of the last release and one of today's beside each other, with Redis, an administration that they share, and recordings: calls
// that go from one to the other, and what each has written for the other.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { HomeStage, metricOf } from '../../test/fleet/home-stage.ts';
import type { Replica, StartChange } from '../../test/fleet/replica.ts';
import { press, silentUntil, type RoutedCall } from '../../test/fleet/routed-call.ts';
import { until } from '../../test/support/until.ts';
import { fleetAdministration } from '../fleet/administration.ts';
import type { Installation } from './last-release.ts';

/** Longer than the lease of a leader that is killed, ms. */
const LEADS_MS = 60_000;
const FLAGS = ['--shutdown.notice_ms=0', '--shutdown.grace_ms=4000'];

/** One of the two servers. */
interface Neighbour {
  readonly version: Installation;
  /** Its number in the fleet. */
  readonly server: number;
  readonly start: StartChange;
  readonly recordings: string;
}

/** Both servers; whoever opens them closes them. */
export class Neighbours {
  readonly last: Neighbour;
  readonly today: Neighbour;
  readonly #stage: HomeStage;
  readonly #keys: string;

  private constructor(stage: HomeStage, [last, today]: readonly [Neighbour, Neighbour], keys: string) {
    this.last = last;
    this.today = today;
    this.#stage = stage;
    this.#keys = keys;
  }

  /** @param folder - for recordings. */
  static async open(last: Installation, today: Installation, folder: string): Promise<Neighbours> {
    const keys = `--recordings.keys=["${randomBytes(32).toString('hex')}"]`;
    const neighbour = (version: Installation, server: number): Neighbour => {
      const recordings = path.join(folder, `recordings-${String(server)}`);
      const flags = [...version.botFlags, '--recordings.enabled=true', `--recordings.folder=${recordings}`, keys];
      return { version, server, start: { main: version.main, flags }, recordings };
    };
    const both = [neighbour(last, 0), neighbour(today, 1)] as const;
    const stage = await HomeStage.start(both.length, FLAGS, {
      startOf: (replica) => both[replica]?.start ?? {},
      administration: fleetAdministration,
    });
    return new Neighbours(stage, both, keys);
  }

  /** A turn is forwarded, and its home killed: the other version goes on with the call, and leads the administration. */
  async takenOver(home: Neighbour, other: Neighbour): Promise<void> {
    const over = new AbortController();
    const call = this.#call(over.signal, (rpc) => (rpc === 0 ? home : other));
    await call.reached('waits');
    await this.#stage.live([call], home.server, [other.server]);
    await this.#without(home, async (server) => {
      await server.kill();
      await this.#stage.live([call], other.server, []);
      over.abort();
      await expectWhole(call);
      const leads = (): Promise<number> => metricOf(this.#stage.replica(other.server), 'parley_admin_owner');
      await until('the other version leads the administration', async () => (await leads()) === 1, LEADS_MS);
    });
  }

  /** A server stops in good order, as in a deploy: the other version goes on with its calls. */
  async released(home: Neighbour, other: Neighbour): Promise<void> {
    const over = new AbortController();
    let door = home;
    const call = this.#call(over.signal, () => door);
    await call.reached('waits');
    await this.#stage.live([call], home.server, [other.server]);
    door = other;
    await this.#without(home, async (server) => {
      assert.deepEqual(await server.stop(), { code: 0, signal: null });
      over.abort();
      // A caller who is silent at the end of the grace time is moved like that (docs/operations.md).
      await expectWhole(call, ['unasked_completion']);
    });
  }

  /** What one version has recorded is listed and opened by the other. */
  async recordings(writer: Neighbour, { version }: Neighbour): Promise<void> {
    const flags = ['--json', `--recordings.folder=${writer.recordings}`, this.#keys];
    const files = await readdir(writer.recordings);
    assert(files.length > 1, 'several calls were recorded');
    const listed = await version.parley('calls', 'list', ...flags);
    assert(!listed.includes('"isReadable": false'), listed);
    const shown = await Promise.all(files.map((file) => version.parley('calls', 'show', path.basename(file, '.parley-call'), ...flags)));
    assert(
      shown.some((text) => text.includes('"kind": "listen"') && /"durationMs": [1-9]/u.test(text.slice(0, text.indexOf('"turns"')))),
      'a reply is in one of them, with its times',
    );
  }

  async close(): Promise<void> {
    await this.#stage.close();
  }

  /** Ends a server in `work`; afterwards it runs again. */
  async #without({ server, start }: Neighbour, work: (server: Replica) => Promise<void>): Promise<void> {
    const replica = this.#stage.replica(server);
    try {
      await work(replica);
    } finally {
      await replica.kill();
      await replica.start(start);
    }
  }

  #call(over: AbortSignal, doorOf: (rpc: number) => Neighbour): RoutedCall {
    const script = [press('1'), silentUntil(over), press('2')];
    return this.#stage.call({ script, serverOf: (rpc) => doorOf(rpc).server });
  }
}

/** @param found - what it may find beside. */
async function expectWhole(call: RoutedCall, found: readonly string[] = []): Promise<void> {
  const { texts, outcome, turnsLost, findings } = await call.heard();
  assert.deepEqual(
    { texts, outcome, turnsLost, findings: findings.map(({ code }) => code) },
    { texts: ['Hello.', 'Answer 1.', 'Key 1.', 'Answer 2.', 'Key 2.'], outcome: 'hung_up', turnsLost: 0, findings: found },
    call.story,
  );
}
