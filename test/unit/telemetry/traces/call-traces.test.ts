// The spans of a call, from what observers are told.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { CallTraces, type CallTracesOptions } from '../../../../src/telemetry/traces/call-traces.ts';
import { ATTRIBUTES, SPANS } from '../../../../src/telemetry/traces/conventions.ts';
import type { Span } from '../../../../src/telemetry/traces/span.ts';
import { callFacts, notifyAll, REPORT } from '../../../support/call-events.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const START_MS = 1_800_000_000_000;
const call = callFacts({ startedAtMs: START_MS });

function traced(options: Partial<CallTracesOptions> = {}) {
  const clock = new FakeClock(START_MS);
  const spans: Span[] = [];
  const traces = new CallTraces({ clock, share: 1, hasContent: false, write: (span) => spans.push(span), ...options });
  const named = (name: string): Span | undefined => spans.find((span) => span.name === name);
  /** Times of a span since the start of the call, ms. */
  const times = (name: string): readonly number[] => [named(name)?.startMs, named(name)?.endMs].map((ms = 0) => ms - START_MS);
  return { clock, spans, traces, named, times };
}

describe('the spans of a call', () => {
  it('are the call, its turn, and what the turn waited for, with their times', () => {
    const { clock, spans, traces, named, times } = traced();
    traces.sessionStarted(call);
    clock.advance(1000);
    traces.turnStarted(call, 't', 'tracking', 'grpc');
    clock.advance(800);
    traces.speechEnded(call, 't');
    clock.advance(60);
    traces.recognized(call, 't', 'words', 60);
    traces.botAsked(call, 't', 'speech_input');
    clock.advance(900);
    const calls = [
      { model: 'small', atMs: -200, ms: 500, failure: 'late' as const },
      { model: 'large', atMs: 350, ms: 550, tokensIn: 100, tokensOut: 20 },
    ];
    traces.modelReported(call, 't', { ...REPORT, ms: 900, calls, tools: [{ name: 'book', atMs: 300, ms: 50, ok: false }] });
    traces.botAnswered(call, 't', 900);
    clock.advance(40);
    traces.replyStarted(call, 't', 1000.4, 40);
    clock.advance(1000);
    traces.turnEnded(call, 't', 'replied');
    clock.advance(10);
    traces.sessionEnded(call, 'caller');
    expect(Object.fromEntries(spans.map(({ name }) => [name, times(name)]))).toEqual({
      call: [0, 3810],
      turn: [1000, 3800],
      recognition: [1800, 1860],
      'chat small': [1660, 2160],
      'chat large': [2210, 2760],
      'execute_tool book': [2160, 2210],
      bot: [1860, 2760],
      synthesis: [2760, 2800],
    });
    const [whole, turn] = [named('call'), named('turn')];
    expect([whole?.parentId, turn?.parentId]).toEqual([undefined, whole?.spanId]);
    for (const span of spans.filter((each) => each !== whole && each !== turn)) expect(span.parentId, span.name).toBe(turn?.spanId);
    expect(whole?.attributes).toEqual({
      ...{ [ATTRIBUTES.organization]: 'org', [ATTRIBUTES.conversation]: 'conv', [ATTRIBUTES.bot]: 'echo' },
      ...{ [ATTRIBUTES.transport]: 'grpc', [ATTRIBUTES.outcome]: 'caller' },
    });
    expect(turn).toMatchObject({
      attributes: { [ATTRIBUTES.tracking]: 'tracking', [ATTRIBUTES.outcome]: 'replied', [ATTRIBUTES.latency]: 1000 },
      events: [{ name: 'input_ended' }, { name: 'reply_started' }],
    });
    expect(named('chat large')?.attributes).toEqual({
      ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'large' },
      ...{ 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 20 },
    });
    expect(spans.flatMap(({ name, failure }) => (failure === undefined ? [] : [[name, failure]]))).toEqual([
      ['chat small', 'late'],
      ['execute_tool book', 'tool_failed'],
    ]);
  });

  it('stay within a turn that the caller left while the bot still thought', () => {
    const { clock, spans, traces, times } = traced();
    traces.sessionStarted(call);
    traces.turnStarted(call, 't');
    traces.botAsked(call, 't', 'speech_input');
    clock.advance(500);
    traces.sessionEnded(call, 'caller');
    expect(spans).toEqual([]);
    traces.turnEnded(call, 't', 'hang_up');
    clock.advance(300);
    traces.modelReported(call, 't', { ...REPORT, ms: 800, calls: [{ model: 'm', atMs: 100, ms: 700 }], tools: [] });
    traces.botAnswered(call, 't', 800);
    expect([times('turn'), times('chat m'), times('bot'), times('call')]).toEqual([
      [0, 500],
      [100, 500],
      [0, 500],
      [0, 500],
    ]);
    // Nothing is kept of the turn.
    traces.botAnswered(call, 't', 800);
    expect(spans).toHaveLength(4);
  });

  it('have the code of a failure, and neither span nor attribute for numbers that are none', () => {
    const { spans, traces, named } = traced();
    traces.sessionStarted(call);
    traces.turnStarted(call, 't');
    traces.modelReported(call, 't', { ...REPORT, calls: [{ model: 'm', atMs: Number.NaN, ms: 1 }], tools: [] });
    const tokens = { tokensIn: Number.NaN, tokensOut: Infinity };
    traces.modelReported(call, 't', { ...REPORT, calls: [{ model: 'm', atMs: 0, ms: 1, ...tokens }], tools: [] });
    traces.recognized(call, 't', 'failed', 10);
    traces.botFailed(call, 't', new AppError('bot_timeout', 'x'));
    traces.turnEnded(call, 't', 'failed');
    traces.sessionEnded(call, 'failed');
    expect(spans.map(({ name }) => name)).toEqual(['turn', 'chat m', 'recognition', 'call']);
    expect(named('chat m')?.attributes).toEqual({ [ATTRIBUTES.operation]: 'chat', [ATTRIBUTES.model]: 'm' });
    expect([named('recognition')?.failure, named('turn')?.failure, named('call')?.failure]).toEqual([
      ...['recognition_failed', 'bot_timeout', 'failed'],
    ]);
  });

  it('have no words of the caller unless they are wanted, and then in one attribute', () => {
    const [without, withWords] = [traced(), traced({ hasContent: true })];
    notifyAll(without.traces, call);
    notifyAll(withWords.traces, call);
    expect(without.spans.length).toBeGreaterThan(4);
    expect(JSON.stringify(without.spans)).not.toContain('4711');
    const holding = withWords.spans.filter((span) => JSON.stringify(span).includes('4711'));
    expect(holding.map(({ name }) => name)).toEqual(['turn']);
    expect(holding[0]?.attributes['parley.content.caller_words']).toBe('my number is 4711');
  });
});

describe('a call that moves', () => {
  it('is one trace with one span of the call, which its last home writes', () => {
    const [first, second] = [traced(), traced()];
    first.traces.sessionStarted(call);
    first.traces.turnStarted(call, 'one');
    first.traces.turnEnded(call, 'one', 'replied');
    first.traces.sessionEnded(call, 'moved');
    // The clock of the next server is late.
    const moved = { ...call, startedAtMs: START_MS + 50 };
    const here = { ...call };
    second.traces.sessionStarted(here);
    second.traces.turnStarted(here, 'two');
    second.traces.turnEnded(here, 'two', 'hang_up');
    second.traces.sessionEnded(here, 'caller');
    second.traces.forwarded({ call: { organizationId: 'org', conversationId: 'conv' }, trackingId: 't', ms: 20 }, 'completed');
    const spans = [...first.spans, ...second.spans];
    expect(spans.map(({ name }) => name)).toEqual(['turn', 'turn', 'call', 'forward']);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const parent = second.named('call')?.spanId;
    expect([first.named('turn')?.parentId, second.named('turn')?.parentId]).toEqual([parent, parent]);
    // The flow gives the conversation to a bot once more: the same trace, and another span.
    second.traces.sessionStarted(moved);
    second.traces.turnStarted(moved, 'three');
    second.traces.turnEnded(moved, 'three', 'replied');
    expect(second.spans.at(-1)).toMatchObject({ traceId: spans[0]?.traceId, startMs: moved.startedAtMs });
    expect(second.spans.at(-1)?.parentId).not.toBe(parent);
  });
});

describe('the share of traced calls', () => {
  const ids = Array.from({ length: 1000 }, (_, nth) => `conversation-${String(nth)}`);
  const tracedOf = (traces: CallTraces, spans: readonly Span[]): readonly unknown[] => {
    for (const conversationId of ids) {
      const each = callFacts({ conversationId });
      traces.sessionStarted(each);
      traces.turnStarted(each, 't');
      traces.turnEnded(each, 't', 'replied');
      traces.sessionEnded(each, 'caller');
    }
    return spans.flatMap(({ name, attributes }) => (name === SPANS.call ? [attributes[ATTRIBUTES.conversation]] : []));
  };

  it('is kept, and every server decides alike', () => {
    const [one, other] = [traced({ share: 0.1 }), traced({ share: 0.1 })];
    const chosen = tracedOf(one.traces, one.spans);
    expect(chosen.length).toBeGreaterThan(60);
    expect(chosen.length).toBeLessThan(150);
    expect(tracedOf(other.traces, other.spans)).toEqual(chosen);
    const none = traced({ share: 0 });
    expect(tracedOf(none.traces, none.spans)).toEqual([]);
  });

  it('does not hold a call back that is wanted by its id, also when it runs already; the latest hundred of them', () => {
    const { spans, traces } = traced({ share: 0 });
    const running = callFacts({ conversationId: 'conversation-999' });
    traces.sessionStarted(running);
    traces.turnStarted(running, 'before');
    for (const id of ids) traces.traceCall(id);
    traces.turnEnded(running, 'before', 'replied');
    traces.turnStarted(running, 'after');
    traces.turnEnded(running, 'after', 'replied');
    traces.sessionEnded(running, 'caller');
    expect(spans.map(({ name, attributes }) => attributes[ATTRIBUTES.turn] ?? name)).toEqual(['after', 'call']);
    spans.length = 0;
    expect(tracedOf(traces, spans)).toEqual(ids.slice(-100));
  });

  it('counts again for a conversation that is no longer wanted by its id; a call with spans has them until it ends', () => {
    const { spans, traces } = traced({ share: 0 });
    const [running, next] = [callFacts(), callFacts()];
    const end = traces.traceCall(running.conversationId);
    traces.sessionStarted(running);
    end();
    for (const each of [running, next]) {
      if (each === next) traces.sessionStarted(each);
      traces.turnStarted(each, 't');
      traces.turnEnded(each, 't', 'replied');
      traces.sessionEnded(each, 'caller');
    }
    expect(spans.map(({ name }) => name)).toEqual(['turn', 'call']);
  });
});

it('docs/traces.md has every span and attribute', () => {
  const page = readFileSync(path.join(packageRoot(), 'docs', 'traces.md'), 'utf8');
  for (const name of [...Object.values(SPANS), ...Object.values(ATTRIBUTES)]) expect(page).toMatch(new RegExp(`\`${name}[ \`]`, 'u'));
});
