// Servers of two versions side by side, as in the middle of a deploy, with real processes and Redis. The later one is today's program
// with another form of snapshots, and with more to say to the others.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage } from '../fleet/home-stage.ts';
import { press, silentUntil, type RoutedCall } from '../fleet/routed-call.ts';
import { requireDebian } from '../support/debian.ts';
import { ROOT } from '../support/source-tree.ts';

const NEWER = 0;
const OTHER_NEWER = 1;
const OLDER = 2;
const OTHER_OLDER = 3;

const PROMPT_MS = 2500;
const NEWER_PROGRAM = pathToFileURL(path.join(ROOT, 'test', 'fixtures', 'newer-program', 'register.mjs')).href;

const isReady = requireDebian(FLEET_NEEDS);
let stage: HomeStage;

beforeAll(async () => {
  if (!isReady) return;
  const env = { NODE_OPTIONS: `--import=${NEWER_PROGRAM}` };
  stage = await HomeStage.start(4, [], { startOf: (replica) => (replica <= OTHER_NEWER ? { env } : {}) });
});
afterAll(async () => {
  if (isReady) await stage.close();
});

/** A call that begins at one server, and whose turns come to another one. */
function begin(home: number, forwarder: number, over: AbortSignal): RoutedCall {
  return stage.call({
    script: [press('1'), silentUntil(over), press('2')],
    serverOf: (rpc) => (rpc === 0 ? home : forwarder),
  });
}

async function expectNothingHeard(calls: readonly RoutedCall[]): Promise<void> {
  for (const call of calls) {
    const { texts, waitMs, outcome, turnsLost, turnsRepeated, findings } = await call.heard();
    expect(texts, call.story).toEqual(['Hello.', 'Answer 1.', 'Key 1.', 'Answer 2.', 'Key 2.']);
    expect({ outcome, turnsLost, turnsRepeated, findings }, call.story).toEqual({
      ...{ outcome: 'hung_up', turnsLost: 0, turnsRepeated: 0, findings: [] },
    });
    expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
  }
}

describe('two versions side by side', () => {
  it('forward turns to each other, and of two homes that are killed a newer server takes the calls over, wherever their turns come', async () => {
    const over = new AbortController();
    const toNewer = begin(OTHER_NEWER, OLDER, over.signal);
    const toOlder = begin(OLDER, OTHER_NEWER, over.signal);
    const ofNewer = begin(NEWER, OLDER, over.signal);
    const ofOlder = begin(OTHER_OLDER, OTHER_NEWER, over.signal);
    const all = [toNewer, toOlder, ofNewer, ofOlder];
    await Promise.all(all.map((call) => call.reached('waits')));
    await stage.live([ofNewer], NEWER, [OLDER, OTHER_NEWER]);
    await stage.live([ofOlder], OTHER_OLDER, [OLDER, OTHER_NEWER]);
    await Promise.all([NEWER, OTHER_OLDER].map((server) => stage.replica(server).kill()));
    await stage.live([ofNewer, ofOlder], OTHER_NEWER, [OLDER]);
    over.abort();
    await expectNothingHeard(all);
  });

  it('give a caller to a person whose call only a newer server could restore, when none is left', async () => {
    const over = new AbortController();
    const call = begin(OTHER_NEWER, OLDER, over.signal);
    await call.reached('waits');
    await stage.live([call], OTHER_NEWER, [OLDER]);
    await Promise.all([NEWER, OTHER_NEWER].map((server) => stage.replica(server).kill()));
    over.abort();
    const { texts, outcome, turnsLost, findings, waitMs } = await call.heard();
    expect(texts, call.story).toEqual(['Hello.', 'Answer 1.', 'Key 1.', 'Sorry, this is not working. I will connect you to a colleague.']);
    expect({ outcome, turnsLost, findings }, call.story).toEqual({ outcome: 'transferred', turnsLost: 0, findings: [] });
    expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
  });
});
