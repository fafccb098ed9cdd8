import { describe, expect, it } from 'vitest';
import type { WantedDataSource } from '../../../src/admin/lifecycle/ports.ts';
import { watchedDataSource } from '../../../src/app/watched-data-source.ts';
import { AppError, ERROR_MENDS, type ErrorCode } from '../../../src/base/errors.ts';

const MINUTE = 60_000;
const NOW = 1_800_000_000_000;
const TIMES = { leadMs: 60 * MINUTE, retryMs: MINUTE, checkMs: 15 * MINUTE };
const wanted: WantedDataSource = {
  ...{ organizationId: 'org', url: 'https://voice.example.org', schemaId: 'schema', audience: 'aud', subject: 'sub' },
  ...{ transport: 'grpc', tokenLifetimeMinutes: 1440 },
};
const WELL = { wanted, dataSourceId: 'id', expiresAtMs: NOW + 600 * MINUTE, isServed: true, error: undefined, wellAtMs: NOW };

const WATCH = { times: TIMES, nowMs: NOW, isStoreWritable: true };

const alarms = (change: Partial<Parameters<typeof watchedDataSource>[0]>): boolean =>
  watchedDataSource({ ...WELL, ...change }, WATCH).isAlarming;

describe('a watched data source', () => {
  it('does not alarm while it is well', () => {
    expect(watchedDataSource(WELL, WATCH)).toEqual({
      ...{ organizationId: 'org', transport: 'grpc', dataSourceId: 'id', isServed: true, expiresAtMs: NOW + 600 * MINUTE },
      ...{ lifetimeMs: 1440 * MINUTE, wellAtMs: NOW, error: undefined, isAlarming: false },
    });
  });

  it('alarms while a restart would not know its nonces, because the store cannot be written', () => {
    expect(watchedDataSource(WELL, { ...WATCH, isStoreWritable: false }).isAlarming).toBe(true);
  });

  it('alarms at once for what only people can mend, long before the token ends', () => {
    const waking = (Object.keys(ERROR_MENDS) as ErrorCode[]).filter((code) => alarms({ error: new AppError(code, 'no') }));
    expect(waking.sort()).toEqual([
      ...['authorization_needed', 'config_invalid', 'data_source_unclear', 'login_needed', 'org_not_registered', 'platform_refused'],
    ]);
  });

  it.each([
    ['its token is overdue', { expiresAtMs: NOW + 30 * MINUTE }, { expiresAtMs: NOW + 30 * MINUTE + 1 }],
    ['no look has gone well for three intervals', { wellAtMs: NOW - 45 * MINUTE }, { wellAtMs: NOW - 45 * MINUTE + 1 }],
    ['calls cannot come in', { isServed: false }, { expiresAtMs: undefined }],
  ])('alarms when %s, and not before', (_, then, before) => {
    expect([alarms(then), alarms(before)]).toEqual([true, false]);
  });
});
