// A fleet for tests of where calls live: each test says to which server each turn comes, and what happens meanwhile.
import { Fleet, type FleetOptions } from './fleet.ts';
import { RoutedCall, type RoutedCallOptions } from './routed-call.ts';
import { Routes } from './routed-line.ts';
import type { Replica } from './replica.ts';
import { until } from '../support/until.ts';

/** Whoever starts it closes it. */
export class HomeStage {
  readonly fleet: Fleet;
  readonly routes: Routes;

  private constructor(fleet: Fleet) {
    this.fleet = fleet;
    this.routes = new Routes(fleet.replicas.map((replica) => fleet.accessTo(replica)));
  }

  static async start(
    replicas: number,
    flags: readonly string[] = [],
    { program = 'source', ...more }: Partial<Pick<FleetOptions, 'program' | 'startOf' | 'administration'>> = {},
  ): Promise<HomeStage> {
    // Callers are silent until a test has seen what it waits for.
    const stage = new HomeStage(await Fleet.start({ replicas, program, flags: ['--listen.no_input_ms=0', ...flags], ...more }));
    // What a server does for the first time takes long.
    const first = stage.fleet.replicas.map((_, server) => stage.call({ script: [], serverOf: () => server }));
    await Promise.all(first.map((call) => call.heard()));
    await stage.empty();
    return stage;
  }

  replica(number: number): Replica {
    const replica = this.fleet.replicas[number];
    if (replica === undefined) throw new RangeError('there is no such server');
    return replica;
  }

  /** Places a call. @param options - the bot of few words that takes its time answers by default. */
  call(options: Pick<RoutedCallOptions, 'script' | 'serverOf'> & Partial<RoutedCallOptions>): RoutedCall {
    return new RoutedCall(this.routes, { agentId: 'phases', organizationId: this.fleet.access.organizationId, ...options });
  }

  /** Calls that live on each server, as it counts them. */
  async homes(): Promise<readonly number[]> {
    return Promise.all(this.fleet.replicas.map((replica) => (replica.isRunning ? openCalls(replica) : Promise.resolve(0))));
  }

  /** Which of these calls live in a server, as it says itself. */
  async livesAt(server: number, calls: readonly RoutedCall[]): Promise<readonly boolean[]> {
    return Promise.all(calls.map(({ conversationId }) => this.replica(server).has(conversationId)));
  }

  /** Waits until all of these calls live in one server, and none of them in some others. */
  async live(calls: readonly RoutedCall[], server: number, others: readonly number[], limitMs?: number): Promise<void> {
    const isSo = async (): Promise<boolean> => {
      const [here, ...there] = await Promise.all([server, ...others].map((each) => this.livesAt(each, calls)));
      return here?.every(Boolean) === true && !there.flat().some(Boolean);
    };
    const stories = (): string => calls.map(({ story }) => story).join('\n\n');
    await until(() => `they live in server ${String(server)}; the calls:\n${stories()}`, isSo, limitMs);
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

/** The sum of one gauge or counter of a server over its labels. @param label - those alone that have this one. */
export async function metricOf(replica: Replica, name: string, label = ''): Promise<number> {
  const labels = label === '' ? String.raw`(?:\{[^}]*\})?` : String.raw`\{[^}]*${label}[^}]*\}`;
  const lines = (await replica.metrics()).matchAll(new RegExp(`^${name}${labels} (?<value>[\\d.e+-]+)$`, 'gmu'));
  return [...lines].reduce((sum, { groups }) => sum + Number(groups?.['value']), 0);
}

/** Calls that live on a server. */
function openCalls(replica: Replica): Promise<number> {
  return metricOf(replica, 'parley_sessions_open');
}
