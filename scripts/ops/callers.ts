// The callers of `npm run check -- ops`: everything that is worth a metric happens to one of them.
import { placeCall, type CallOptions } from '../../src/fake-platform/caller/caller.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import { loadProfile } from '../../src/fake-platform/platform/profile.ts';
import type { FleetAccess } from '../../test/fleet/caller-messages.ts';
import { press, RoutedCall, silentUntil } from '../../test/fleet/routed-call.ts';
import { Routes } from '../../test/fleet/routed-line.ts';
import { recorded } from '../../test/support/line-signals.ts';
import { MOST_CALLS, type Stage } from './stage.ts';

export const ASK: Step = { kind: 'say', label: 'a question', mulaw: recorded('yes') };
export const LEAVE: Step = { kind: 'hang_up' };
/** Of each kind. */
const CALLS = 3;

/** What they say themselves. */
export interface Called {
  readonly calls: number;
  readonly answers: number;
}

/** Places all calls and waits for their end. */
export async function callAll({ accesses, socket }: Stage): Promise<Called> {
  const routes = new Routes(accesses);
  try {
    const [tls, workers] = accesses;
    const talk = [ASK, press('1'), { ...ASK, interruptMs: 300 }, LEAVE];
    const times = <T>(call: (nth: number) => Promise<T>): Promise<T>[] => Array.from({ length: CALLS }, (_, nth) => call(nth));
    const results = await Promise.all([
      ...times(() => placed(tls, { script: talk })),
      ...times(() => placed(socket, { script: talk })),
      ...times(() => placed(workers, { agentId: 'broken', script: [press('5'), press('5'), LEAVE] })),
      ...times((nth) =>
        new RoutedCall(routes, {
          ...{ agentId: 'desk', organizationId: tls.organizationId, script: [press('1'), press('2'), press('3'), LEAVE] },
          serverOf: (rpc) => rpc + nth,
        }).heard(),
      ),
    ]);
    await Promise.all([
      placed(workers, { token: 'nonsense' }),
      placed(workers, { organizationId: 'somebody else' }),
      ...(await crowd(tls)),
    ]);
    return { calls: results.length, answers: results.reduce((sum, { replies }) => sum + replies.length, 0) };
  } finally {
    routes.close();
  }
}

/** More calls than one organization may have; those that are taken leave when the others were refused. */
async function crowd(access: FleetAccess): Promise<readonly Promise<unknown>[]> {
  const over = new AbortController();
  const calls = Array.from({ length: MOST_CALLS + 5 }, () => placed(access, { script: [silentUntil(over.signal), LEAVE] }));
  // Calls end in any order; the first ones to end are those that were refused.
  await Promise.race(calls);
  over.abort();
  return calls;
}

/** One call, and what its caller heard. */
export function placed({ target, token, organizationId, certificatePem }: FleetAccess, more: Partial<CallOptions>) {
  const authority = certificatePem === '' ? {} : { certificateAuthority: Buffer.from(certificatePem) };
  return placeCall({ ...{ target, token, organizationId, profile: loadProfile('fake'), ...authority }, keepsSound: false, ...more });
}
