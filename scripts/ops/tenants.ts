// One organization calls a real server ten times as often as its share, two others as usual: are those starved?
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { placeCall } from '../../src/fake-platform/caller/caller.ts';
import { transferReason } from '../../src/fake-platform/load/call-facts.ts';
import { startIssuer } from '../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../src/fake-platform/platform/profile.ts';
import { Replica, type Program } from '../../test/fleet/replica.ts';
import { freePorts } from '../../test/support/free-port.ts';
import { dataSource, serverFlags } from '../../test/support/server-flags.ts';

const MOST_CALLS = 20;
/** Callers of each organization that call again and again; a third of the places that are dealt out is 6. */
const CALLERS = { flood: 60, one: 4, other: 4 } as const;
type Tenant = keyof typeof CALLERS;
const CALL_MS = 1000;
/** Pause between two calls of a caller, ms. */
const AGAIN_MS = { flood: 1000, one: 100, other: 100 } as const;
/** The flood has the server for itself first, ms. */
const ALONE_MS = 3000;
/** Calls of the flood have to end before the others get their share: so many taken ones come first, and then those that count. */
const [FIRST_CALLS, COUNTED_CALLS] = [8, 40];
/** Longest wait for them, ms. */
const LIMIT_MS = 90_000;
/** More refused calls than this part, or too few calls in that time: starved. */
const STARVED = 0.1;

/** What became of it. */
export interface Flooded {
  /** Organizations below their share of which more than a tenth of the calls was refused. */
  readonly tenantsStarved: number;
  readonly tenantsTaken: Readonly<Record<Tenant, number>>;
  readonly tenantsRefused: Readonly<Record<Tenant, number>>;
}

/** Starts the server, floods it, and stops it. @param flags - of the server, beside its own. */
export async function flooded(program: Program, flags: readonly string[] = []): Promise<Flooded> {
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-tenants-'));
  const issuer = await startIssuer({ profile: loadProfile('fake') });
  const [grpc = 0, ops = 0, peer = 0] = await freePorts(3);
  const ids: Readonly<Record<Tenant, string>> = { flood: issuer.claims.organizationId, one: 'tenant-one', other: 'tenant-other' };
  const sources = Object.values(ids).map((organization_id) => ({ ...dataSource(issuer), id: organization_id, organization_id }));
  const server = new Replica({
    ...{ program, ports: { grpc, ops, peer }, logFile: path.join(folder, 'server.log') },
    flags: [
      ...serverFlags(issuer, undefined, sources),
      '--bots.default_bot=code-line',
      '--synthesizer.engine=none',
      `--sessions.max=${String(MOST_CALLS)}`,
      '--log.level=warn',
      ...flags,
    ],
  });
  try {
    await server.start();
    const target = `grpc://127.0.0.1:${String(grpc)}`;
    const taken = { flood: 0, one: 0, other: 0 };
    const refused = { flood: 0, one: 0, other: 0 };
    const untilMs = performance.now() + LIMIT_MS;
    const isServed = (tenant: Tenant): boolean => taken[tenant] >= FIRST_CALLS + COUNTED_CALLS;
    const calls = async (tenant: Tenant, nth: number): Promise<void> => {
      const organizationId = ids[tenant];
      const token = await issuer.issueToken({ organizationId });
      // Callers do not come all at once.
      await pause((tenant === 'flood' ? 0 : ALONE_MS) + (nth * CALL_MS) / CALLERS[tenant]);
      while (performance.now() < untilMs && !(isServed('one') && isServed('other'))) {
        const script = [{ kind: 'wait', waitMs: CALL_MS }, { kind: 'hang_up' }] as const;
        const profile = loadProfile('fake');
        const { terminal, outcome } = await placeCall({ target, token, organizationId, profile, script, keepsSound: false });
        const isRefused = terminal !== undefined && ['total', 'organization_share'].includes(transferReason(terminal));
        if (!isRefused && outcome !== 'hung_up') throw new Error(`a call of ${tenant} was neither taken nor refused: ${outcome}`);
        if (!isRefused) taken[tenant] += 1;
        else if (tenant === 'flood' || taken[tenant] >= FIRST_CALLS) refused[tenant] += 1;
        await pause(AGAIN_MS[tenant]);
      }
    };
    const callers = (Object.keys(CALLERS) as Tenant[]).flatMap((tenant) =>
      Array.from({ length: CALLERS[tenant] }, (_, nth) => calls(tenant, nth)),
    );
    await Promise.all(callers);
    const isStarved = (tenant: Tenant): boolean => !isServed(tenant) || refused[tenant] > STARVED * (refused[tenant] + taken[tenant]);
    const tenantsStarved = (['one', 'other'] as const).filter(isStarved).length;
    return { tenantsStarved, tenantsTaken: taken, tenantsRefused: refused };
  } finally {
    await server.kill();
    await issuer.close();
    await rm(folder, { recursive: true, force: true });
  }
}
