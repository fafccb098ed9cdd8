import { describe, expect, it } from 'vitest';
import { parseTarget, targetText } from '../../../../src/fake-platform/lines/target.ts';

describe('a target', () => {
  it.each([
    ['bots.example.org:50051', false, 'grpcs://bots.example.org:50051'],
    ['bots.example.org', false, 'grpcs://bots.example.org:443'],
    ['grpcs://bots.example.org', false, 'grpcs://bots.example.org:443'],
    ['grpcs://bots.example.org:8443/', false, 'grpcs://bots.example.org:8443'],
    ['grpc://127.0.0.1:50051', false, 'grpc://127.0.0.1:50051'],
    ['GRPC://localhost:1', false, 'grpc://localhost:1'],
    ['localhost:50051', true, 'grpc://localhost:50051'],
    ['grpc://localhost:50051', true, 'grpc://localhost:50051'],
    ['wss://bots.example.org', false, 'wss://bots.example.org:443'],
    ['ws://127.0.0.1:8088/', false, 'ws://127.0.0.1:8088'],
    ['ws://127.0.0.1:8088', true, 'ws://127.0.0.1:8088'],
    ['WSS://bots.example.org:8443/voice/bots/', false, 'wss://bots.example.org:8443/voice/bots'],
    ['[::1]:50051', false, 'grpcs://[::1]:50051'],
    ['grpc://[2001:db8::1]:65535', false, 'grpc://[2001:db8::1]:65535'],
  ])('%s (plaintext: %s) is %s', (text, plaintext, expected) => {
    expect(targetText(parseTarget(text, plaintext))).toBe(expected);
  });

  it('W-02 of a WebSocket server may have a path before those of the contract', () => {
    expect(parseTarget('wss://bots.example.org/voice')).toEqual({
      transport: 'websocket',
      host: 'bots.example.org',
      port: 443,
      isSecure: true,
      pathPrefix: '/voice',
    });
    expect(parseTarget('wss://bots.example.org/')).not.toHaveProperty('pathPrefix');
  });

  it.each([
    ['', false],
    ['https://localhost:443', false],
    ['localhost:', false],
    ['localhost:0', false],
    ['localhost:65536', false],
    ['local host:1', false],
    ['grpc://localhost', false],
    ['localhost', true],
    ['grpcs://localhost:1', true],
    ['ws://localhost', false],
    ['wss://localhost:1', true],
    ['ws://localhost:1?token=x', false],
    ['grpc://localhost:1/path', false],
    ['ws://a^b:80', false],
    ['ws://localhost#x:80', false],
    ['ws://user@localhost:80', false],
    ['ws://localhost?x=1:80', false],
    ['ws://256.1.1.1:80', false],
    ['grpc://user@localhost:1', false],
    ['::1', false],
    ['[localhost]:1', false],
    ['localhost:1/path', false],
  ])('"%s" (plaintext: %s) is refused with a sentence', (text, plaintext) => {
    expect(() => parseTarget(text, plaintext)).toThrow(RangeError);
  });

  it.each(['ws://user:hunter2@host:1', 'hunter2@host:1', 'grpcs://user:hunter2@host'])('repeats no password of %s', (text) => {
    expect(() => parseTarget(text)).toThrow(/is no target/u);
    expect(() => parseTarget(text)).not.toThrow(/hunter2/u);
  });
});
