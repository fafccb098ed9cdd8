// The metrics page of a server, and its course over time.
import { describe, expect, it } from 'vitest';
import type { SendRequest } from '../../../../src/base/http-exchange.ts';
import { SecondSeries } from '../../../../src/fake-platform/load/second-series.ts';
import { sampleServer, sampleFailure } from '../../../../src/fake-platform/load/server-metrics.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const PAGE = `# HELP process_cpu_seconds_total CPU
process_cpu_seconds_total 12.5
process_resident_memory_bytes 104857600 1800000000000
parley_sessions_open{bot="a"} 3
parley_sessions_open{bot="b"} 4
`;
const clock = new FakeClock();
const look = (page: string, status = 200) => {
  const send: SendRequest = () => Promise.resolve(new Response(page, { status }));
  return sampleServer('http://127.0.0.1/metrics', clock, send, new AbortController().signal);
};

describe('the metrics page of a server', () => {
  it('says CPU, memory and open calls, all bots together', async () => {
    expect(await look(PAGE)).toEqual({ cpuSeconds: 12.5, residentBytes: 104_857_600, sessions: 7, sampledAtMs: 0 });
    // Other servers have no such calls.
    expect((await look(PAGE.replaceAll('parley', 'other'))).sessions).toBeUndefined();
  });

  it('is refused with words when it is none', async () => {
    await expect(look('<html>')).rejects.toThrow('the page has no process_cpu_seconds_total');
    await expect(look('', 503).catch((error: unknown) => Promise.reject(new Error(sampleFailure(error))))).rejects.toThrow(
      'failed (status 503)',
    );
    expect(sampleFailure('nothing')).toBe('cannot be read');
  });
});

describe('the course of a run', () => {
  it('has one stretch a second, and longer ones for a long run', () => {
    expect(new SecondSeries(60_000).stretchMs).toBe(1000);
    expect(new SecondSeries(24 * 3_600_000).stretchMs).toBe(72_000);
  });

  it('makes the CPU of the time between two looks', () => {
    const series = new SecondSeries(10_000);
    const first = { cpuSeconds: 10, residentBytes: 2 ** 20, sessions: 1, sampledAtMs: 0 };
    const second = { cpuSeconds: 11, residentBytes: 2 ** 21, sessions: 2, sampledAtMs: 2000 };
    series.addServer(first, undefined, 100);
    series.addServer(second, first, 2100);
    expect(series.seconds.map(({ serverCpu, serverMb, serverSessions }) => [serverCpu, serverMb, serverSessions])).toEqual([
      [null, 1, 1],
      [null, null, null],
      [0.5, 2, 2],
    ]);
    expect(series.serverBetween(0, 10_000)).toEqual({ cpuMean: 0.5, cpuMax: 0.5, memoryMaxMb: 2 });
    expect(series.serverBetween(0, 1000)).toBeNull();
  });

  it('takes all looks of a long stretch, and the most memory of them', () => {
    const series = new SecondSeries(24 * 3_600_000);
    const looks = [0, 1, 2, 3, 4].map((index) => ({
      // Busy for the first half of the stretch only.
      cpuSeconds: Math.min(index, 2) * 10,
      residentBytes: (index === 1 ? 9 : 1) * 2 ** 20,
      sessions: index,
      sampledAtMs: index * 10_000,
    }));
    for (const [index, look] of looks.entries()) series.addServer(look, looks[index - 1], look.sampledAtMs);
    expect(series.seconds).toMatchObject([{ serverCpu: 0.5, serverMb: 9, serverSessions: 4 }]);
    expect(series.serverBetween(0, 72_000)).toEqual({ cpuMean: 0.5, cpuMax: 0.5, memoryMaxMb: 9 });
  });

  it('keeps the order of waits, and no more, however many there are', () => {
    const series = new SecondSeries(10_000);
    for (let wait = 1; wait <= 1000; wait += 1) series.addWait({ kind: 'first_audio', fromMs: 500, waitedMs: wait });
    series.addWait({ kind: 'key_reply', fromMs: 1500, waitedMs: 40 });
    const [first, second] = series.seconds;
    // Known to two digits.
    expect(Math.abs((first?.firstAudioP50 ?? 0) - 500)).toBeLessThan(10);
    expect(Math.abs((first?.firstAudioP99 ?? 0) - 990)).toBeLessThan(15);
    expect(Math.abs((first?.firstAudioMax ?? 0) - 1000)).toBeLessThan(15);
    expect([first?.replyP50, second?.firstAudioMax]).toEqual([null, null]);
    expect(Math.abs((second?.replyMax ?? 0) - 40)).toBeLessThan(1);
  });
});
