// A bot that asks a slow service with `fetch(url, { signal: context.signal })`, and callers who talk or type over it twice:
// an interruption is no failure of the bot, over real sockets. What a failure is ends every stream with its FINAL.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadProfile } from '../../src/contract/profile.ts';
import { placeCall, type CallResult } from '../../src/fake-platform/caller/caller.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { recorded } from '../support/line-signals.ts';
import { RunningServer } from '../support/running-server.ts';

/** How many requests the service lets wait until nobody wants their answers any more. */
const SLOW_REQUESTS = 2;
const ASKING = 'Let me ask the other system about that, this may take a little while.';
const ANSWER = 'All is well.';

const bot = (url: string): string =>
  botModule(
    'asks',
    `otherwise: async function* (state, _event, { signal }) {
      yield say('${ASKING}');
      const answer = await fetch('${url}', { signal });
      return go(state, say(await answer.text()).listen());
    },`,
  );

/** Fails as soon as it has said something. */
const FAILING = botModule('fails', `otherwise: function* () { yield say('${ASKING}'); throw new Error('no such tool'); },`);

const say = (more: { readonly interruptMs?: number } = {}): Step => ({ kind: 'say', label: 'number', mulaw: recorded('number'), ...more });
const press = (more: { readonly interruptMs?: number } = {}): Step => ({ kind: 'press', keys: ['1'], ...more });

describe('a bot whose fetch is aborted', () => {
  let service: Server;
  let folder: string;
  let server: RunningServer;
  /** Of the present call. */
  let asked = 0;
  let stopped = 0;
  beforeAll(async () => {
    service = createServer((request, response) => {
      asked += 1;
      request.socket.once('close', () => (stopped += 1));
      if (asked > SLOW_REQUESTS) response.setHeader('connection', 'close').end(ANSWER);
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${String((service.address() as AddressInfo).port)}/`;
    folder = await makeFolder({ 'asks.mjs': bot(url), 'fails.mjs': FAILING });
    server = await RunningServer.start({
      hasTls: false,
      flags: [`--bots.folder=${folder}`, '--bots.default_bot=asks', '--media.reveal_prompt_text=true'],
    });
    await server.app.warmed;
  });
  afterAll(async () => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
    await server.close(['bot_failed']);
    await removeFolder(folder);
  });

  async function called(script: readonly Step[], agentId = 'asks'): Promise<CallResult> {
    [asked, stopped] = [0, 0];
    const result = await placeCall({
      target: `grpc://${server.target}`,
      profile: loadProfile('fake'),
      organizationId: server.issuer.claims.organizationId,
      token: await server.issuer.issueToken(),
      agentId,
      script,
    });
    await server.quiet();
    return result;
  }

  it.each([
    ['talk', say],
    ['press keys', press],
  ] as const)('does not fail, and its callers who %s over it twice are transferred to nobody (G-13, G-43, G-53)', async (_how, act) => {
    const result = await called([act(), act({ interruptMs: 700 }), act({ interruptMs: 700 })]);
    expect(result.findings).toEqual([]);
    expect(result.terminal).toBeUndefined();
    expect(result.heardTexts.at(-1)).toBe(ANSWER);
    expect([asked, stopped]).toEqual([SLOW_REQUESTS + 1, SLOW_REQUESTS + 1]);
    expect(server.logged({ event: 'bot_failed' })).toEqual([]);
  });

  it('that fails twice where its caller types over it leaves no stream without its FINAL (G-13, G-43)', async () => {
    const result = await called(
      [press(), press({ interruptMs: 700 }), press({ interruptMs: 700 }), { kind: 'wait', waitMs: 20_000 }],
      'fails',
    );
    expect(result.findings).toEqual([]);
    expect(result.terminal?.kind).toBe('transfer');
    expect(server.logged({ event: 'bot_failed' })).toHaveLength(2);
  });
});
