// Who comes in, and in how many ways nobody does.
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ConsoleAccess, type ConsoleSettings } from '../../../src/ops/console-access.ts';
import { cookieOf, MAX_SESSIONS, SESSION_MS } from '../../../src/ops/console-sessions.ts';
import { MAX_FAILURES, WINDOW_MS } from '../../../src/ops/failed-sign-ins.ts';
import { REPLAY_WINDOW_MS } from '../../../src/ops/proxy-user.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const VIEW = 'v'.repeat(32);
const LISTEN = 'l'.repeat(32);
const KEY = 'ab'.repeat(32);
const FROM = '10.0.0.1';
const NONE: ConsoleSettings = {
  ...{ viewToken: undefined, listenToken: undefined, proxyKey: undefined, proxyHeader: 'X-Parley-User', guardsMetrics: false },
};

function open(settings: Partial<ConsoleSettings> = {}, host = '0.0.0.0') {
  const clock = new FakeClock();
  const access = new ConsoleAccess({ host, console: { ...NONE, ...settings }, clock });
  const shows = (authorization: string) => access.visitorOf({ authorization }, FROM);
  const signsIn = (token: string): string => {
    const opened = access.signIn(token, FROM);
    if (typeof opened !== 'object') throw new Error(opened);
    return cookieOf(opened.id, false).split(';')[0] ?? '';
  };
  return { clock, access, shows, signsIn };
}

function signed(text: string, key = KEY): string {
  return `${text};signature=${createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('hex')}`;
}

describe('who may see the console', () => {
  it.each(['127.0.0.1', '::1', 'localhost'])('is everybody on %s, who may not listen, while nothing is configured', (host) => {
    expect(open({}, host).access.visitorOf({}, '127.0.0.1')).toEqual({ name: 'loopback', role: 'view', hasSession: false });
  });

  it.each(['0.0.0.0', '10.0.0.7', '::', 'voice.example'])('is nobody on %s while nothing is configured', (host) => {
    const { access } = open({}, host);
    expect(access.visitorOf({ authorization: `Bearer ${VIEW}` }, '127.0.0.1')).toBe('closed');
    expect(access.signIn(VIEW, '127.0.0.1')).toBe('closed');
  });

  it('is asked for a token on loopback, too, once there is one: a proxy on this machine brings others', () => {
    expect(open({ viewToken: VIEW }, '127.0.0.1').access.visitorOf({}, '127.0.0.1')).toBe('unknown');
  });

  it('comes in with the token of a role', () => {
    const { shows } = open({ viewToken: VIEW, listenToken: LISTEN });
    expect(shows(`Bearer ${VIEW}`)).toEqual({ name: 'view token', role: 'view', hasSession: false });
    expect(shows(`bearer ${LISTEN}`)).toEqual({ name: 'listen token', role: 'listen', hasSession: false });
  });

  it.each([
    ['another token', `Bearer ${'x'.repeat(32)}`],
    ['the beginning of the token', `Bearer ${VIEW.slice(1)}`],
    ['more than the token', `Bearer ${VIEW}v`],
    ['no token', 'Bearer '],
    ['another scheme', `Basic ${VIEW}`],
    ['the token alone', VIEW],
    ['two tokens', `Bearer ${VIEW} ${LISTEN}`],
  ])('does not come in with %s', (_, authorization) => {
    expect(open({ viewToken: VIEW, listenToken: LISTEN }).shows(authorization)).toBe(
      authorization.startsWith('Bearer ') ? 'wrong' : 'unknown',
    );
  });

  it('does not come in with an empty token for a role that has none', () => {
    const { access } = open({ listenToken: LISTEN });
    expect(access.signIn('', FROM)).toBe('wrong');
  });

  it('is told to wait after ten failures of its address, which shut out nobody else behind it', () => {
    const { access, clock, shows } = open({ viewToken: VIEW, proxyKey: KEY });
    for (let failure = 0; failure < MAX_FAILURES; failure += 1) expect(shows('Bearer no')).toBe('wrong');
    expect(shows('Bearer no')).toBe('limited');
    expect(access.signIn('no', FROM)).toBe('limited');
    expect(access.visitorOf({ 'x-parley-user': 'no' }, FROM)).toBe('limited');
    expect(access.visitorOf({ authorization: 'Bearer no' }, '10.0.0.2')).toBe('wrong');
    const header = signed(`user=ann;role=view;time=${String(clock.nowMs() / 1000)}`);
    expect(access.visitorOf({ 'x-parley-user': header }, FROM)).toMatchObject({ name: 'ann' });
    expect(shows(`Bearer ${VIEW}`)).toMatchObject({ role: 'view' });
    expect(access.signIn(VIEW, FROM)).toMatchObject({ role: 'view' });
    clock.advance(WINDOW_MS);
    expect(shows('Bearer no')).toBe('wrong');
  });

  it('remembers a bounded number of addresses', () => {
    const { access, shows } = open({ viewToken: VIEW });
    for (let failure = 0; failure < MAX_FAILURES; failure += 1) shows('Bearer no');
    for (let address = 0; address < 1000; address += 1) access.signIn('no', `10.1.0.${String(address)}`);
    expect(shows('Bearer no')).toBe('wrong');
  });
});

describe('a session of a browser', () => {
  it('has the role of its token, for half a day, and until it is ended', () => {
    const { access, clock, signsIn } = open({ viewToken: VIEW, listenToken: LISTEN });
    const cookie = signsIn(LISTEN);
    const other = signsIn(VIEW);
    expect(access.visitorOf({ cookie: `a=b; ${cookie}` }, FROM)).toEqual({ name: 'listen token', role: 'listen', hasSession: true });
    access.signOut(cookie);
    expect(access.visitorOf({ cookie }, FROM)).toBe('unknown');
    clock.advance(SESSION_MS - 1);
    expect(access.visitorOf({ cookie: other }, FROM)).toMatchObject({ role: 'view' });
    clock.advance(1);
    expect(access.visitorOf({ cookie: other }, FROM)).toBe('unknown');
  });

  it.each(['parley_console=', `parley_console=${'A'.repeat(43)}`, `xparley_console=${'A'.repeat(43)}`, 'parley_console=../..', ''])(
    'is not opened by the cookie %j',
    (cookie) => {
      expect(open({ viewToken: VIEW }).access.visitorOf({ cookie }, FROM)).toBe('unknown');
    },
  );

  it('has a cookie that no script reads and no other site sends', () => {
    expect(cookieOf('id', false)).toBe('parley_console=id; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict');
    expect(cookieOf(undefined, true)).toBe('__Host-parley_console=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure');
  });

  it('ends when its token is replaced, and those of the other token do not', () => {
    const { access, signsIn } = open({ viewToken: VIEW, listenToken: LISTEN });
    const [view, listen] = [signsIn(VIEW), signsIn(LISTEN)];
    const secrets = { viewToken: 'n'.repeat(32), listenToken: LISTEN, proxyKey: undefined };
    expect(access.renew(secrets)).toBe(true);
    expect(access.renew(secrets)).toBe(false);
    expect(access.visitorOf({ cookie: view }, FROM)).toBe('unknown');
    expect(access.visitorOf({ cookie: listen }, FROM)).toMatchObject({ role: 'listen' });
    expect(access.signIn(VIEW, FROM)).toBe('wrong');
  });

  it('is one of a bounded number: the first one ends', () => {
    const { access, signsIn } = open({ viewToken: VIEW });
    const first = signsIn(VIEW);
    for (let more = 0; more < MAX_SESSIONS; more += 1) signsIn(VIEW);
    expect(access.visitorOf({ cookie: first }, FROM)).toBe('unknown');
  });
});

describe('a user whom the proxy names', () => {
  const SECONDS = String(new FakeClock().nowMs() / 1000);
  const asks = (header: string | string[], key: string | undefined = KEY) =>
    open({ proxyKey: key, viewToken: VIEW }).access.visitorOf({ 'x-parley-user': header }, FROM);

  it.each(['view', 'listen'] as const)('comes in with the signed role %s', (role) => {
    const header = signed(`user=ann@example.com;role=${role};time=${SECONDS}`);
    expect(asks(header)).toEqual({ name: 'ann@example.com', role, hasSession: false });
  });

  const good = `user=ann;role=view;time=${SECONDS}`;
  it.each([
    ['nothing', ''],
    ['no signature', good],
    ['an empty signature', `${good};signature=`],
    ['the signature of another key', signed(good, 'cd'.repeat(32))],
    ['the signature of another text', signed(good).replace('role=view', 'role=listen')],
    ['another role', signed(`user=ann;role=admin;time=${SECONDS}`)],
    ['no user', signed(`user=;role=view;time=${SECONDS}`)],
    ['a user with a second role', signed(`user=ann;role=listen;role=view;time=${SECONDS}`)],
    ['a user with a line break', signed(`user=a\nb;role=view;time=${SECONDS}`)],
    ['no time', signed('user=ann;role=view;time=')],
    ['a repeated header', `${signed(good)}, ${signed(good)}`],
    ['an old time', signed(`user=ann;role=view;time=${String(Number(SECONDS) - REPLAY_WINDOW_MS / 1000 - 1)}`)],
    ['a time to come', signed(`user=ann;role=view;time=${String(Number(SECONDS) + REPLAY_WINDOW_MS / 1000 + 1)}`)],
  ])('does not come in with %s', (_, header) => {
    expect(asks(header)).toBe('wrong');
  });

  it.each(['Basic YTpi', 'Negotiate YTpi', `Bearers ${VIEW}`])(
    'comes in through a proxy that passes on the header of its own sign-in: %s',
    (authorization) => {
      const { access } = open({ proxyKey: KEY });
      expect(access.visitorOf({ authorization, 'x-parley-user': signed(good) }, FROM)).toMatchObject({ name: 'ann' });
    },
  );

  it('does not come in where no key is configured', () => {
    const { access } = open({ viewToken: VIEW });
    expect(access.visitorOf({ 'x-parley-user': signed(good) }, FROM)).toBe('unknown');
  });
});
