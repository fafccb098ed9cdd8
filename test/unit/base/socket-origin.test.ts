import { describe, expect, it } from 'vitest';
import { isSocketOrigin } from '../../../src/base/socket-origin.ts';

describe('isSocketOrigin', () => {
  it.each([
    ['wss://voice.example.com', true],
    ['wss://voice.example.com:8443', true],
    ['wss://voice.example.com:443', true],
    ['WSS://Voice.example.com', true],
    ['wss://[2001:db8::1]:8443', true],
    ['ws://127.0.0.1:8088', true],
    ['wss://voice.example.com/', false],
    ['wss://voice.example.com/v1/va', false],
    ['wss:\\\\voice.example.com', false],
    ['wss://voice.example.com?a=b', false],
    ['wss://voice.example.com#a', false],
    ['wss://user@voice.example.com', false],
    ['wss://voice.example.com:port', false],
    ['wss://voice.example.com ', false],
    ['wss://', false],
    ['wss:voice.example.com', false],
    ['https://voice.example.com', false],
    ['voice.example.com', false],
    ['', false],
  ])('W-03 judges %j: %s', (text, expected) => {
    expect(isSocketOrigin(text)).toBe(expected);
  });
});
