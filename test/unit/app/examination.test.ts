import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeId } from '../../../src/admin/platform-id.ts';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { openExamination } from '../../../src/app/examination.ts';
import { createLogger } from '../../../src/base/log.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const PROFILE = loadProfile('fake');
const ORG = randomUUID();
const encoded = (organization: string): string => encodeId(organization, 'ORGANIZATION', PROFILE.ids?.urnScheme ?? '');

/** The organizations that are looked at where the administration is off and these are in the settings. */
async function examined(asked: string | undefined, configured: readonly string[]): Promise<readonly string[]> {
  const sources = configured.map((organization, index) => ({
    ...{ id: `source-${String(index)}`, organization_id: organization, url: 'https://bots.example/', transport: 'grpc' },
    ...{ audience: 'a', subject: 's', nonce: 'n' },
  }));
  const argv = ['--platform.profile=fake', '--tls.mode=off', '--grpc.host=127.0.0.1', '--admin.enabled=false'];
  const { settings } = loadSettings({ argv: [...argv, `--auth.data_sources=${JSON.stringify(sources)}`], env: {} });
  const asksNobody = (): Promise<never> => Promise.reject(new Error('nobody is asked'));
  const examination = await openExamination({
    ...{ settings, profile: PROFILE, clock: new FakeClock(), log: createLogger({ level: 'silent' }), organization: asked },
    ...{ originOf: () => '', authorities: [], server: { health: asksNobody, listAgents: asksNobody } },
  });
  await examination.close();
  return examination.context.wanted.map(({ organizationId }) => organizationId);
}

describe('an examination where the administration is off', () => {
  it.each([
    ['its UUID', ORG],
    ['its UUID in upper case', ORG.toUpperCase()],
    ['its encoded address', encoded(ORG)],
    ['its encoded UUID', Buffer.from(ORG).toString('base64url')],
  ])('H-04 finds an organization by %s', async (_, spelling) => {
    const others = [randomUUID(), 'anybody'];
    expect(await examined(spelling, [...others, ORG])).toEqual([ORG]);
    // As it is written there: tokens are held against it verbatim.
    expect(await examined(ORG, [...others, spelling])).toEqual([spelling]);
  });

  it('looks at all of them unless it is told otherwise, and knows what is no id by its text', async () => {
    expect(await examined(undefined, [ORG, 'anybody'])).toEqual([ORG, 'anybody']);
    expect(await examined('anybody', [ORG, 'anybody'])).toEqual(['anybody']);
  });

  it('says that an organization is not there, and does not repeat what is none', async () => {
    await expect(examined(encoded(ORG), [randomUUID()])).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`none of organization ${ORG}`) as string,
    });
    // People paste what they should not.
    await expect(examined('CANARY-token', [ORG])).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(/^(?![^]*CANARY)[^]*no id of an organization/u) as string,
    });
  });
});
