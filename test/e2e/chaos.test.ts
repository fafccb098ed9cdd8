// The answer guarantee, over real sockets: whatever a bot does, its caller hears an apology in time and a human after
// the second failure, the call goes on, and the server neither grows nor tells.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_INPUT } from '../../src/contract/grpc.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import { MISDEEDS } from '../fixtures/chaos-bots/chaos.ts';
import type { PlatformCall } from '../support/platform-call.ts';
import type { ClientTurn, PlatformClient } from '../support/platform-client.ts';
import { RunningServer, TEST_SPEECH } from '../support/running-server.ts';
import { event, quiet } from '../support/wire-audio.ts';

/** Short, so that bots that hang do not hold the tests up. */
const DEADLINE_MS = 400;

let server: RunningServer;
let client: PlatformClient;
beforeAll(async () => {
  server = await RunningServer.start({
    flags: [
      `--bots.folder=${packageRoot()}/test/fixtures/chaos-bots`,
      `--bots.prompts_folder=${TEST_SPEECH}`,
      `--turns.deadline_ms=${String(DEADLINE_MS)}`,
      '--turns.max_farewell_ms=0',
      // What this bot does to its process is not the point here.
      '--overload.max_loop_delay_ms=0',
      '--overload.max_heap_percent=0',
    ],
  });
  await server.app.warmed;
  client = await server.client();
});
afterAll(() => server.close());

const asksFor = (name: string) => ({ event_input: { event_type: EVENT_INPUT.CUSTOM_EVENT, name } });

async function begun(): Promise<PlatformCall> {
  const call = client.call();
  await call.turn(event('SESSION_START'));
  return call;
}

function expectSane(turn: ClientTurn): void {
  expect(turn.ending?.code).toBe(status.OK);
  expect(turn.responses.filter(({ response_type = 0 }) => response_type === 0)).toHaveLength(1);
  expect(turn.audio.length).toBeGreaterThan(4000);
}

describe('a caller of a bot that misbehaves', () => {
  it.each(Object.keys(MISDEEDS))('is asked again after it %s, and goes to a human when it does so twice', async (misdeed) => {
    const call = await begun();
    const first = await call.turn(asksFor(misdeed));
    expectSane(first);
    expect(first.responses.at(-1)?.input_handling_config).toBeDefined();
    const second = await call.turn(asksFor(misdeed));
    expectSane(second);
    expect(second.responses.at(-1)?.output_events?.[0]).toMatchObject({ event_type: 2 });
  });

  it('keeps the call when the bot behaves again', async () => {
    const call = await begun();
    for (const misdeed of ['throws', 'fine', 'hangs', 'fine', 'returns_text', 'fine']) {
      const turn = await call.turn(asksFor(misdeed));
      expectSane(turn);
      expect(turn.responses.at(-1)?.output_events ?? []).toEqual([]);
    }
  });

  it('hears a text with broken characters, mended', async () => {
    const turn = await (await begun()).turn(asksFor('bad_text'));
    expectSane(turn);
  });

  it('is answered although every notified handler fails', async () => {
    const call = await begun();
    const turn = await call.turn(...quiet(400), event('NO_INPUT'));
    expectSane(turn);
    await call.turn(event('SESSION_END'));
  });
});

describe('the server of a bot that misbehaves', () => {
  it('says nothing of what the bot threw or said, and counts every failure', async () => {
    await (await begun()).turn(asksFor('throws'));
    expect(JSON.stringify(server.log)).not.toContain('4711 is what');
    expect(JSON.stringify(server.log)).not.toContain('xxxx');
    expect(server.logged({ event: 'bot_failed', code: 'bot_timeout' }).length).toBeGreaterThan(0);
    expect(await server.metric('parley_bot_failures_total{bot="chaos",code="bot_failed"}')).toBeGreaterThan(10);
  });
});
