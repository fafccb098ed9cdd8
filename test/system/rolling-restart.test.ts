// A deploy while calls run: three real processes behind a load balancer, with Redis, are stopped in good order and started again,
// one after the other. The long version is `npm run check -- deploys`.
import { describe, expect, it, onTestFinished } from 'vitest';
import { deploys } from '../fleet/failover.ts';
import { Fleet, FLEET_NEEDS } from '../fleet/fleet.ts';
import { requireDebian } from '../support/debian.ts';

describe('a rolling restart', () => {
  requireDebian(FLEET_NEEDS);

  it('breaks no turn and no call, and every server ends by itself', async () => {
    const fleet = await Fleet.start({ replicas: 3, program: 'source', flags: ['--shutdown.notice_ms=3000'] });
    onTestFinished(() => fleet.close());
    const result = await deploys({ fleet, calls: 8, inputs: 2, seconds: 13, everySeconds: 1, seed: 7 });
    // How long a gap is on a machine that runs many tests at once says nothing of a server; the long version says it.
    expect(result, result.described.join('\n')).toMatchObject({ failedTurns: 0, failedCalls: 0, uncleanStops: 0, rulesBroken: 0 });
    expect(result.restarts).toBeGreaterThan(0);
    expect(result.answers).toBeGreaterThan(0);
  });
});
