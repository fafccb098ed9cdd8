// Bots per organization over the wire: what each may list and call, and bots that change while calls run.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { botModule, makeFolder, removeFolder, writeFiles } from '../support/bots-folder.ts';
import type { ClientTurn, PlatformClient } from '../support/platform-client.ts';
import { dataSource, RunningServer } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event, keys } from '../support/wire-audio.ts';

/** Without a synthesizer texts travel as they are, and a busy machine speaks none too late. */
const AS_TEXT = '--synthesizer.engine=none';
const saidIn = ({ responses }: ClientTurn) => responses.flatMap(({ prompts = [] }) => prompts.map(({ text }) => text));

const OTHER_ORGANIZATION = '99999999-9999-4999-8999-999999999999';
const THIRD_ORGANIZATION = '77777777-7777-4777-8777-777777777777';

describe('two organizations on one server', () => {
  let server: RunningServer;
  let ours: PlatformClient;
  let theirs: PlatformClient;
  beforeAll(async () => {
    const lists = [
      { organization_id: OTHER_ORGANIZATION, bots: ['front-desk', 'echo'], default_bot: 'front-desk' },
      { organization_id: THIRD_ORGANIZATION, bots: [] },
    ];
    server = await RunningServer.start({
      flags: ['--bots.default_bot=echo', `--bots.organizations=${JSON.stringify(lists)}`, AS_TEXT],
      dataSources: (issuer) =>
        [undefined, OTHER_ORGANIZATION, THIRD_ORGANIZATION].map((organization, index) => ({
          ...dataSource(issuer),
          id: `source-${String(index)}`,
          ...(organization === undefined ? {} : { organization_id: organization }),
        })),
    });
    ours = await server.client();
    theirs = await clientOf(OTHER_ORGANIZATION);
  });
  afterAll(() => server.close());

  const clientOf = async (organizationId: string): Promise<PlatformClient> =>
    server.client({ organizationId, authorization: await server.issuer.issueToken({ organizationId }) });
  const agentsOf = async (client: PlatformClient) =>
    ((await client.list()).virtual_agents ?? []).map(({ virtual_agent_id: id, is_default: isDefault }) =>
      isDefault === true ? `${String(id)}!` : id,
    );

  it('G-05 G-07 list the agents of their own, each with its own default', async () => {
    expect(await agentsOf(ours)).toEqual(['appointments', 'clinic', 'code-line', 'echo!', 'front-desk', 'talk']);
    expect(await agentsOf(theirs)).toEqual(['echo', 'front-desk!']);
    expect(await agentsOf(await clientOf(THIRD_ORGANIZATION))).toEqual([]);
  });

  it('G-07 reach their own default when the platform names no agent', async () => {
    for (const [client, words] of [
      [ours, /say it back/u],
      [theirs, /front desk/u],
    ] as const) {
      const call = client.call();
      expect(saidIn(await call.turn(event('SESSION_START'))).join(' ')).toMatch(words);
      await call.turn(event('SESSION_END'));
    }
  });

  it('G-06 do not know the agent of another organization', async () => {
    const { ending } = await theirs.call({ agentId: 'code-line' }).turn(event('SESSION_START'));
    expect(ending).toMatchObject({ code: status.NOT_FOUND });
    const call = ours.call({ agentId: 'code-line' });
    expect((await call.turn(event('SESSION_START'))).ending).toMatchObject({ code: status.OK });
    await call.turn(event('SESSION_END'));
  });

  it('G-08 cannot list for each other', async () => {
    await expect(theirs.list({ customer_org_id: ours.organizationId })).rejects.toMatchObject({ code: status.PERMISSION_DENIED });
  });
});

describe('bots.watch', () => {
  const saying = (words: string) =>
    botModule(
      'a',
      `prompts: ['${words}'], session_start: () => go(null, say('${words}').listen()), dtmf_input: () => go(null, say('Still ${words}').listen()),`,
    );

  it('lets a running call keep its bot while new calls get the new one, which is listed and counted', async () => {
    const folder = await makeFolder({ 'a.mjs': saying('one') });
    onTestFinished(() => removeFolder(folder));
    const server = await RunningServer.start({
      flags: [`--bots.folder=${folder}`, '--bots.watch', AS_TEXT],
    });
    onTestFinished(() => server.close());
    const client = await server.client();
    const running = client.call();
    expect(saidIn(await running.turn(event('SESSION_START')))).toEqual(['one']);

    await writeFiles(folder, { 'a.mjs': saying('two'), 'b.mjs': botModule('b') });
    await until(
      () => `the bots are loaded again: ${JSON.stringify(server.logged({ level: 'info' }))}`,
      async () => ((await client.list()).virtual_agents ?? []).length === 2,
    );
    expect(saidIn(await running.turn(keys('1')))).toEqual(['Still one']);
    const later = client.call({ agentId: 'a' });
    expect(saidIn(await later.turn(event('SESSION_START')))).toEqual(['two']);
    const added = client.call({ agentId: 'b' });
    await added.turn(event('SESSION_START'));
    expect(await server.metric('parley_sessions_started_total{bot="b"}')).toBe(1);
    for (const call of [running, later, added]) await call.turn(event('SESSION_END'));
    await server.quiet();
  });
});
