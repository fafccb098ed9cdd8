import { describe, expect, it } from 'vitest';
import { parseTarget, targetText } from '../../../src/fake-platform/target.ts';

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
    ['[::1]:50051', false, 'grpcs://[::1]:50051'],
    ['grpc://[2001:db8::1]:65535', false, 'grpc://[2001:db8::1]:65535'],
  ])('%s (plaintext: %s) is %s', (text, plaintext, expected) => {
    expect(targetText(parseTarget(text, plaintext))).toBe(expected);
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
    ['::1', false],
    ['[localhost]:1', false],
    ['localhost:1/path', false],
  ])('"%s" (plaintext: %s) is refused with a sentence', (text, plaintext) => {
    expect(() => parseTarget(text, plaintext)).toThrow(RangeError);
  });
});
