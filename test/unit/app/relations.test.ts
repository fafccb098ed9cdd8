import { describe, expect, it } from 'vitest';
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

  it('stays silent about a rule when one of its settings is wrong in itself', () => {
    expect(load(TLS_OFF, '--auth.enabled=maybe')).toThrow(/^1 setting is wrong:\n {2}auth\.enabled = maybe/u);
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
