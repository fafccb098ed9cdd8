import { describe, expect, it } from 'vitest';
import { describeSettings } from '../../../src/app/config/describe-settings.ts';
import { loadSettings } from '../../../src/app/config/load-settings.ts';

const TLS_OFF = '--tls.mode=off';
const source = (id: string): object => ({
  id,
  organization_id: 'org',
  url: 'https://voice.example.com',
  audience: 'a',
  subject: 's',
  nonce: 'n',
  transport: 'grpc',
});

function load(...argv: string[]): () => unknown {
  return () => loadSettings({ argv, env: {}, cwd: '/' });
}

describe('the rules between settings', () => {
  it.each(['127.0.0.1', '127.0.0.2', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', 'localhost', 'LOCALHOST'])(
    'P-11 allows the token check off on %s',
    (host) => {
      expect(load(TLS_OFF, '--auth.enabled=false', `--grpc.host=${host}`)).not.toThrow();
    },
  );

  it.each([
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '128.0.0.1',
    '126.255.255.255',
    '::2',
    '::ffff:10.0.0.1',
    'voice.example.com',
    'localhost.example.com',
    '127.1',
  ])('P-11 refuses the token check off on %s, until the second switch says so', (host) => {
    const argv = [TLS_OFF, '--auth.enabled=false', `--grpc.host=${host}`];
    expect(load(...argv)).toThrow(/^1 setting is wrong:\n {2}auth\.enabled = false[^]*anybody could place calls/u);
    expect(load(...argv, '--auth.allow_unauthenticated_network')).not.toThrow();
  });

  it('P-11 does not let the second switch alone turn the token check off', () => {
    expect(load(TLS_OFF, '--auth.allow_unauthenticated_network')).toThrow(/at least one data source/u);
  });

  it('refuses the token check on without a data source', () => {
    expect(load(TLS_OFF)).toThrow(/^1 setting is wrong:\n {2}auth\.data_sources = \[\]/u);
    expect(load(TLS_OFF, `--auth.data_sources=${JSON.stringify([source('a')])}`)).not.toThrow();
  });

  it('refuses a shared store without a key for its seal', () => {
    const redis = [TLS_OFF, '--auth.enabled=false', '--grpc.host=127.0.0.1', '--store.kind=redis'];
    expect(load(...redis)).toThrow(/^1 setting is wrong:\n {2}store\.keys = \[\][^]*openssl rand -hex 32/u);
    expect(load(...redis, `--store.keys=${JSON.stringify(['ab'.repeat(32)])}`)).not.toThrow();
  });

  it.each(['http://cache:6379', 'redis://', 'redis://user:secret@cache:6379', 'rediss://cache:6379/zero', 'redis://cache:6379/1/2'])(
    'refuses %s as the address of a Redis server, and shows no password',
    (url) => {
      expect(load(TLS_OFF, '--auth.enabled=false', '--grpc.host=127.0.0.1', `--store.redis.url=${url}`)).toThrow(
        /store\.redis\.url(?!.*secret)[^]*must be redis:\/\/HOST:PORT/u,
      );
    },
  );

  it('wants sentinels and the name of their primary together', () => {
    const open = [TLS_OFF, '--auth.enabled=false', '--grpc.host=127.0.0.1'];
    const [sentinels, name] = ['--store.redis.sentinels=[::1]:26379,cache.example.com:26379', '--store.redis.sentinel_name=calls'];
    expect(load(...open, sentinels)).toThrow(/^1 setting is wrong:\n {2}store\.redis\.sentinel_name = ''/u);
    expect(load(...open, name)).toThrow(/^1 setting is wrong:\n {2}store\.redis\.sentinel_name = calls/u);
    expect(load(...open, sentinels, name)).not.toThrow();
  });

  it.each(['10.0.0.1', 'cache:', 'cache:99999', 'redis://cache:26379', 'user@cache:26379', ':26379'])(
    'refuses %s as the address of a sentinel',
    (sentinel) => {
      const flags = [`--store.redis.sentinels=${JSON.stringify([sentinel])}`, '--store.redis.sentinel_name=calls'];
      expect(load(TLS_OFF, '--auth.enabled=false', '--grpc.host=127.0.0.1', ...flags)).toThrow(
        /^1 setting is wrong:\n {2}store\.redis\.sentinels\[0\][^]*must be HOST:PORT/u,
      );
    },
  );

  it('refuses two data sources with one id', () => {
    expect(load(TLS_OFF, `--auth.data_sources=${JSON.stringify([source('a'), source('a')])}`)).toThrow(/appears once/u);
    expect(load(TLS_OFF, `--auth.data_sources=${JSON.stringify([source('a'), source('b')])}`)).not.toThrow();
  });

  it('refuses a previous nonce that is the nonce', () => {
    expect(load(TLS_OFF, `--auth.data_sources=${JSON.stringify([{ ...source('a'), previous_nonce: 'n' }])}`)).toThrow(
      /differs from nonce/u,
    );
  });

  it('wants both files for TLS and gives plaintext only when asked for', () => {
    const open = ['--auth.enabled=false', '--grpc.host=::1'];
    expect(load(...open)).toThrow(/^2 settings are wrong[^]*tls\.certificate_file[^]*tls\.key_file/u);
    expect(load(...open, '--tls.key_file=k.pem')).toThrow(/^1 setting is wrong[^]*tls\.certificate_file/u);
    const { settings } = loadSettings({ argv: [...open, '--tls.key_file=k.pem', '--tls.certificate_file=/c.pem'], env: {}, cwd: '/here' });
    expect(settings.tls).toEqual({ mode: 'files', certificateFile: '/c.pem', keyFile: '/here/k.pem' });
  });

  it('asks for client certificates only where TLS ends, and takes subjects that are whole', () => {
    const open = ['--auth.enabled=false', '--grpc.host=::1', '--tls.client_certificates=required'];
    expect(load(...open, TLS_OFF)).toThrow(/^1 setting is wrong:\n {2}tls\.client_certificates = required/u);
    const files = ['--tls.key_file=k.pem', '--tls.certificate_file=c.pem', '--tls.client_ca_file=ca.pem'];
    const subjects = ['CN=voice.example, O=Owner'];
    const { settings } = loadSettings({
      argv: [...open, ...files, `--tls.client_subjects=${JSON.stringify(subjects)}`],
      env: {},
      cwd: '/here',
    });
    expect(settings.tls).toMatchObject({ clients: { caFile: '/here/ca.pem', subjects, subjectsFile: undefined } });
    // What stands behind a comma is no subject of its own.
    expect(load(...open, ...files, '--tls.client_subjects=CN=voice.example, O=Owner')).toThrow(/tls\.client_subjects\[1\]/u);
  });

  it('refuses an idle time above the longest call, and one port for both servers', () => {
    const open = [TLS_OFF, '--auth.enabled=false', '--grpc.host=::1'];
    expect(load(...open, '--sessions.max_duration_ms=5000')).toThrow(/^1 setting is wrong:\n {2}sessions\.idle_timeout_ms/u);
    expect(load(...open, '--ops.port=8086')).toThrow(/^1 setting is wrong:\n {2}ops\.port/u);
    expect(load(...open, '--ops.port=0', '--grpc.port=0')).not.toThrow();
  });

  describe('of speech', () => {
    const open = [TLS_OFF, '--auth.enabled=false', '--grpc.host=::1'];

    it('refuses a voice that flite does not have, together with everything else that is wrong', () => {
      expect(load(...open, '--synthesizer.voice=nobody', '--ops.port=8086')).toThrow(
        /^2 settings are wrong:\n {2}synthesizer\.voice = nobody[^]*it has slt, rms, awb, kal[^]*ops\.port/u,
      );
      for (const voice of ['slt', 'kal', '']) expect(load(...open, `--synthesizer.voice=${voice}`)).not.toThrow();
      expect(load(...open, '--synthesizer.voice=nobody', '--synthesizer.engine=none')).not.toThrow();
    });

    it.each(['recognizer', 'synthesizer'])('wants the address and the model of a %s behind HTTP', (room) => {
      expect(load(...open, `--${room}.engine=http`)).toThrow(
        new RegExp(`^2 settings are wrong:\\n {2}${room}\\.http\\.url = ''[^]*${room}\\.http\\.model = ''`, 'u'),
      );
      expect(load(...open, `--${room}.engine=http`, `--${room}.http.url=http://127.0.0.1:8000/v1`, `--${room}.http.model=m`)).not.toThrow();
    });

    it.each([
      'http://speech.example.com/v1',
      'https://user@speech.example.com/v1',
      'https://speech.example.com/v1?key=1',
      'https://speech.example.com/#v1',
      'speech.example.com',
    ])('refuses the address %s', (url) => {
      expect(load(...open, `--recognizer.http.url=${url}`)).toThrow(/^1 setting is wrong:\n {2}recognizer\.http\.url/u);
    });

    it('wants a command for the engine command, and the first byte before the last', () => {
      expect(load(...open, '--recognizer.engine=command')).toThrow(/^1 setting is wrong:\n {2}recognizer\.command = \[\]/u);
      expect(load(...open, '--synthesizer.http.first_byte_ms=5001', '--synthesizer.timeout_ms=5000')).toThrow(
        /^1 setting is wrong:\n {2}synthesizer\.http\.first_byte_ms/u,
      );
    });
  });

  describe('of calls over WebSocket', () => {
    const open = [TLS_OFF, '--auth.enabled=false', '--grpc.host=127.0.0.1', '--websocket.enabled'];

    it.each([
      ['websocket.host', ['--websocket.host=0.0.0.0', '--ops.host=127.0.0.1']],
      ['ops.host', ['--websocket.host=0.0.0.0', '--websocket.listen=ops', '--ops.host=0.0.0.0']],
    ])('P-11 refuses the token check off where %s is not loopback', (host, argv) => {
      expect(load(...open, ...argv)).toThrow(
        new RegExp(`^1 setting is wrong:\\n {2}auth\\.enabled = false[^]*anybody could place calls[^]*${host} to 127`, 'u'),
      );
      expect(load(...open, ...argv, '--auth.allow_unauthenticated_network')).not.toThrow();
      expect(load(...open, ...argv, `--${host}=127.0.0.1`)).not.toThrow();
      expect(load(...open, ...argv, '--websocket.enabled=false')).not.toThrow();
    });

    it('J-2E refuses them where the token check would refuse each of them', () => {
      const grpc = source('a');
      const socket = { ...source('b'), transport: 'websocket', url: 'wss://voice.example.com' };
      const argv = (...sources: readonly object[]): string[] => [TLS_OFF, `--auth.data_sources=${JSON.stringify(sources)}`];
      expect(load(...argv(grpc), '--websocket.enabled')).toThrow(/^1 setting is wrong:\n {2}websocket\.enabled = true/u);
      expect(load(...argv(grpc))).not.toThrow();
      expect(load(...argv(grpc, socket), '--websocket.enabled')).not.toThrow();
    });

    it('refuses no more connections for them than there may be calls', () => {
      const argv = [...open, '--websocket.host=::1', '--sessions.max=7'];
      expect(load(...argv, '--websocket.max_connections=7')).toThrow(/^1 setting is wrong:\n {2}websocket\.max_connections = 7/u);
      expect(load(...argv, '--websocket.max_connections=7', '--websocket.enabled=false')).not.toThrow();
      expect(load(...argv, '--websocket.max_connections=8')).not.toThrow();
    });

    it.each(['grpc', 'ops'])('refuses the port of %s for them, unless they take no port', (other) => {
      const argv = [...open, '--websocket.host=::1', `--${other}.port=8088`];
      expect(load(...argv)).toThrow(/^1 setting is wrong:\n {2}websocket\.port = 8088/u);
      expect(load(...argv, '--websocket.port=8090')).not.toThrow();
      expect(load(...argv, '--websocket.enabled=false')).not.toThrow();
      expect(load(...argv, '--websocket.listen=ops')).not.toThrow();
      expect(load(...argv, `--${other}.port=0`, '--websocket.port=0')).not.toThrow();
    });

    it.each([
      ['websocket', 'wss://voice.example.com', 'https://voice.example.com'],
      ['websocket', 'wss://voice.example.com:8443', 'wss://voice.example.com:8443/'],
      ['websocket', 'ws://127.0.0.1:8088', 'ws://127.0.0.1:8088/v1/va'],
      ['grpc', 'https://voice.example.com/path', 'wss://voice.example.com'],
      ['grpc', 'http://127.0.0.1:8086', 'ws://127.0.0.1:8086'],
    ])('W-03 takes for %s the url %s, but not %s', (transport, right, wrong) => {
      const argv = (url: string): string[] => [TLS_OFF, `--auth.data_sources=${JSON.stringify([{ ...source('a'), transport, url }])}`];
      expect(load(...argv(right))).not.toThrow();
      expect(load(...argv(wrong))).toThrow(/^1 setting is wrong:\n {2}auth\.data_sources[^]*wss:\/\/HOST/u);
    });

    it.each(['v1', '/', '/a/', '/a b', `/${'a'.repeat(200)}`])('W-02 refuses %s before its paths', (prefix) => {
      expect(load(...open, '--websocket.host=::1', `--websocket.path_prefix=${prefix}`)).toThrow(
        /^1 setting is wrong:\n {2}websocket\.path_prefix/u,
      );
    });

    it.each(['', '/a', '/media/v2'])('W-02 takes %j before its paths', (prefix) => {
      expect(load(...open, '--websocket.host=::1', `--websocket.path_prefix=${prefix}`)).not.toThrow();
    });
  });

  it('refuses one token for both roles of the console', () => {
    const open = [TLS_OFF, '--auth.enabled=false', '--grpc.host=127.0.0.1', `--ops.console.view_token=${'t'.repeat(32)}`];
    expect(load(...open, `--ops.console.listen_token=${'t'.repeat(32)}`)).toThrow(
      /ops\.console\.listen_token = \*{4}[^]*two roles differ/u,
    );
    expect(load(...open, `--ops.console.listen_token=${'u'.repeat(32)}`)).not.toThrow();
  });

  it('stays silent about a rule when one of its settings is wrong in itself', () => {
    expect(load(TLS_OFF, '--auth.enabled=maybe')).toThrow(/^1 setting is wrong:\n {2}auth\.enabled = maybe/u);
  });

  it('reports a broken rule beside a setting that is wrong in itself and has nothing to do with it', () => {
    expect(load(TLS_OFF, '--auth.enabled=maybe', '--ops.port=8086')).toThrow(
      /^2 settings are wrong:\n {2}auth\.enabled = maybe[^]*\n {2}ops\.port = 8086[^]*ports of their own/u,
    );
  });

  it('reports a broken rule whatever a setting that is wrong in itself was to be, where the rule does not need it', () => {
    const open = [TLS_OFF, '--auth.enabled=false', '--grpc.host=::1', '--store.kind=redis'];
    expect(load(...open, '--store.redis.timeout_ms=soon')).toThrow(/^2 settings are wrong[^]*store\.redis\.timeout_ms[^]*store\.keys = /u);
    expect(load(...open, '--store.keys=short')).toThrow(/^1 setting is wrong:\n {2}store\.keys/u);
  });

  it.each([
    [
      'one list',
      [
        { organization_id: 'o', bots: ['a'] },
        { organization_id: 'o', bots: ['b'] },
      ],
      [{ organization_id: 'o', bots: ['a', 'b'] }],
    ],
    ['stands once', [{ organization_id: 'o', bots: ['a', 'a'] }], [{ organization_id: 'o', bots: ['a'] }]],
    [
      'is one of its bots',
      [{ organization_id: 'o', bots: ['a'], default_bot: 'b' }],
      [{ organization_id: 'o', bots: ['a'], default_bot: 'a' }],
    ],
  ])('G-07 checks the lists of organizations: %s', (rule, wrong, right) => {
    const argv = [TLS_OFF, '--auth.enabled=false', '--grpc.host=127.0.0.1'];
    expect(load(...argv, `--bots.organizations=${JSON.stringify(wrong)}`)).toThrow(rule);
    expect(load(...argv, `--bots.organizations=${JSON.stringify(right)}`)).not.toThrow();
  });
});

describe('the rules between settings of the administration', () => {
  const KEY = 'ab'.repeat(32);
  /** All that each login needs. */
  const NEEDED = {
    service_app: ['integration.client_id=i', 'integration.client_secret=x', 'service_app.client_id=s', 'service_app.client_secret=y'],
    oauth_refresh: ['oauth.client_id=i', 'oauth.client_secret=x', 'oauth.refresh_token=r'],
    static_token: ['static_token.access_token=t'],
  };
  const flags = (login: keyof typeof NEEDED, without = ''): string[] =>
    [
      ...['enabled=true', `login=${login}`, `store.keys=["${KEY}"]`, 'data_sources.url=https://voice.example.com', 'organizations=org'],
      ...NEEDED[login],
    ].flatMap((flag) => (without !== '' && flag.startsWith(without) ? [] : [`--admin.${flag}`]));
  const everyPart = (Object.keys(NEEDED) as (keyof typeof NEEDED)[]).flatMap((login) =>
    ['store.keys', 'data_sources.url', ...NEEDED[login].map((flag) => flag.split('=')[0] ?? '')].map((part) => [login, part] as const),
  );

  it.each(Object.keys(NEEDED) as (keyof typeof NEEDED)[])('are kept by everything that %s needs, without a static data source', (login) => {
    expect(load(TLS_OFF, ...flags(login))).not.toThrow();
  });

  it.each(everyPart)('with %s: refuse what lacks %s', (login, part) => {
    expect(load(TLS_OFF, ...flags(login, part))).toThrow(
      new RegExp(`^1 setting is wrong:\\n {2}admin\\.${part.replace('.', '\\.')} = `, 'u'),
    );
  });

  it('hold nothing against an administration that is off', () => {
    const off = ['--admin.data_sources.renewal_lead_minutes=1439', '--admin.data_sources.transports=[]'];
    expect(load(TLS_OFF, `--auth.data_sources=${JSON.stringify([source('a')])}`, ...off)).not.toThrow();
  });

  /** Calls over both transports, with data sources for both. */
  const OVER_BOTH = [
    '--websocket.enabled',
    '--admin.data_sources.transports=grpc,websocket',
    '--admin.data_sources.websocket_url=wss://voice.example.com',
  ];

  it.each([
    ['a lead time as long as the life', ['--admin.data_sources.token_lifetime_minutes=60'], /renewal_lead_minutes = 60/u],
    ['no transport', ['--admin.data_sources.transports=[]'], /transports = \[\]/u],
    ['a transport named twice', ['--admin.data_sources.transports=grpc,grpc'], /transports = \["grpc","grpc"\]/u],
    ['calls over WebSocket without a data source', ['--websocket.enabled'], /^1 setting is wrong:\n {2}websocket\.enabled = true/u],
    [
      'WebSocket without an address of its own',
      ['--websocket.enabled', '--admin.data_sources.transports=grpc,websocket'],
      /websocket_url = ''/u,
    ],
    [
      'WebSocket that is not served',
      ['--admin.data_sources.websocket_url=wss://voice.example.com', '--admin.data_sources.transports=websocket'],
      /transports = \["websocket"\]/u,
    ],
    [
      'an address for WebSocket with a path',
      ['--admin.data_sources.websocket_url=wss://voice.example.com/v1/va'],
      /websocket_url = wss:\/\/voice\.example\.com\/v1\/va/u,
    ],
    ['an address without TLS', ['--admin.data_sources.url=http://voice.example.com'], /data_sources\.url = http:.*must be an https/su],
    [
      'an address for WebSocket without TLS',
      ['--admin.data_sources.websocket_url=ws://voice.example.com'],
      /websocket_url = ws:.*ws:\/\/ on loopback only/su,
    ],
    ['an address for gRPC in the form of WebSocket', ['--admin.data_sources.url=wss://voice.example.com'], /data_sources\.url = wss/u],
    [
      'webhooks on the port of WebSocket',
      ['--admin.webhooks.target_url=https://a.example', '--admin.webhooks.port=8088', ...OVER_BOTH],
      /^1 setting is wrong:\n {2}admin\.webhooks\.port = 8088/u,
    ],
    ['nobody to serve', ['--admin.organizations='], /admin\.webhooks\.target_url = ''/u],
    ['webhooks on the port of the media', ['--admin.webhooks.target_url=https://a.example', '--admin.webhooks.port=8086'], /port = 8086/u],
    ['deliveries over TLS without a certificate', ['--admin.webhooks.tls=true'], /admin\.webhooks\.tls = true/u],
    ['a key of the wrong length', ['--admin.store.keys=["abcd"]'], /admin\.store\.keys\[0\] = \*{4}/u],
    ['six keys', [`--admin.store.keys=${JSON.stringify(Array.from({ length: 6 }, () => KEY))}`], /at most 5/u],
    ['deliveries without TLS', ['--admin.webhooks.target_url=http://voice.example.com/w'], /https:\/\/ address/u],
  ])('refuse %s', (_, changes, expected) => {
    expect(load(TLS_OFF, ...flags('service_app'), ...changes)).toThrow(expected);
  });

  it.each([
    ['both transports', OVER_BOTH],
    [
      'WebSocket alone',
      [
        '--admin.data_sources.transports=websocket',
        '--admin.data_sources.websocket_url=wss://voice.example.com',
        '--admin.data_sources.url=',
      ],
    ],
    [
      'webhooks on the port that WebSocket leaves free',
      ['--admin.webhooks.target_url=https://a.example', '--admin.webhooks.port=8088', '--websocket.listen=ops', ...OVER_BOTH],
    ],
  ])('W-04 are kept by data sources for %s', (_, changes) => {
    expect(load(TLS_OFF, ...flags('service_app'), '--websocket.enabled', ...changes)).not.toThrow();
  });

  it.each([['a', 'b'], []])('with tokens of its own there is one organization, not %j', (...organizations) => {
    expect(load(TLS_OFF, ...flags('static_token'), `--admin.organizations=${organizations.join(',')}`)).toThrow(/one organization/u);
  });

  it('take credentials from the variables of the platform’s own tools, which give way to ours', () => {
    const env = {
      FAKE_INTEGRATION_CLIENT_ID: 'theirs',
      FAKE_INTEGRATION_CLIENT_SECRET: 'CANARY-secret',
      FAKE_SA_CLIENT_ID: 'app',
      FAKE_SA_CLIENT_SECRET: 'CANARY-app',
      PARLEY_ADMIN_INTEGRATION_CLIENT_ID: 'ours',
    };
    const argv = [TLS_OFF, '--platform.profile=fake', ...flags('service_app').slice(0, 5)];
    const loaded = loadSettings({ argv, env, cwd: '/' });
    expect(loaded.settings.admin.integration).toMatchObject({ clientId: 'ours', clientSecret: 'CANARY-secret' });
    expect(loaded.origin('admin.service_app.client_id')).toEqual({ kind: 'environment', variable: 'FAKE_SA_CLIENT_ID' });
    const rows = JSON.stringify(describeSettings(loaded));
    expect(rows).toContain('FAKE_SA_CLIENT_SECRET');
    for (const secret of ['CANARY', KEY]) expect(rows).not.toContain(secret);
    expect(loaded.ignored).toEqual([]);
    const off = loadSettings({
      argv: [TLS_OFF, '--platform.profile=fake', '--auth.enabled=false', '--grpc.host=127.0.0.1'],
      env: { FAKE_SA_CLIENT_ID: 'app' },
    });
    expect(off.ignored).toEqual(['FAKE_SA_CLIENT_ID']);
    // Another profile has other variables.
    expect(() => loadSettings({ argv: [...argv, '--platform.profile=webex'], env, cwd: '/' })).toThrow(/admin\.service_app\.client_id/u);
  });
});
