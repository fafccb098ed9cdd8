// Servers that are killed while they have calls: three real processes behind a load balancer, with Redis. The long version is
// `npm run check -- failover`.
import { describe, expect, it, onTestFinished } from 'vitest';
import { failover } from '../fleet/failover.ts';
import { Fleet, FLEET_NEEDS } from '../fleet/fleet.ts';
import { requireDebian } from '../support/debian.ts';

describe('a server that is killed', () => {
  requireDebian(FLEET_NEEDS);

  it('loses no call: the next turn, and one that the kill has cut, is answered by another server', async () => {
    const fleet = await Fleet.start({ replicas: 3, program: 'source' });
    onTestFinished(() => fleet.close());
    const result = await failover({ fleet, calls: 12, inputs: 2, seconds: 11, everySeconds: 4, seed: 7 });
    expect(result, result.described.join('\n')).toMatchObject({ callsLostBetweenTurns: 0, callsLostInTurn: 0, rulesBroken: 0 });
    expect(result.kills).toBeGreaterThan(0);
    expect(result.turnsRepeated + result.turnsReopened, 'turns that a kill has cut').toBeGreaterThan(0);
    expect(result.answers).toBeGreaterThan(0);
    expect(result.ok, result.described.join('\n')).toBe(true);
  });
});
