import { describe, expect, it } from 'vitest';
import { CallClock } from '../../../../src/fake-platform/caller/call-clock.ts';
import { Findings } from '../../../../src/fake-platform/caller/finding.ts';
import { Timeline, type TimelineEvent } from '../../../../src/fake-platform/caller/timeline.ts';
import { timelineText } from '../../../../src/fake-platform/caller/result-text.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

describe('the timeline', () => {
  it('notes who did what at which whole ms of the call, and passes it on at once', () => {
    const clock = new FakeClock();
    clock.advance(5000);
    const seen: TimelineEvent[] = [];
    const timeline = new Timeline(new CallClock(clock), (event) => {
      seen.push(event);
    });
    clock.advance(12.4);
    timeline.add('server', 'prompt', { turn: 1, detail: '1.0 s', latencyMs: 12.4 });
    timeline.add('caller', 'presses', { detail: '' });
    expect(timeline.events).toEqual([
      { atMs: 12, who: 'server', what: 'prompt', turn: 1, detail: '1.0 s', latencyMs: 12 },
      { atMs: 12, who: 'caller', what: 'presses' },
    ]);
    expect(seen).toEqual(timeline.events);
  });

  it('stops growing when a server floods', () => {
    const timeline = new Timeline(new CallClock(new FakeClock()));
    for (let index = 0; index < 20_000; index += 1) timeline.add('server', 'custom_event');
    expect(timeline.events).toHaveLength(10_000);
  });

  it('writes aligned lines', () => {
    const line = timelineText(false);
    expect(line({ atMs: 41, who: 'server', what: 'prompt', turn: 1, detail: '"Hi", 3.2 s', latencyMs: 38 })).toBe(
      '   0.041  server    prompt          #1    "Hi", 3.2 s  +38 ms',
    );
    expect(line({ atMs: 125_000, who: 'caller', what: 'hangs_up' })).toBe(' 125.000  caller    hangs up');
  });

  it('colours lines only where it is asked to', () => {
    const event: TimelineEvent = { atMs: 0, who: 'caller', what: 'speaks' };
    expect(timelineText(true)(event)).toContain('\u001B[');
    expect(timelineText(false)(event)).not.toContain('\u001B[');
  });

  it("lets no server's words command the terminal", () => {
    const text = timelineText(false)({ atMs: 0, who: 'server', what: 'prompt', detail: 'a\u001B[2Jb\r\nc\u0007' + 'x'.repeat(1000) });
    expect(text).toMatch(/a \[2Jb c x+$/u);
    expect(text.length).toBeLessThan(500);
  });
});

describe('findings', () => {
  it('keeps each kind once per RPC, in order, and not without end', () => {
    const findings = new Findings();
    const finding = { code: 'chunk_size', rule: 'G-42', message: '', atMs: 0, fatal: false } as const;
    findings.add({ ...finding, turn: 1 });
    findings.add({ ...finding, turn: 1 });
    findings.add({ ...finding, turn: 2 });
    expect(findings.all.map(({ turn }) => turn)).toEqual([1, 2]);
    for (let turn = 3; turn < 1000; turn += 1) findings.add({ ...finding, turn });
    expect(findings.all).toHaveLength(200);
  });
});
