import { describe, expect, it } from 'vitest';
import { platformAddress } from '../../../src/admin/platform-address.ts';
import { loadProfile } from '../../../src/contract/profile.ts';

const fake = loadProfile('fake');
const strict = { ...fake, rest: { ...REST(), allowLoopbackHttp: false } };

function REST() {
  if (fake.rest === undefined) throw new Error('the profile has no administration');
  return fake.rest;
}

describe('the addresses of the administration interface', () => {
  it('come from the profile', () => {
    const { baseUrl, authorizePath, tokenPath, trackingHeader } = REST();
    expect(platformAddress(fake)).toEqual({
      ...{ baseUrl, authorizeUrl: baseUrl + authorizePath, tokenUrl: baseUrl + tokenPath },
      ...{ trackingHeader, allowLoopbackHttp: true },
    });
  });

  it('may lie elsewhere, without a slash at the end', () => {
    expect(platformAddress(strict, 'https://proxy.example/v1/').tokenUrl).toBe('https://proxy.example/v1/access_token');
    expect(platformAddress(fake, 'http://127.0.0.1:1234/v1').baseUrl).toBe('http://127.0.0.1:1234/v1');
  });

  it.each([
    ['http on loopback without leave', strict, 'http://127.0.0.1:1234/v1'],
    ['http elsewhere', fake, 'http://api.example/v1'],
    ['a user', fake, 'https://user@api.example/v1'],
    ['a query', fake, 'https://api.example/v1?x=1'],
    ['no address', fake, 'api.example'],
  ])('are refused: %s', (_, profile, baseUrl) => {
    expect(() => platformAddress(profile, baseUrl)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });

  it('are not there for a platform without administration', () => {
    const { rest: _rest, ...without } = fake;
    expect(() => platformAddress(without)).toThrow(expect.objectContaining({ code: 'profile_invalid' }));
  });
});
