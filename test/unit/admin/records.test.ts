import fc from 'fast-check';
import { UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  isActive,
  readDataSource,
  readList,
  readSchema,
  writeDataSource,
  writeDataSourceUpdate,
  type DataSourceCreate,
} from '../../../src/admin/records.ts';
import { AppError } from '../../../src/base/errors.ts';

const CLAIMS = { url: 'x.url', schema: 'x.schema', org: 'x.org' };
const SCHEMA = '5397013b-7920-4ffc-807c-e8a3e0a18f43';
const IAT = 1_729_286_177;

const TOKEN = new UnsecuredJWT({
  'x.url': 'https://bot.example/ds',
  'x.schema': SCHEMA,
  'x.org': 'org-1',
  jti: 'NONCE-1',
  iat: IAT,
  exp: IAT + 3600,
})
  .setAudience('aud-1')
  .setSubject('sub-1')
  .encode();
const FROM_TOKEN = {
  ...{ url: 'https://bot.example/ds', schemaId: SCHEMA, audience: 'aud-1', subject: 'sub-1', nonce: 'NONCE-1', orgId: 'org-1' },
  ...{ tokenLifetimeMinutes: 60, tokenExpiresAtMs: (IAT + 3600) * 1000 },
};
const WHOLE = {
  ...{ id: 'ds-1', url: 'https://a.example', schemaId: SCHEMA, audience: 'aud', subject: 'sub', nonce: 'n-1', status: 'active' },
  ...{ tokenLifetimeMinutes: 1440, errorMessage: 'none', applicationId: 'C1', orgId: 'org', createdAt: '2026-01-01T00:00:00Z' },
  ...{ createdBy: 'p-1', updatedAt: '2026-01-02T00:00:00Z' },
};

const read = (value: unknown): object => readDataSource(value, CLAIMS);

/** What it throws; nothing of the value may be in it. */
function failureOf(work: () => unknown): AppError {
  try {
    work();
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    expect(`${thrown.message} ${JSON.stringify(thrown.details)} ${String(thrown.stack)}`).not.toContain('CANARY');
    expect(thrown.cause).toBeUndefined();
    return thrown;
  }
  throw new Error('it did not fail');
}

describe('a data source as the platform sends it', () => {
  it('is read unchanged', () => {
    expect(read({ ...WHOLE, tokenExpiryTime: '2026-11-21T10:00:00Z', unknown: 1 })).toEqual({
      ...WHOLE,
      ...{ jwsToken: undefined, tokenExpiresAtMs: Date.UTC(2026, 10, 21, 10) },
    });
  });

  it.each([
    ['the schema id in a list', { schemaId: [SCHEMA] }],
    ['the lifetime as text', { tokenLifetimeMinutes: '1440' }],
    ['the lifetime under its older name', { tokenLifetimeMinutes: undefined, tokenLifeMinutes: '1440' }],
    ['the status in capitals', { status: 'ACTIVE' }],
  ])('may drift: %s (R-05)', (_, drift) => {
    expect(read({ ...WHOLE, ...drift })).toMatchObject({ schemaId: SCHEMA, tokenLifetimeMinutes: 1440, status: 'active' });
  });

  it.each(['jwsToken', 'jwtToken'])('is completed from the claims of its %s, also where fields are empty (R-05)', (name) => {
    const item = { id: 'ds-1', DataSource: '', audience: '', schemaId: [], [name]: TOKEN };
    expect(read(item)).toMatchObject({ id: 'ds-1', jwsToken: TOKEN, ...FROM_TOKEN });
  });

  it('is believed before its token', () => {
    expect(read({ ...WHOLE, jwsToken: TOKEN })).toMatchObject(WHOLE);
    expect(read({ id: 'x', tokenExpiryTime: '2026-11-21T10:00:00Z', jwsToken: TOKEN })).toMatchObject({
      tokenExpiresAtMs: Date.UTC(2026, 10, 21, 10),
    });
  });

  it.each([
    ['no time', 'soon'],
    ['a number', 7],
    ['a day without time', '2026-11-21'],
    ['no day there is', '2026-13-41T00:00:00Z'],
  ])('with an expiry that is %s has the one of its token (L-06)', (_, tokenExpiryTime) => {
    expect(read({ id: 'x', tokenExpiryTime, jwsToken: TOKEN })).toMatchObject({ tokenExpiresAtMs: (IAT + 3600) * 1000 });
    expect(read({ id: 'x', tokenExpiryTime })).toMatchObject({ tokenExpiresAtMs: undefined });
  });

  it.each(['no token', 'a.b.c', `${TOKEN.split('.')[0] ?? ''}.W10.`])(
    'with a token that cannot be read is read without it: %s',
    (jwsToken) => {
      expect(read({ id: 'x', jwsToken })).toMatchObject({ id: 'x', jwsToken, url: undefined, nonce: undefined });
    },
  );

  it('ignores claims of another type', () => {
    const jwsToken = new UnsecuredJWT({ 'x.url': 7, 'x.schema': null, jti: '', exp: 1 }).setAudience(['a', 'b']).encode();
    expect(read({ id: 'x', jwsToken })).toMatchObject({ url: undefined, schemaId: undefined, nonce: undefined, audience: undefined });
  });

  it.each([
    ['without an id', { ...WHOLE, id: undefined }],
    ['with an empty id', { ...WHOLE, id: '' }],
    ['with a number for an id', { ...WHOLE, id: 7 }],
    ['that is a text', 'CANARY'],
    ['that is nothing', null],
    ['that is a list', [WHOLE]],
  ])('is refused: one %s (L-06)', (_, value) => {
    expect(failureOf(() => read(value)).code).toBe('platform_answer_invalid');
  });

  it('is read whatever its other fields hold, and keeps only what has the right type', () => {
    const fields = [...Object.keys(WHOLE).slice(1), 'tokenExpiryTime', 'tokenLifeMinutes', 'jwsToken', 'jwtToken'];
    const junk = fc.record(Object.fromEntries(fields.map((field) => [field, fc.jsonValue()])), { requiredKeys: [] });
    fc.assert(
      fc.property(junk, fc.string({ minLength: 1, maxLength: 40 }), (value, id) => {
        const record = readDataSource({ ...value, id }, CLAIMS);
        expect(record.id).toBe(id);
        for (const [name, member] of Object.entries(record)) {
          if (member !== undefined) expect(typeof member).toBe(/Minutes|AtMs/u.test(name) ? 'number' : 'string');
        }
        // What was kept is read again as the same.
        expect(readDataSource(record, CLAIMS)).toMatchObject({ ...record, tokenExpiresAtMs: undefined });
      }),
    );
  });

  it('is active in any spelling', () => {
    expect(isActive(readDataSource({ id: 'x', status: 'Active' }, CLAIMS))).toBe(true);
    expect(isActive(readDataSource({ id: 'x', status: 'disabled' }, CLAIMS))).toBe(false);
    expect(isActive(readDataSource({ id: 'x' }, CLAIMS))).toBe(false);
  });
});

describe('a list', () => {
  it.each([
    ['wrapped', { items: [{ id: 'a' }, { id: 'b' }] }],
    ['bare', [{ id: 'a' }, { id: 'b' }]],
  ])('may be %s (R-05)', (_, value) => {
    expect(readList(value, readSchema).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it.each([
    ['without items', {}],
    ['with items that are none', { items: { id: 'a' } }],
    ['that is a text', 'CANARY'],
    ['with one entry without id', { items: [{ id: 'a' }, { url: 'CANARY' }] }],
  ])('is refused: one %s (L-06)', (_, value) => {
    expect(failureOf(() => readList(value, readSchema)).code).toBe('platform_answer_invalid');
  });
});

describe('a data source that is written', () => {
  const create: DataSourceCreate = {
    ...{ audience: 'a', subject: 's', nonce: 'CANARY-NONCE', schemaId: SCHEMA, url: 'https://bot.example/v1' },
    tokenLifetimeMinutes: 1440,
  };

  it('has all six fields and no other (R-01)', () => {
    expect(writeDataSource(create)).toEqual(create);
    for (const field of Object.keys(create)) {
      expect(failureOf(() => writeDataSource({ ...create, [field]: undefined })).message).toContain(field);
    }
    expect(failureOf(() => writeDataSource({ ...create, ...{ extra: 1 } })).code).toBe('config_invalid');
  });

  it.each([0, 1441, 1.5, NaN, '60'])('has a token that lives 1 to 1440 whole minutes, not %s (J-01)', (tokenLifetimeMinutes) => {
    // A configuration can hold anything before it is checked.
    const wrong = Object.assign({}, create, { tokenLifetimeMinutes });
    expect(failureOf(() => writeDataSource(wrong)).message).toMatch(/tokenLifetimeMinutes/u);
    expect(failureOf(() => writeDataSourceUpdate(wrong)).message).toMatch(/tokenLifetimeMinutes/u);
  });

  it('has an address', () => {
    expect(failureOf(() => writeDataSource({ ...create, url: 'CANARY' })).message).toMatch(/url must be an address/u);
  });

  it('changes only what is given (R-02)', () => {
    expect(writeDataSourceUpdate({ nonce: 'n' })).toEqual({ nonce: 'n' });
    expect(failureOf(() => writeDataSourceUpdate({})).message).toMatch(/changes nothing/u);
  });

  it('is disabled only with a reason (R-03)', () => {
    expect(failureOf(() => writeDataSourceUpdate({ status: 'disabled' })).message).toMatch(/errorMessage/u);
    expect(writeDataSourceUpdate({ status: 'disabled', errorMessage: 'maintenance' })).toEqual({
      ...{ status: 'disabled', errorMessage: 'maintenance' },
    });
    expect(writeDataSourceUpdate({ status: 'active' })).toEqual({ status: 'active' });
  });
});
