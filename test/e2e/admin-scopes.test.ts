// The scopes that apps need: as a developer types them in, and compared with those of kept tokens.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { INTEGRATION_KEY } from '../../src/admin/oauth/integration-tokens.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { OTHER_FLAGS, runAdmin, runCommand } from '../support/admin-command.ts';
import { servedWorld } from '../support/admin-world.ts';
import { ROOT } from '../support/source-tree.ts';

it('prints the scopes of the profile, of every platform, and needs no credentials', async () => {
  for (const file of readdirSync(path.join(ROOT, 'config/platforms'))) {
    const { name } = path.parse(file);
    const { integrationScopes = [], serviceAppScopes = [] } = loadProfile(name).oauth ?? {};
    const flags = [`--platform.profile=${name}`, '--auth.enabled=false', '--grpc.host=127.0.0.1', '--tls.mode=off'];
    const text = await runAdmin(['scopes', ...flags]);
    expect(text).toMatchObject({ code: 0, err: '' });
    const lines = text.out.trimEnd().split('\n').slice(1);
    expect(lines.map((line) => line.split(/ {2,}/u))).toEqual([
      ...integrationScopes.map((scope) => ['integration', scope]),
      ...serviceAppScopes.map((scope) => ['service app', scope]),
    ]);
    const { out } = await runAdmin(['scopes', ...flags, '--json']);
    expect(JSON.parse(out)).toEqual({ integration: integrationScopes, serviceApp: serviceAppScopes });
  }
});

it('the doctor compares the scopes that the platform names with a token, and skips the check where it names none', async () => {
  const around = await servedWorld();
  const scopesFound = async (): Promise<unknown> => {
    const argv = ['--only', 'scopes', '--json', ...around.flags, ...OTHER_FLAGS, '--auth.enabled=true'];
    const { out } = await runCommand(
      doctorCommand(() => undefined, false),
      argv,
    );
    const { checks } = JSON.parse(out) as { checks: readonly { state: string; findings: readonly { code: string; what: string }[] }[] };
    return checks.map(({ state, findings }) => [state, ...findings.map(({ code, what }) => `${code}: ${what}`)]);
  };
  expect(await scopesFound()).toEqual([]);
  const told = async (scopes: readonly string[]): Promise<void> => {
    const store = await around.openStore();
    const kept = JSON.parse((await store.get(INTEGRATION_KEY)) ?? '{}') as object;
    await store.set(INTEGRATION_KEY, JSON.stringify({ ...kept, scopes }));
    await store.close();
  };
  const [first = '', ...others] = loadProfile('fake').oauth?.integrationScopes ?? [];
  await told([first, ...others]);
  expect(await scopesFound()).toEqual([['ok']]);
  await told(others);
  expect(await scopesFound()).toEqual([['found', `scope_missing: the kept token of the integration lacks ${first}`]]);

  around.api.switches.tellsScopes = true;
  around.api.revokeTokens(around.api.serviceApp.clientId, 'access');
  expect((await around.run('data-sources', 'list')).code).toBe(0);
  expect(await scopesFound()).toEqual([['found', expect.stringContaining('the integration lacks')], ['ok']]);
});
