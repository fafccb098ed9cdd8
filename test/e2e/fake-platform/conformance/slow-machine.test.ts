// What a machine that is slow throughout makes of checks that tell moments apart: no finding against a server that keeps the contract.
import { expect, it } from 'vitest';
import type { Check } from '../../../../src/fake-platform/conformance/catalog.ts';
import { CHECKS, SOCKET_CHECKS } from '../../../../src/fake-platform/conformance/registry.ts';
import { chooseChecks } from '../../../../src/fake-platform/conformance/run.ts';
import { examineReference, examineSocketReference } from '../../../support/conformance.ts';

/** Shorter than what is told as a stall by itself, ms. */
const NAP_MS = 150;

/** Lets this process sleep between any two rounds of its work. @returns what wakes it up. */
function drowsy(): () => void {
  let isAwake = false;
  const nap = (): void => {
    if (isAwake) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, NAP_MS);
    setImmediate(nap);
  };
  nap();
  return () => {
    isAwake = true;
  };
}

/** The check on a machine that gets slow once the calls for all checks were placed. */
function slowed(check: Check): Check {
  return {
    ...check,
    run: async (lab) => {
      await Promise.all([lab.calls(), lab.welcomes()]);
      const wake = drowsy();
      try {
        await check.run(lab);
      } finally {
        wake();
      }
    },
  };
}

it('finds nobody deaf over RPCs (G-52)', async () => {
  const found = await examineReference({}, { checks: chooseChecks(CHECKS, [], ['barge-in-heard']).map(slowed) });
  expect(found).toMatchObject({ failed: 0, undecided: 0, brokenRules: [] });
});

it('finds nobody deaf on a socket (W-27)', async () => {
  const found = await examineSocketReference(undefined, { checks: chooseChecks(SOCKET_CHECKS, [], ['interruption-heard']).map(slowed) });
  expect(found).toMatchObject({ failed: 0, undecided: 0, brokenRules: [] });
});
