// What a server does when its file descriptors run out. The kernel is played, the time too.
import { expect, it } from 'vitest';
import { DescriptorWatch, warnOfFewDescriptors } from '../../../src/app/descriptor-watch.ts';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { Descriptors } from '../../../src/base/descriptors.ts';
import { createLogger } from '../../../src/base/log.ts';
import { Readiness } from '../../../src/ops/readiness.ts';
import { FakeClock } from '../../support/fake-clock.ts';

type Line = Readonly<Record<string, unknown>>;

function logged(): { readonly lines: Line[]; readonly log: ReturnType<typeof createLogger> } {
  const lines: Line[] = [];
  return {
    lines,
    log: createLogger({ level: 'info', destination: { write: (line: string) => void lines.push(JSON.parse(line) as Line) } }),
  };
}

it('is not ready and takes no connection while they are short, and says each of it once, whatever comes', () => {
  const clock = new FakeClock();
  const { lines, log } = logged();
  const readiness = new Readiness();
  readiness.started();
  let used = 900;
  const descriptors = new Descriptors({ limit: () => 1000, used: () => used, counted: () => used });
  const watch = new DescriptorWatch({ descriptors, readiness, clock, log });
  expect(watch.mayTake()).toBe(true);
  used = 960;
  for (let count = 0; count < 100; count += 1) expect(watch.mayTake()).toBe(false);
  expect(readiness.current).toEqual({ ready: false, reasons: ['descriptors'] });
  expect(lines).toMatchObject([
    { level: 'error', event: 'descriptors_short', limit: 1000, used: 960 },
    { level: 'warn', closed: 1 },
  ]);
  used = 940;
  clock.advance(3000);
  expect(watch.mayTake()).toBe(true);
  expect(readiness.current.ready).toBe(false);
  used = 900;
  clock.advance(1000);
  expect(readiness.current.ready).toBe(true);
  expect(lines).toHaveLength(3);
  used = 1000;
  clock.advance(1000);
  expect(readiness.current.ready).toBe(false);
  watch.close();
  expect(clock.pendingTimers).toBe(0);
});

it('stays not ready, and says it once, where only the lowest free descriptor is known and one low one comes and goes', () => {
  const clock = new FakeClock();
  const { lines, log } = logged();
  const readiness = new Readiness();
  readiness.started();
  let [used, counted] = [960, 960];
  const descriptors = new Descriptors({ limit: () => 1000, used: () => used, counted: () => counted });
  const watch = new DescriptorWatch({ descriptors, readiness, clock, log });
  for (let second = 0; second < 10; second += 1) {
    clock.advance(1000);
    used = used === 960 ? 17 : 960;
    expect(readiness.current.ready).toBe(false);
  }
  expect(lines).toHaveLength(1);
  [used, counted] = [17, 800];
  clock.advance(1000);
  expect(readiness.current.ready).toBe(true);
  expect(lines).toMatchObject([{ event: 'descriptors_short' }, { event: 'descriptors_there', used: 800 }]);
  watch.close();
});

it('warns at the start when the limits of the settings need more than there may be, and not otherwise', () => {
  const { lines, log } = logged();
  const { settings } = loadSettings({
    argv: ['--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1', '--grpc.max_connections=1000'],
  });
  warnOfFewDescriptors(new Descriptors({ limit: () => 1024, used: () => 40, counted: () => 40 }), settings, log);
  expect(lines).toMatchObject([{ level: 'warn', event: 'descriptors_few', limit: 1024, needed: 1291 }]);
  warnOfFewDescriptors(new Descriptors({ limit: () => 4096, used: () => 40, counted: () => 40 }), settings, log);
  expect(lines).toHaveLength(1);
});
