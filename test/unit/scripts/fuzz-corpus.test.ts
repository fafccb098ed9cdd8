// The corpus of `npm run check -- fuzz`: every input that once led somewhere new goes its way again, in this process.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Area } from '../../../scripts/fuzz/area.ts';
import { AREA_NAMES, openAreas } from '../../../scripts/fuzz/areas.ts';
import { COMMITTED, inputsOf } from '../../../scripts/fuzz/corpus.ts';
import { ORGANIZATION } from '../../../scripts/fuzz/messages.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../../src/fake-platform/platform/issuer.ts';

const PROFILE = loadProfile('fake');

describe('the corpus', () => {
  let issuer: Issuer;
  let areas: readonly Area[];

  beforeAll(async () => {
    issuer = await startIssuer({ profile: PROFILE, organizationId: ORGANIZATION });
    const socketToken = await issuer.issueToken({ url: 'wss://localhost', schemaId: PROFILE.schemas.websocket });
    areas = await openAreas(AREA_NAMES, { issuer, profile: PROFILE, socketToken, target: undefined });
  });

  afterAll(async () => {
    for (const { close } of areas) await close?.();
    await issuer.close();
  });

  it.each(AREA_NAMES)('has inputs of %s, and all of them are met as they should be', async (name) => {
    const { seeds, read, send } = areas.find((area) => area.name === name) ?? { seeds: [] };
    const inputs = inputsOf(name, COMMITTED);
    expect(inputs.length).toBeGreaterThan(0);
    for (const input of [...seeds, ...inputs]) {
      for (const way of [read, send]) expect({ input: input.toString('base64'), ...(await way?.(input)) }).not.toHaveProperty('wrong');
    }
  });

  it.each(AREA_NAMES)('of %s stays small', (name) => {
    const sizes = inputsOf(name, COMMITTED).map(({ length }) => length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(COMMITTED.maxInputBytes);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(COMMITTED.maxAreaBytes);
  });
});
