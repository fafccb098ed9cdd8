// The certificate of a server over real sockets, and how it changes while connections are open.
import { mkdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ServerCertificate } from '../../support/certificate-authority.ts';
import { identityOf, TlsPeer } from '../../support/tls-peer.ts';
import { ground, put, serve, type Ground } from '../../support/tls-server.ts';
import { look } from '../../support/watched-folder.ts';

const TAKEN = 'parley_watched_files_taken{what="certificate"}';
const END = 'parley_certificate_end_timestamp_seconds';
const endOf = (certificate: ServerCertificate): number => identityOf(certificate).endsAtMs / 1000;

describe('the certificate of a server', () => {
  it('changes for new connections on every port, while an open one goes on', async () => {
    const base = await ground();
    const { clock, files, tls, open, port, metric, logged } = await serve(base);
    const sockets = await open(tls.sockets);
    const ca = base.authority.pem;
    const before = await TlsPeer.connect(port, { ca });
    expect([before.shows(identityOf(base.first)), await metric(END)]).toEqual([true, endOf(base.first)]);

    const second = await base.authority.issue({ toDays: 60 });
    put(base, second);
    await look(files, clock, 2);
    for (const at of [port, sockets]) expect((await TlsPeer.connect(at, { ca })).shows(identityOf(second))).toBe(true);
    expect(await before.answerTo('still here')).toBe('still here');
    expect([await metric(END), await metric(TAKEN), logged('files_taken').length]).toEqual([endOf(second), 1, 1]);
  });

  it.each<readonly [what: string, spoil: (base: Ground) => Promise<void> | void, reason: RegExp]>([
    [
      'is no PEM',
      (base) => {
        put(base, { ...base.first, cert: 'nothing' });
      },
      /tls\.crt holds no certificate in PEM/u,
    ],
    [
      'has a key that is none',
      (base) => {
        put(base, { ...base.first, key: 'nothing' });
      },
      /tls\.key holds no key in PEM/u,
    ],
    [
      'has the key of another one',
      async (base) => {
        put(base, { ...base.first, key: (await base.authority.issue()).key });
      },
      /cannot be used together/u,
    ],
    [
      'is followed by the beginning of another one',
      (base) => {
        put(base, { ...base.first, cert: `${base.first.cert}\n-----BEGIN CERTIFI` });
      },
      /tls\.crt is cut off/u,
    ],
    [
      'has ended',
      async (base) => {
        put(base, await base.authority.issue({ fromDays: -9, toDays: -1 }));
      },
      /it ended at 20/u,
    ],
    [
      'has not begun',
      async (base) => {
        put(base, await base.authority.issue({ fromDays: 1 }));
      },
      /it begins at 20/u,
    ],
    [
      'is gone',
      ({ folder }) => {
        rmSync(folder.file('tls.crt'));
      },
      /tls\.crt cannot be read \(ENOENT\)/u,
    ],
    [
      'is a folder',
      ({ folder }) => {
        rmSync(folder.file('tls.crt'));
        mkdirSync(folder.file('tls.crt'));
      },
      /tls\.crt cannot be read: it is no file/u,
    ],
  ])('that %s is refused once, and the one before stays', async (_what, spoil, reason) => {
    const base = await ground();
    const { clock, files, port, metric, logged } = await serve(base);
    await spoil(base);
    await look(files, clock, 5);
    expect(logged('files_refused')).toMatchObject([{ level: 'error', what: 'certificate', err: { code: 'certificate_invalid' } }]);
    expect(logged('files_refused')[0]?.['msg']).toMatch(reason);
    const peer = await TlsPeer.connect(port, { ca: base.authority.pem });
    expect([peer.shows(identityOf(base.first)), await metric(TAKEN), await metric(END)]).toEqual([true, 0, endOf(base.first)]);
  });

  it('is taken after a bad one, and one that had not begun when its time has come', async () => {
    const base = await ground();
    const { clock, files, port, metric, logged } = await serve(base);
    const later = await base.authority.issue({ fromDays: 1 });
    put(base, later);
    await look(files, clock, 2);
    expect(await metric(TAKEN)).toBe(0);
    clock.stepWall(86_400_000);
    await look(files, clock);
    expect([await metric(TAKEN), await metric(END), logged('files_refused').length]).toEqual([1, endOf(later), 1]);
    const second = await base.authority.issue();
    put(base, second);
    await look(files, clock, 2);
    expect((await TlsPeer.connect(port, { ca: base.authority.pem })).shows(identityOf(second))).toBe(true);
  });

  it('is no error while certificate and key are written one after the other', async () => {
    const base = await ground();
    const { clock, files, port, lines, metric } = await serve(base);
    const second = await base.authority.issue();
    base.folder.write('tls.crt', second.cert);
    await look(files, clock);
    base.folder.write('tls.key', second.key);
    await look(files, clock, 2);
    expect((await TlsPeer.connect(port, { ca: base.authority.pem })).shows(identityOf(second))).toBe(true);
    expect([lines.filter(({ level }) => level === 'error'), await metric(TAKEN)]).toEqual([[], 1]);
  });

  it('is served all the same when it has ended before the start, with a warning', async () => {
    const base = await ground();
    const over = await base.authority.issue({ fromDays: -9, toDays: -1 });
    put(base, over);
    const { clock, files, lines } = await serve(base);
    await look(files, clock, 3);
    expect(lines).toMatchObject([{ level: 'warn', msg: expect.stringMatching(/refuse the certificate: it ended at/u) as string }]);
  });

  it.each(['tls.crt', 'tls.key'])('keeps the server from starting when %s is broken', async (name) => {
    const base = await ground();
    base.folder.write(name, 'broken');
    await expect(serve(base)).rejects.toMatchObject({ code: 'certificate_invalid', details: { file: base.folder.file(name) } });
  });
});
