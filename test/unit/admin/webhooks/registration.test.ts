// Against the fake platform, over sockets: what it has registered is what counts.
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeId } from '../../../../src/admin/platform-id.ts';
import { REST_LIMITS, RestClient } from '../../../../src/admin/rest/rest-client.ts';
import { Webhooks } from '../../../../src/admin/rest/webhooks.ts';
import { platformAddress } from '../../../../src/admin/platform-address.ts';
import { Registrations, type RegistrationChange } from '../../../../src/admin/webhooks/registration.ts';
import { failureOf, keptLog, MemorySecrets } from '../../../support/admin-server.ts';
import { never } from '../../../support/voice.ts';
import { profile, RunningApi } from '../../fake-platform/platform/running-api.ts';

const TARGET = 'https://bots.example/deliveries';

async function open(given: { readonly store?: MemorySecrets; readonly running?: RunningApi; readonly targetUrl?: string } = {}) {
  const running = given.running ?? (await RunningApi.start());
  if (given.running === undefined) onTestFinished(() => running.close());
  const { api, clock } = running;
  const store = given.store ?? new MemorySecrets();
  const { access_token: token } = api.logIn();
  const tokens = { current: () => Promise.resolve(token), refreshed: () => Promise.resolve(token) };
  const limits = { ...REST_LIMITS, retry: { ...REST_LIMITS.retry, maxTries: 1 } };
  const rest = new RestClient({ address: platformAddress(profile, api.baseUrl), tokens, clock, log: keptLog().log, limits });
  const webhooks = new Webhooks(rest);
  const changes: RegistrationChange[] = [];
  const registrations = await Registrations.open({
    api: webhooks,
    store,
    targetUrl: given.targetUrl ?? TARGET,
    applicationId: api.serviceApp.clientId,
    filterId: api.ids.encode('APPLICATION', api.serviceApp.clientId),
    resource: profile.webhook?.appResource ?? '',
    idScheme: profile.ids?.urnScheme ?? '',
    clock,
    onRegistration: (change) => changes.push(change),
  });
  /** One check, and what was reported about it. */
  const look = async (): Promise<string[]> => {
    changes.length = 0;
    await registrations.ensure(never()).catch(() => undefined);
    return changes.map(({ event, outcome }) => `${event} ${outcome}`);
  };
  return { running, api, store, webhooks, registrations, changes, look };
}

const secretsOf = (api: RunningApi['api']): string[] => api.webhooks().map(({ secret }) => secret ?? '');
const KEPT = ['authorized kept', 'deauthorized kept'];

describe('registrations', () => {
  it('R-23 are two, for this app only, each with a secret of its own that was kept before', async () => {
    const { api, look, registrations, store } = await open();
    expect(registrations.secrets).toEqual([]);
    expect(await look()).toEqual(['authorized created', 'deauthorized created']);
    const filter = `id=${api.ids.encode('APPLICATION', api.serviceApp.clientId)}`;
    const expected = { resource: profile.webhook?.appResource, filter, targetUrl: TARGET, status: 'active' };
    expect(api.webhooks()).toMatchObject(['authorized', 'deauthorized'].map((event) => ({ ...expected, event })));
    expect(registrations.secrets).toEqual(secretsOf(api));
    expect(new Set(registrations.secrets).size).toBe(2);
    for (const secret of registrations.secrets) expect([...store.values.values()].join('')).toContain(secret);
  });

  it('R-24 are left alone when they are right, also after a restart', async () => {
    const { running, api, store, look } = await open();
    await look();
    expect(await look()).toEqual(KEPT);
    const again = await open({ running, store });
    expect(again.registrations.secrets).toEqual(secretsOf(api));
    expect(await again.look()).toEqual(KEPT);
    expect([api.journal.count('POST /webhooks'), api.journal.count('PUT /webhooks/:id')]).toEqual([2, 0]);
  });

  it('R-24 are found on any page of the list', async () => {
    const { api, webhooks, look } = await open();
    const other = { targetUrl: TARGET, resource: profile.webhook?.appResource ?? '', event: 'authorized' };
    for (let count = 0; count < 110; count += 1) await webhooks.create({ ...other, name: String(count) }, never());
    await look();
    expect(await look()).toEqual(KEPT);
    expect(api.webhooks()).toHaveLength(112);
  });

  it('H-25 are made active again', async () => {
    const { api, look } = await open();
    await look();
    api.deactivateWebhook(api.webhooks()[1]?.id ?? '');
    expect(await look()).toEqual(['authorized kept', 'deauthorized reactivated']);
    expect(api.webhooks().map(({ status }) => status)).toEqual(['active', 'active']);
    expect(await look()).toEqual(KEPT);
  });

  it('R-20 are changed, not made again, when their address or secret is another', async () => {
    const { running, api, store, look, webhooks } = await open();
    await look();
    const moved = await open({ running, store, targetUrl: 'https://bots.example/elsewhere' });
    expect(await moved.look()).toEqual(['authorized updated', 'deauthorized updated']);
    const [first] = await webhooks.list(never());
    await webhooks.update(
      first?.id ?? '',
      { name: first?.name ?? '', targetUrl: first?.targetUrl ?? '', secret: 'of a stranger' },
      never(),
    );
    expect(await moved.look()).toEqual(['authorized updated', 'deauthorized kept']);
    expect(moved.registrations.secrets).toEqual(expect.arrayContaining(secretsOf(api)));
    expect(secretsOf(api)).not.toContain('of a stranger');
  });

  it('keep their secret when only their activity or address is mended', async () => {
    const { running, api, store, look } = await open();
    await look();
    const before = secretsOf(api);
    api.deactivateWebhook(api.webhooks()[0]?.id ?? '');
    await look();
    expect(secretsOf(api)).toEqual(before);
    const moved = await open({ running, store, targetUrl: 'https://bots.example/elsewhere' });
    await moved.look();
    expect([secretsOf(api), moved.registrations.secrets]).toEqual([before, before]);
  });

  it('take what was signed before a change of the secret for some minutes, also after a restart, and no longer', async () => {
    const { running, api, store, look, webhooks, registrations } = await open();
    await look();
    const before = secretsOf(api);
    const [first] = await webhooks.list(never());
    await webhooks.update(first?.id ?? '', { name: first?.name ?? '', targetUrl: TARGET, secret: 'of a stranger' }, never());
    expect(await look()).toEqual(['authorized updated', 'deauthorized kept']);
    const both = new Set([...before, ...secretsOf(api)]);
    expect(both.size).toBe(3);
    const again = await open({ running, store });
    expect([new Set(registrations.secrets), new Set(again.registrations.secrets)]).toEqual([both, both]);
    running.clock.advance(10 * 60_000);
    expect([registrations.secrets, again.registrations.secrets]).toEqual([secretsOf(api), secretsOf(api)]);
  });

  it.each(['POST /webhooks', 'PUT /webhooks/:id'] as const)(
    'a lost answer to %s locks nobody out: old and new secret are good until the platform says which it has',
    async (route) => {
      const { running, api, store, look, registrations } = await open();
      if (route === 'PUT /webhooks/:id') {
        await look();
        api.deactivateWebhook(api.webhooks()[0]?.id ?? '');
      }
      api.faults.add(route, { kind: 'lost_answer' });
      expect(await look()).toContain('authorized failed');
      expect(registrations.secrets).toEqual(expect.arrayContaining(secretsOf(api)));
      const again = await open({ running, store });
      expect(again.registrations.secrets).toEqual(expect.arrayContaining(secretsOf(api)));
      await again.look();
      expect(await again.look()).toEqual(KEPT);
      expect(again.registrations.secrets).toEqual(secretsOf(api));
      expect(api.webhooks()).toHaveLength(2);
    },
  );

  it('a secret that cannot be kept is not sent', async () => {
    const { api, store, look, registrations } = await open();
    store.isFull = true;
    expect(await look()).toEqual(['authorized failed', 'deauthorized failed']);
    expect([api.webhooks(), registrations.secrets]).toEqual([[], []]);
  });

  it('one that is refused does not keep the other from being mended', async () => {
    const { api, look, registrations } = await open();
    api.faults.add('POST /webhooks', { kind: 'answer', status: 409 });
    expect(await look()).toEqual(['authorized failed', 'deauthorized created']);
    api.faults.add('POST /webhooks', { kind: 'answer', status: 409 });
    expect((await failureOf(registrations.ensure(never()))).code).toBe('platform_refused');
    expect(await look()).toEqual(['authorized created', 'deauthorized kept']);
  });

  it('H-04 an id in another spelling is the same app; a second one of ours goes, one of somebody else stays', async () => {
    const { api, webhooks, look } = await open();
    const spelt = encodeId(api.serviceApp.clientId, 'APPLICATION', profile.ids?.urnScheme ?? '', 'elsewhere');
    const fitting = { resource: profile.webhook?.appResource ?? '', event: 'authorized', filter: `id=${spelt}` };
    await webhooks.create({ ...fitting, name: 'of somebody', targetUrl: 'https://bots.example/theirs' }, never());
    expect(await look()).toEqual(['authorized updated', 'deauthorized created']);
    const [ours] = api.webhooks();
    expect(ours).toMatchObject({ targetUrl: TARGET, filter: fitting.filter });
    await webhooks.create({ ...fitting, name: ours?.name ?? '', targetUrl: TARGET }, never());
    await webhooks.create({ ...fitting, name: 'of somebody', targetUrl: TARGET }, never());
    expect(await look()).toEqual(['authorized kept', 'authorized removed', 'authorized duplicate', 'deauthorized kept']);
    expect(api.webhooks()).toHaveLength(3);
  });

  it('those of other apps, other events and without a filter are nobody’s business', async () => {
    const { api, webhooks, look } = await open();
    const resource = profile.webhook?.appResource ?? '';
    const other = api.ids.encode('APPLICATION', api.apps.addServiceApp().clientId);
    await webhooks.create({ name: 'n', targetUrl: TARGET, resource, event: 'authorized', filter: `id=${other}` }, never());
    await webhooks.create({ name: 'n', targetUrl: TARGET, resource, event: 'authorized' }, never());
    const before = api.webhooks();
    expect(await look()).toEqual(['authorized created', 'deauthorized created']);
    expect(api.webhooks().slice(0, 2)).toEqual(before);
  });
});
