// Admin commands against the fake platform, with a store of their own: each run is looked through for secrets.
import { expect } from 'vitest';
import { Seal } from '../../src/store/seal.ts';
import { readStore } from '../../src/store/durable-store.ts';
import { adminJson, runAdmin, type AdminEnd } from './admin-command.ts';
import { adminSurroundings, type AdminSurroundings } from './admin-surroundings.ts';

/** An organization. */
export const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';

/** Where the surroundings register data sources. */
export const ADDRESS = 'http://127.0.0.1:50051';

/** Members of what is kept that are secret. */
const KEPT_SECRET = /"(?:accessToken|refreshToken|nonce|announced|current)":"(?<secret>[^"]+)"/gu;

/** The surroundings, and commands in them. */
export interface AdminWorld extends AdminSurroundings {
  /** Runs `parley admin …`; settings among the arguments, `--admin.…`, win over those of the surroundings. */
  readonly run: (...argv: readonly string[]) => Promise<AdminEnd>;
  /** The same with `--json`: what it printed, after it has ended well and said nothing else. */
  readonly json: (...argv: readonly string[]) => Promise<unknown>;
}

/** Starts it; gone when the test ends. */
export async function adminWorld(): Promise<AdminWorld> {
  const around = await adminSurroundings();
  const isSetting = (argument: string): boolean => argument.startsWith('--admin.');
  const whole = (argv: readonly string[]): readonly string[] => [
    ...argv.filter((argument) => !isSetting(argument)),
    ...around.flags,
    ...argv.filter(isSetting),
  ];
  return {
    ...around,
    run: async (...argv) => {
      const before = await secretsOf(around);
      const end = await runAdmin(whole(argv));
      for (const secret of [...before, ...(await secretsOf(around))]) expect(end.out + end.err).not.toContain(secret);
      return end;
    },
    json: (...argv) => adminJson(whole(argv)),
  };
}

/** A world with an organization that has authorized the app. */
export interface ServedWorld extends AdminWorld {
  /** The one data source that it has at the platform. */
  readonly only: () => ReturnType<AdminWorld['api']['dataSources']>[number];
}

/** @param options.isRegistered - whether its data source is there; default true. */
export async function servedWorld({ isRegistered = true } = {}): Promise<ServedWorld> {
  const around = await adminWorld();
  around.api.authorize(ORG);
  const only = () => {
    const [record, ...more] = around.api.dataSources(ORG);
    expect(more).toEqual([]);
    if (record === undefined) throw new Error('there is no data source');
    return record;
  };
  if (isRegistered) expect((await around.run('data-sources', 'create', '--org', ORG)).code).toBe(0);
  return { ...around, only };
}

/** All that nobody may read: what is kept, what the platform has, and what the operator gave. */
async function secretsOf({ api, key, storeFile }: AdminSurroundings): Promise<readonly string[]> {
  const kept = [...(await readStore({ file: storeFile, seal: new Seal(Buffer.from(key, 'hex')) })).values()].join('\n');
  const records = api.dataSources(ORG).flatMap(({ nonce, jwsToken }) => [nonce, jwsToken]);
  const hooks = api.webhooks().flatMap(({ secret }) => secret ?? []);
  const found = [...kept.matchAll(KEPT_SECRET)].map(({ groups }) => groups?.['secret'] ?? '');
  return [key, api.integration.clientSecret, api.serviceApp.clientSecret, ...records, ...hooks, ...found].filter((text) => text !== '');
}
