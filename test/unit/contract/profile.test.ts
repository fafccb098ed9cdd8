import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { AppError } from '../../../src/base/errors.ts';
import { packageRoot } from '../../../src/base/package-root.ts';
import { loadProfile, parseProfile } from '../../../src/contract/profile.ts';

const FOLDER = path.join(packageRoot(), 'config/platforms');
const SHIPPED = readdirSync(FOLDER).map((file) => file.slice(0, -'.yaml'.length));
const FIXTURES = path.join(import.meta.dirname, '../../fixtures/contract');

const VALID = readFileSync(path.join(FOLDER, 'fake.yaml'), 'utf8');

/** The valid profile with one key set, or taken out. */
function changed(key: string, value?: unknown): string {
  const document = parseDocument(VALID);
  if (value === undefined) document.deleteIn(key.split('.'));
  else document.setIn(key.split('.'), value);
  return document.toString();
}

/** The problem lines of the refusal. */
function problems(text: string): string[] {
  try {
    parseProfile(text, 'here');
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'profile_invalid' });
    const lines = (error as AppError).message.split('\n');
    expect(lines[0]).toContain('the platform profile here has');
    expect((error as AppError).details['problems']).toBe(lines.length - 1);
    return lines.slice(1);
  }
  return [];
}

describe('shipped profiles', () => {
  it.each(SHIPPED)('%s is a valid profile and is frozen', (name) => {
    const profile = loadProfile(name);
    expect(Object.isFrozen(profile)).toBe(true);
    for (const section of Object.values(profile)) expect(Object.isFrozen(section)).toBe(true);
    expect(Object.isFrozen(profile.jws.issuers)).toBe(true);
    expect(Object.isFrozen(profile.jws.claims)).toBe(true);
  });

  it.each(SHIPPED)('%s explains every section with a comment above it', (name) => {
    const lines = readFileSync(path.join(FOLDER, `${name}.yaml`), 'utf8').split('\n');
    const sections = lines.flatMap((line, index) => (/^\w+:/.test(line) ? [{ line, above: lines[index - 1] ?? '' }] : []));
    expect(sections.length).toBeGreaterThan(5);
    for (const { line, above } of sections) expect(above, line).toMatch(/^# /);
  });

  // Both sides of our own tests use the same profile, so a wrong name in it would not show anywhere else.
  it.each(SHIPPED)('%s has the values that were written down independently of it', (name) => {
    const expected = JSON.parse(readFileSync(path.join(FIXTURES, `${name}.json`), 'utf8')) as object;
    expect(loadProfile(name)).toEqual(expected);
  });

  it('J-12 only the fake platform takes tokens of an issuer without TLS', () => {
    expect(SHIPPED.filter((name) => loadProfile(name).jws.allowLoopbackHttpIssuers)).toEqual(['fake']);
  });
});

describe('parseProfile', () => {
  it('takes what it should', () => {
    expect(problems(VALID)).toEqual([]);
    expect(problems(changed('jws.issuers', ['http://127.0.0.1:8080', 'https://issuer.example/x']))).toEqual([]);
    expect(problems(changed('websocket'))).toEqual([]);
  });

  it.each([
    ['name', '', '- name is "": give the name of the platform'],
    ['name', 7, '- name is 7: give the name'],
    ['name', undefined, '- name is missing: give the name'],
    ['proto', undefined, '- proto is missing: give a section of keys'],
    ['proto', 'x', '- proto is "x": give a section of keys'],
    ['proto.mediaPackage', 'a..b', '- proto.mediaPackage is "a..b": name the protobuf package'],
    ['proto.mediaService', 'a b', '- proto.mediaService is "a b": name the media service'],
    ['metadata.authorization', 'Authorization', '- metadata.authorization is "Authorization": name the gRPC metadata key'],
    ['jws.claims.org', undefined, '- jws.claims.org is missing: name the claim'],
    ['jws.keySetSuffix', 'keys', '- jws.keySetSuffix is "keys": give the path'],
    ['jws.allowLoopbackHttpIssuers', 'yes', '- jws.allowLoopbackHttpIssuers is "yes": say true or false'],
    ['jws.issuers', 'https://a.example', '- jws.issuers is "https://a.example": give a list'],
    ['jws.issuers', ['https://a.example', 'https://a.example/'], '- jws.issuers.1 is "https://a.example/": give it exactly'],
    [
      'schemas.grpc',
      '5397013B-7920-4FFC-807C-E8A3E0A18F43',
      '- schemas.grpc is "5397013B-7920-4FFC-807C-E8A3E0A18F43": give the schema id',
    ],
    ['rest', { baseUrl: 'https://a.example' }, '- rest.authorizePath is missing: give the path'],
    ['jws.issuer', 'https://a.example', '- jws.issuer is not a key of a profile: remove it or correct its spelling'],
    ['colour', 'red', '- colour is not a key of a profile'],
  ])('refuses %s = %j and says how to mend it', (key, value, problem) => {
    const found = problems(changed(key, value));
    expect(
      found.some((line) => line.startsWith(problem)),
      found.join('\n'),
    ).toBe(true);
  });

  it('lists all problems at once', () => {
    const document = parseDocument(VALID);
    document.deleteIn(['name']);
    document.setIn(['jws', 'issuers'], ['ftp://a', 'https://b.example/']);
    document.setIn(['jws', 'claims', 'url'], '');
    document.setIn(['schemas', 'grpc'], 'none');
    document.setIn(['extra'], 1);
    expect(
      problems(document.toString())
        .map((line) => line.split(' ')[1])
        .sort(),
    ).toEqual(['extra', 'jws.claims.url', 'jws.issuers.0', 'jws.issuers.1', 'name', 'schemas.grpc'].sort());
  });

  it('J-13 refuses a plain http issuer when the profile does not allow it', () => {
    const document = parseDocument(VALID);
    document.setIn(['jws', 'issuers'], ['http://127.0.0.1:8080']);
    document.setIn(['jws', 'allowLoopbackHttpIssuers'], false);
    expect(problems(document.toString())).toEqual([expect.stringContaining('jws.issuers.0')]);
  });

  it.each(['', '[]', 'text', '7', 'null'])('refuses %j, which is no profile at all', (text) => {
    expect(problems(text)).toEqual([expect.stringContaining('the file is')]);
  });

  it('names the line of what is no YAML', () => {
    expect(problems('name: a\nname: b\nproto: [1\njws: 2')).toEqual(expect.arrayContaining([expect.stringMatching(/^- line 2: /)]));
  });

  it('refuses YAML that unfolds itself without end', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]', 'b: &b [*a,*a,*a,*a,*a,*a,*a,*a]', 'c: [*b,*b,*b,*b,*b,*b,*b,*b]'].join('\n');
    expect(problems(bomb)).toEqual([expect.stringContaining('too many YAML aliases')]);
  });

  it('keeps the list short when everything is wrong', () => {
    const keys = Array.from({ length: 200 }, (_, index) => `key${String(index)}: 1`).join('\n');
    try {
      parseProfile(keys, 'here');
      expect.unreachable();
    } catch (error) {
      expect((error as AppError).message.split('\n')).toHaveLength(52);
      expect((error as AppError).message).toMatch(/… and \d+ more$/);
    }
  });
});

describe('issuers of a profile', () => {
  /** Whether a profile may list this issuer. */
  const may = (issuer: string, allowLoopbackHttpIssuers: boolean): boolean => {
    const document = parseDocument(VALID);
    document.setIn(['jws', 'issuers'], [issuer]);
    document.setIn(['jws', 'allowLoopbackHttpIssuers'], allowLoopbackHttpIssuers);
    const found = problems(document.toString());
    expect(found.every((line) => line.startsWith('- jws.issuers.0 is '))).toBe(true);
    return found.length === 0;
  };

  it.each(['https://issuer.example', 'https://issuer.example/idb', 'https://issuer.example:8443/a/b', 'https://127.0.0.1/x'])(
    'J-12 may hold %s',
    (issuer) => {
      expect(may(issuer, false)).toBe(true);
    },
  );

  it.each([
    'http://issuer.example',
    'https://issuer.example/',
    'https://Issuer.example',
    'https://user@issuer.example',
    'https://issuer.example?x',
    'https://issuer.example#x',
    'https://issuer.example/a b',
    'https://issuer.example\n',
    'issuer.example',
    '',
    'http://127.0.0.1.example:80',
    'http://localhost.example:80',
    'http://10.0.0.1:80',
    'http://127.0.0.1@evil.example:80',
  ])('J-13 may not hold %j, whatever the profile allows', (issuer) => {
    expect(may(issuer, false)).toBe(false);
    expect(may(issuer, true)).toBe(false);
  });

  it.each(['http://127.0.0.1:4000', 'http://localhost:4000/idb'])('J-13 may hold %s only where loopback issuers are allowed', (issuer) => {
    expect(may(issuer, true)).toBe(true);
    expect(may(issuer, false)).toBe(false);
  });
});

describe('the base address of the administration interface', () => {
  /** Whether a profile may have it. */
  const may = (baseUrl: string, allowLoopbackHttp?: boolean): boolean => {
    const document = parseDocument(VALID);
    document.setIn(['rest', 'baseUrl'], baseUrl);
    if (allowLoopbackHttp === undefined) document.deleteIn(['rest', 'allowLoopbackHttp']);
    else document.setIn(['rest', 'allowLoopbackHttp'], allowLoopbackHttp);
    const found = problems(document.toString());
    expect(found.every((line) => line.startsWith('- rest.baseUrl is '))).toBe(true);
    return found.length === 0;
  };

  it('may be https, and http on loopback only where the profile says so', () => {
    expect(may('https://api.example/v1')).toBe(true);
    expect(may('http://127.0.0.1:8788/v1', true)).toBe(true);
    expect(may('http://127.0.0.1:8788/v1', false)).toBe(false);
    expect(may('http://127.0.0.1:8788/v1')).toBe(false);
  });

  it.each(['http://api.example:80/v1', 'https://api.example/v1/', 'http://127.0.0.1/v1', 'api.example', ''])('may not be %j', (baseUrl) => {
    expect(may(baseUrl, true)).toBe(false);
  });

  it('is without TLS for the fake platform only', () => {
    expect(SHIPPED.filter((name) => loadProfile(name).rest?.allowLoopbackHttp === true)).toEqual(['fake']);
  });
});

describe('loadProfile', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'parley-profile-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const refusal = expect.objectContaining({ code: 'profile_invalid' }) as Error;

  it('takes the path of a file', () => {
    const file = path.join(folder, 'own.yaml');
    writeFileSync(file, changed('name', 'Own platform'));
    expect(loadProfile(file).name).toBe('Own platform');
    expect(loadProfile(path.relative(process.cwd(), file)).name).toBe('Own platform');
  });

  it('says which profiles there are when there is none of that name', () => {
    expect(() => loadProfile('nobody')).toThrow(refusal);
    expect(() => loadProfile('nobody')).toThrow(`name one of ${SHIPPED.join(', ')}`);
  });

  it('refuses a folder and a file that is no profile by its size', () => {
    expect(() => loadProfile(folder)).toThrow(refusal);
    const file = path.join(folder, 'long.yaml');
    writeFileSync(file, `${VALID}\n# ${'x'.repeat(65_536)}\n`);
    expect(() => loadProfile(file)).toThrow('longer than 65536 bytes');
  });
});
