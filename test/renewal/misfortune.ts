// What goes wrong between the platform and us, drawn at random: answers that fail, hang or get lost, tokens that are not
// taken, data sources that are switched off, a clock that is wrong, and the platform gone altogether for a while.
import type { AdminApi } from '../../src/fake-platform/platform/admin-api.ts';
import type { Fault } from '../../src/fake-platform/platform/faults.ts';

/** What misfortune strikes. */
export interface Struck {
  readonly api: AdminApi;
  /** 0 to 1. */
  readonly random: () => number;
  readonly organizations: readonly string[];
  /** A data source of this organization has been switched off. */
  readonly onDisabled: (organizationId: string) => void;
}

/** Between two misfortunes, ms. */
const PAUSE_MS = { least: 3000, most: 15_000 };
/** How long the platform is gone altogether, ms: short enough that a renewal can still come in time. */
const OUTAGE_MS = { least: 20_000, most: 60_000 };
/** Of so many misfortunes one is an outage. */
const OUTAGE_EACH = 25;
/** Less than the largest difference of clocks that is taken (J-16), ms. */
const MAX_SKEW_MS = 25_000;
const MAX_TIMES = 3;

const ON_SOURCES = ['GET /dataSources/:id', 'PUT /dataSources/:id', 'GET /dataSources', 'POST /dataSources'] as const;
const ON_CHANGES = ['PUT /dataSources/:id', 'POST /dataSources'] as const;
const SERVER_ERRORS = [500, 502, 503, 504] as const;

/** The next misfortune, for the time until the one after. @returns ms until then. */
export function strike({ api, random, organizations, onDisabled }: Struck): number {
  const below = (most: number): number => Math.floor(random() * most);
  const pick = <T>(from: readonly T[]): T | undefined => from[below(from.length)];
  const plan = (fault: Fault, routes: readonly (typeof ON_SOURCES)[number][] = ON_SOURCES): void => {
    api.faults.add(pick(routes) ?? 'any', fault, 1 + below(MAX_TIMES));
  };
  const kinds: readonly (() => void)[] = [
    () => {
      plan({ kind: 'answer', status: pick(SERVER_ERRORS) ?? 500 });
    },
    () => {
      plan({ kind: 'answer', status: 429, retryAfterSeconds: 1 + below(10) });
    },
    // Nothing comes until the time of one try is over.
    () => {
      plan({ kind: 'hang' });
    },
    () => {
      plan({ kind: 'cut' });
    },
    // Twice as often: the change was made, and nobody heard of it.
    () => {
      plan({ kind: 'lost_answer' }, ON_CHANGES);
    },
    () => {
      plan({ kind: 'lost_answer' }, ON_CHANGES);
    },
    () => {
      api.faults.add(pick(['POST /applications/:id/token', 'POST /access_token'] as const) ?? 'any', { kind: 'lost_answer' });
    },
    () => {
      plan({ kind: 'answer', status: 401 });
    },
    () => {
      api.revokeTokens(api.serviceApp.clientId, pick(['access', 'both'] as const), pick(organizations));
    },
    () => {
      const organizationId = pick(organizations);
      const [source] = organizationId === undefined ? [] : api.dataSources(organizationId);
      if (source === undefined || !api.disableDataSource(source.id, 'switched off by an operator of the platform')) return;
      onDisabled(source.orgId);
    },
    () => {
      api.switches.skewMs = Math.round((2 * random() - 1) * MAX_SKEW_MS);
    },
  ];
  api.faults.clear();
  if (below(OUTAGE_EACH) === 0) return outage({ api, random });
  pick(kinds)?.();
  return lasting(PAUSE_MS, random);
}

/** Nothing is answered any more. @returns ms until the next misfortune, which ends it. */
export function outage({ api, random }: Pick<Struck, 'api' | 'random'>): number {
  api.faults.clear();
  api.faults.add('any', random() < 0.5 ? { kind: 'cut' } : { kind: 'answer', status: 503 }, Infinity);
  return lasting(OUTAGE_MS, random);
}

function lasting({ least, most }: { readonly least: number; readonly most: number }, random: () => number): number {
  return least + random() * (most - least);
}
