// A fleet for tests of where calls live: each test says to which server each turn comes, and what happens meanwhile.
import { Fleet } from './fleet.ts';
import { RoutedCall, type RoutedCallOptions } from './routed-call.ts';
import { Routes } from './routed-line.ts';
import type { Program, Replica } from './replica.ts';
import { until } from '../support/until.ts';

/** Whoever starts it closes it. */
export class HomeStage {
  readonly fleet: Fleet;
  readonly routes: Routes;

  private constructor(fleet: Fleet) {
    this.fleet = fleet;
    this.routes = new Routes(fleet.replicas.map((replica) => fleet.accessTo(replica)));
  }

  static async start(replicas: number, flags: readonly string[] = [], program: Program = 'source'): Promise<HomeStage> {
    return new HomeStage(await Fleet.start({ replicas, program, flags }));
  }

  replica(number: number): Replica {
    const replica = this.fleet.replicas[number];
    if (replica === undefined) throw new RangeError('there is no such server');
    return replica;
  }

  /** Places a call. @param options - the bot that takes its time answers by default. */
  call(options: Pick<RoutedCallOptions, 'script' | 'serverOf'> & Partial<RoutedCallOptions>): RoutedCall {
    return new RoutedCall(this.routes, { agentId: 'phases', organizationId: this.fleet.access.organizationId, ...options });
  }

  /** Calls that live on each server, as it counts them. */
  async homes(): Promise<readonly number[]> {
    return Promise.all(this.fleet.replicas.map((replica) => (replica.isRunning ? openCalls(replica) : Promise.resolve(0))));
  }

  /** All servers run, and Redis does. */
  async repair(): Promise<void> {
    for (const replica of this.fleet.replicas) replica.signal('SIGCONT');
    await Promise.all(this.fleet.replicas.filter(({ isRunning }) => !isRunning).map((replica) => replica.start()));
  }

  /** Waits until no call is left anywhere. */
  async empty(): Promise<void> {
    await until('no call is left', async () => (await this.homes()).every((calls) => calls === 0));
  }

  async close(): Promise<void> {
    this.routes.close();
    await this.fleet.close();
  }
}

/** The sum of one gauge or counter of a server over its labels. */
export async function metricOf(replica: Replica, name: string): Promise<number> {
  const lines = (await replica.metrics()).matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (?<value>[\\d.e+-]+)$`, 'gmu'));
  return [...lines].reduce((sum, { groups }) => sum + Number(groups?.['value']), 0);
}

/** Calls that live on a server. */
export function openCalls(replica: Replica): Promise<number> {
  return metricOf(replica, 'parley_sessions_open');
}
