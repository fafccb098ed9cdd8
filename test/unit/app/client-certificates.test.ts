// Certificates of clients over real sockets: who comes in, who does not and why, and how that changes while connections are open.
import { describe, expect, it } from 'vitest';
import type { ClientCertificateSettings } from '../../../src/app/config/settings.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { loadProfile, type PlatformProfile } from '../../../src/contract/profile.ts';
import { certificateAuthority } from '../../support/certificate-authority.ts';
import { TlsPeer, type TlsPeerOptions } from '../../support/tls-peer.ts';
import { ground, serve, type Line } from '../../support/tls-server.ts';
import { until } from '../../support/until.ts';
import { look, WatchedFolder } from '../../support/watched-folder.ts';

const PROFILE = loadProfile('fake');
const CLIENT = 'CN=voice.example, O=Owner Inc., C=US';

/** A server that wants client certificates of an authority of its own, and a client that has one. */
async function demanding(more: Partial<ClientCertificateSettings> = {}) {
  const base = await ground();
  const clientAuthority = await certificateAuthority(systemClock.nowMs());
  const caFile = base.folder.write('clients.pem', clientAuthority.pem);
  const server = await serve(base, { caFile, subjects: [CLIENT], subjectsFile: undefined, ...more });
  const good = await clientAuthority.issue({ subject: CLIENT });
  const isLetIn = (shown: Partial<TlsPeerOptions>): Promise<boolean> => TlsPeer.isLetIn(server.port, { ca: base.authority.pem, ...shown });
  const refused = (reason: string): Promise<number | undefined> =>
    server.metric(`parley_client_certificates_refused_total{reason="${reason}"}`);
  const refusalLines = (): readonly Line[] => server.lines.filter(({ level, reason }) => level === 'warn' && reason !== undefined);
  return { ...base, ...server, clientAuthority, good, isLetIn, refused, refusalLines };
}

describe('client certificates', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('O-11 O-12 let the right one in, and nobody else, over %s', async (maxVersion) => {
    const { authority, clientAuthority, good, isLetIn, refused, refusalLines } = await demanding();
    expect(await isLetIn({ ...good, maxVersion })).toBe(true);
    expect(refusalLines()).toEqual([]);

    const foreign = await certificateAuthority(systemClock.nowMs());
    const wrong: readonly (readonly [reason: string, shown: Partial<TlsPeerOptions>])[] = [
      ['missing', {}],
      // The right words, signed by somebody else, by the authority of the server, and by itself.
      ['untrusted', await foreign.issue({ subject: CLIENT })],
      ['untrusted', await authority.issue({ subject: CLIENT })],
      ['untrusted', await clientAuthority.issue({ subject: CLIENT, isSelfSigned: true })],
      ['expired', await clientAuthority.issue({ subject: CLIENT, fromDays: -9, toDays: -1 })],
      ['expired', await clientAuthority.issue({ subject: CLIENT, fromDays: 1 })],
      ['subject', await clientAuthority.issue({ subject: 'CN=voice.example, O=Owner Inc.' })],
      ['subject', await clientAuthority.issue({ subject: 'CN=other.example, O=Owner Inc., C=US' })],
    ];
    for (const [reason, shown] of wrong) expect([reason, await isLetIn({ ...shown, maxVersion })]).toEqual([reason, false]);
    await until('all are counted', async () => {
      const counts = await Promise.all(['missing', 'untrusted', 'expired', 'subject'].map(refused));
      return String(counts) === '1,3,2,2';
    });
    // One line for each reason: the time stands still.
    expect(refusalLines().map(({ reason }) => reason)).toEqual(['missing', 'untrusted', 'expired', 'subject']);
    expect(refusalLines().at(-1)).toMatchObject({ leftOut: 0, msg: expect.stringContaining('test server') as string });
  });

  it('show the operator a refused subject as it can be listed, on one line and not longer than it may be', async () => {
    const { clientAuthority, clock, isLetIn, refusalLines } = await demanding();
    expect(await isLetIn(await clientAuthority.issue({ subject: String.raw`O=Owner\, Inc., CN=other.example` }))).toBe(false);
    await until('it is logged', () => refusalLines().length === 1);
    expect(refusalLines()[0]?.['subject']).toBe(String.raw`O=Owner\, Inc., CN=other.example`);
    clock.advance(1000);
    expect(
      await isLetIn(
        await clientAuthority.issue({
          subject: `CN=${'a\u001b'.repeat(30)}, OU=${'b'.repeat(64)}, O=${'c'.repeat(64)}, L=${'d'.repeat(64)}`,
        }),
      ),
    ).toBe(false);
    await until('it is logged', () => refusalLines().length === 2);
    const shown = String(refusalLines()[1]?.['subject']);
    expect(shown.length).toBeLessThanOrEqual(200);
    expect(shown).toMatch(/CN=a a /u);
    expect(shown).not.toMatch(/\p{C}/u);
  });

  it('W-09 are not asked for where the platform has none', async () => {
    const { authority, tls, open } = await demanding();
    expect(await TlsPeer.isLetIn(await open(tls.sockets), { ca: authority.pem })).toBe(true);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'are shown anew with each connection over %s: nobody comes in on an earlier one',
    async (maxVersion) => {
      const { authority, good, port, refused } = await demanding();
      const first = await TlsPeer.connect(port, { ca: authority.pem, ...good, maxVersion });
      expect(await first.answerTo('hello')).toBe('hello');
      const [session] = first.sessions;
      // With what the first connection left behind and without its certificate.
      const without = { ca: authority.pem, maxVersion, ...(session === undefined ? {} : { session }) };
      expect(await TlsPeer.isLetIn(port, without)).toBe(false);
      await until('it is counted', async () => (await refused('missing')) === 1);
    },
  );

  it('are held against a new list of subjects, while an open connection goes on', async () => {
    const lists = new WatchedFolder();
    const subjectsFile = lists.write('subjects', `# of today\n${CLIENT}\n`);
    const { authority, clientAuthority, good, port, clock, files, isLetIn, logged, metric } = await demanding({
      subjects: [],
      subjectsFile,
    });
    const open = await TlsPeer.connect(port, { ca: authority.pem, ...good });
    expect(await open.answerTo('hello')).toBe('hello');
    const other = await clientAuthority.issue({ subject: 'CN=other.example' });
    expect(await isLetIn(other)).toBe(false);

    lists.write('subjects', 'CN=other.example\n');
    await look(files, clock, 2);
    expect([await isLetIn(other), await isLetIn(good)]).toEqual([true, false]);
    expect(await open.answerTo('still here')).toBe('still here');

    lists.write('subjects', 'nonsense\n');
    await look(files, clock, 4);
    expect(await isLetIn(other)).toBe(true);
    expect(logged('files_refused')).toMatchObject([{ what: 'client_trust', err: { code: 'config_invalid' } }]);
    expect(await metric('parley_watched_files_taken{what="client_trust"}')).toBe(0);
  });

  it('are held against new authorities, and an empty file of them admits nobody', async () => {
    const { folder, good, clock, files, isLetIn, logged } = await demanding();
    const next = await certificateAuthority(systemClock.nowMs());
    const shown = await next.issue({ subject: CLIENT });
    expect([await isLetIn(good), await isLetIn(shown)]).toEqual([true, false]);
    folder.write('clients.pem', next.pem);
    await look(files, clock, 2);
    expect([await isLetIn(good), await isLetIn(shown)]).toEqual([false, true]);
    folder.write('clients.pem', '');
    await look(files, clock, 2);
    expect([await isLetIn(good), await isLetIn(shown), await isLetIn({})]).toEqual([false, true, false]);
    expect(logged('files_refused')).toHaveLength(1);
  });

  it('O-12 have the subjects of the profile where the operator lists none', async () => {
    const base = await ground();
    const clientAuthority = await certificateAuthority(systemClock.nowMs());
    const caFile = base.folder.write('clients.pem', clientAuthority.pem);
    const profile = { ...PROFILE, mtls: { rootCa: 'nobody', clientSubjects: [CLIENT] } };
    const { port } = await serve(base, { caFile, subjects: [], subjectsFile: undefined }, profile);
    const [right, wrong] = await Promise.all([clientAuthority.issue({ subject: CLIENT }), clientAuthority.issue({ subject: 'CN=b' })]);
    const ca = base.authority.pem;
    expect([await TlsPeer.isLetIn(port, { ca, ...right }), await TlsPeer.isLetIn(port, { ca, ...wrong })]).toEqual([true, false]);
  });

  it('O-11 have the authority of the profile where the operator names none', async () => {
    const rootCa = 'IdenTrust Commercial Root CA 1';
    const profile = { ...PROFILE, mtls: { rootCa, clientSubjects: [CLIENT] } };
    const { tls } = await serve(await ground(), { caFile: undefined, subjects: [], subjectsFile: undefined }, profile);
    expect(tls.media).toMatchObject({ clients: { trust: { current: { authorities: [expect.stringContaining('BEGIN CERTIFICATE')] } } } });
  });

  it.each<readonly [what: string, profile: PlatformProfile, key: string]>([
    ['names no authority', PROFILE, 'tls.client_ca_file'],
    ['names an authority that nobody knows', { ...PROFILE, mtls: { rootCa: 'nobody', clientSubjects: [CLIENT] } }, 'tls.client_ca_file'],
    ['names no subjects', { ...PROFILE, mtls: { rootCa: 'IdenTrust Commercial Root CA 1', clientSubjects: [] } }, 'tls.client_subjects'],
  ])('keep the server from starting when the profile %s and the operator neither', async (_what, profile, key) => {
    const clients = { caFile: undefined, subjects: [], subjectsFile: undefined };
    await expect(serve(await ground(), clients, profile)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(key) as string,
    });
  });
});
