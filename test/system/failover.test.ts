// Three real processes behind a load balancer, with Redis, while they have calls: a deploy stops them in good order and starts them
// again, one after the other, and then some are killed. The long versions are `npm run check -- deploys` and `npm run check -- failover`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploys, failover } from '../fleet/failover.ts';
import { Fleet, FLEET_NEEDS } from '../fleet/fleet.ts';
import { requireDebian } from '../support/debian.ts';

const isReady = requireDebian(FLEET_NEEDS);
let fleet: Fleet;
beforeAll(async () => {
  if (isReady) fleet = await Fleet.start({ replicas: 3, program: 'source', flags: ['--shutdown.notice_ms=3000'] });
});
afterAll(async () => {
  if (isReady) await fleet.close();
});

describe('a rolling restart', () => {
  it('breaks no turn and no call, and every server ends by itself', async () => {
    const result = await deploys({ fleet, calls: 8, inputs: 2, seconds: 9, everySeconds: 1, seed: 7 });
    // How long a gap is on a machine that runs many tests at once says nothing of a server; the long version says it.
    expect(result, result.described.join('\n')).toMatchObject({ failedTurns: 0, failedCalls: 0, uncleanStops: 0, rulesBroken: 0 });
    expect(result.restarts).toBeGreaterThan(0);
    expect(result.answers).toBeGreaterThan(0);
  });
});

describe('a server that is killed', () => {
  it('loses no call: the next turn, and one that the kill has cut, is answered by another server', async () => {
    const result = await failover({ fleet, calls: 12, inputs: 2, seconds: 9, everySeconds: 4, seed: 7 });
    expect(result, result.described.join('\n')).toMatchObject({ callsLostBetweenTurns: 0, callsLostInTurn: 0, rulesBroken: 0 });
    expect(result.kills).toBeGreaterThan(0);
    expect(result.turnsRepeated + result.turnsReopened, 'turns that a kill has cut').toBeGreaterThan(0);
    expect(result.answers).toBeGreaterThan(0);
    expect(result.ok, result.described.join('\n')).toBe(true);
  });
});
