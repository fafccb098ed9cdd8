// What the console shows, combined from the answers of all servers.
import type { Clock } from '../../base/clock.ts';
import type { CallView } from '../../dialog/call-view.ts';
import type { FoundCalls, Overview, ShownDataSource } from '../../ops/console-api.ts';
import type { ConsoleSource } from '../../ops/console-routes.ts';
import type { RecordedCalls } from '../../recording/recorded-calls.ts';
import type { WatchedDataSource } from '../../telemetry/admin-metrics.ts';
import { joinedOrganizations, KEPT_HOURS } from '../../telemetry/organization-report.ts';
import { joinedRefusals } from '../../telemetry/refused-organizations.ts';
import { joinedServices } from '../../telemetry/service-readings.ts';
import { joinedTraffic, latencyIn, SLOT_MS } from '../../telemetry/traffic.ts';
import type { ConsoleQuestion, Everywhere } from './questions.ts';

/** How long an overview is reused for all visitors, ms: many open pages cost no more than one. */
const FRESH_MS = 1000;
/** How long after the end of a call its recording may still be written, ms. */
const WRITTEN_MS = 10_000;
/** Most calls in the result of a search. */
const MAX_SHOWN = 500;

interface ConsoleSourceParts {
  /** The recordings that this server can read; undefined: none. */
  readonly recorded?: Pick<RecordedCalls, 'find'> | undefined;
  /** Asks all servers, including this one. Bounded in time. */
  readonly ask: (question: ConsoleQuestion) => Promise<Everywhere>;
  readonly clock: Clock;
}

/** The source of one operations server. */
export function consoleSource({ ask, recorded, clock }: ConsoleSourceParts): ConsoleSource {
  const known = async (conversationId: string): Promise<CallView | undefined> => {
    const { answers } = await ask({ view: conversationId });
    const views = answers.flatMap(({ view }) => view ?? []);
    // When a call has moved, the view of its last home has the end.
    return views.find(({ call }) => call.end !== 'moved') ?? views[0];
  };
  let last: { readonly atMs: number; readonly overview: Promise<Overview> } | undefined;
  return {
    overview: () => {
      const atMs = clock.monotonicMs();
      if (last === undefined || atMs - last.atMs >= FRESH_MS)
        last = { atMs, overview: ask('report').then((all) => overviewOf(all, clock.nowMs())) };
      return last.overview;
    },
    organizations: async () => {
      const { answers, silent } = await ask('organizations');
      return {
        hours: KEPT_HOURS,
        organizations: joinedOrganizations(answers.flatMap(({ organizations = [] }) => [organizations])),
        silent,
      };
    },
    search: async (search): Promise<FoundCalls> => {
      const { answers, silent } = await ask({ search });
      const calls = answers.flatMap(({ found }) => found ?? []).sort((one, other) => other.startedAtMs - one.startedAtMs);
      return { calls: calls.slice(0, MAX_SHOWN), silent };
    },
    call: async (conversationId, role) => {
      const view = await known(conversationId);
      const goesOn = view !== undefined && view.call.end === undefined;
      // While a call goes on, its recording is incomplete.
      const recording = role === 'listen' && !goesOn ? await recorded?.find(conversationId, view?.call) : undefined;
      if (recording === undefined || recording === 'busy') return view ?? recording;
      return view === undefined ? recording.view : completed(recording.view, view.call, clock.nowMs());
    },
    sound: async (conversationId, side) => {
      const parts = await recorded?.find(conversationId, (await known(conversationId))?.call);
      if (parts === undefined || parts === 'busy') return parts;
      return Buffer.from(parts[side].buffer, parts[side].byteOffset, parts[side].byteLength);
    },
  };
}

/** A call that is over, from a recording without its end: the end is still being written, or was cut off. */
function completed(recorded: CallView, { startedAtMs, durationMs, end }: CallView['call'], nowMs: number): CallView {
  const isCut = recorded.call.end === undefined && end !== undefined && nowMs - startedAtMs - durationMs >= WRITTEN_MS;
  if (!isCut) return recorded;
  const cut = { atMs: recorded.call.durationMs, from: 'server', event: 'recording_cut' } as const;
  return { ...recorded, call: { ...recorded.call, durationMs, end }, events: [...recorded.events, cut] };
}

function overviewOf({ answers, silent }: Everywhere, nowMs: number): Overview {
  const reports = answers.flatMap(({ report }) => report ?? []);
  const traffic = joinedTraffic(reports.map((report) => report.traffic));
  return {
    nowMs,
    servers: reports.map(({ server }) => server).sort((one, other) => one.startedAtMs - other.startedAtMs),
    silent,
    traffic: traffic.map(({ latency: _, ...slot }, index) => ({ ...slot, ...latencyIn(traffic.slice(index, index + 1)) })),
    slotMs: SLOT_MS,
    latency: latencyIn(traffic),
    refused: joinedRefusals(reports.map(({ refused }) => refused)),
    dataSources: dataSourcesIn(reports.flatMap(({ dataSources }) => dataSources)),
    services: joinedServices(reports.map(({ services }) => services)),
  };
}

/** Servers that share a store manage the same data sources; the server that checked last knows most. */
function dataSourcesIn(seen: readonly WatchedDataSource[]): readonly ShownDataSource[] {
  const latest = new Map<string, WatchedDataSource>();
  for (const one of seen) {
    const key = `${one.organizationId} ${one.transport}`;
    if (one.wellAtMs >= (latest.get(key)?.wellAtMs ?? -Infinity)) latest.set(key, one);
  }
  return [...latest.values()].map(
    ({ organizationId, transport, dataSourceId, isServed, isAlarming, expiresAtMs, lifetimeMs, wellAtMs, error }) => ({
      ...{ organizationId, transport, isServed, isAlarming, checkedAtMs: wellAtMs },
      ...(dataSourceId !== undefined && { dataSourceId }),
      ...(expiresAtMs !== undefined && { expiresAtMs, renewedAtMs: expiresAtMs - lifetimeMs }),
      ...(error !== undefined && { error }),
    }),
  );
}
