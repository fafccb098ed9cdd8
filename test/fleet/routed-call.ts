// One call over a fleet, its turns sent to the servers that a test names, and what its caller heard.
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../src/base/clock.ts';
import { holdCall, type CallResult } from '../../src/fake-platform/caller/caller.ts';
import { keysOf } from '../../src/fake-platform/caller/key.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import type { TimelineEvent } from '../../src/fake-platform/caller/timeline.ts';
import { timelineText } from '../../src/fake-platform/caller/result-text.ts';
import { until } from '../support/until.ts';
import type { Routes } from './routed-line.ts';

const LIMITS = { answerMs: 20_000, callMs: 60_000, hangUpMs: 10_000 };

/** How a call is placed. */
export interface RoutedCallOptions {
  readonly agentId: string;
  readonly organizationId: string;
  readonly script: readonly Step[];
  /** See {@link Routes.line}. */
  readonly serverOf: (rpc: number) => number;
  /** Whether turns that were lost are said again. Default false: the call fails. */
  readonly repeatsLostTurns?: boolean;
  readonly hangUpAtMs?: number;
}

/** A running call. It ends by itself. */
export class RoutedCall {
  readonly conversationId = randomUUID();
  readonly #events: TimelineEvent[] = [];
  readonly #result: Promise<CallResult>;
  #isOver = false;

  constructor(routes: Routes, { agentId, organizationId, script, serverOf, ...options }: RoutedCallOptions) {
    const line = routes.line(
      { conversationId: this.conversationId, organizationId, agentId, vendorConfig: '', allowPartial: false },
      serverOf,
    );
    this.#result = holdCall(line, 'fleet', {
      ...{ ...options, script, limits: LIMITS, clock: systemClock, keepsSound: false },
      changeRate: (samples, fromHz, toHz) => new Int16Array(Math.round((samples.length * toHz) / fromHz)),
      onEvent: (event) => this.#events.push(event),
    }).finally(() => {
      this.#isOver = true;
      line.close();
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether its first reply has come. */
  get isAnswered(): boolean {
    return this.#events.some(({ who }) => who === 'server');
  }

  /** Whether it is over, or about to be. */
  get isLeaving(): boolean {
    return this.isOver || this.#events.some(({ what }) => what === 'hangs_up');
  }

  /** Waits until something stands in its timeline so often. */
  async reached(what: string, times = 1): Promise<void> {
    await until(
      () => `${what} happens; the call:\n${this.story}`,
      () => this.isOver || this.#events.filter((event) => event.what === what).length >= times,
    );
  }

  /** What has happened so far, for people. */
  get story(): string {
    return this.#events.map(timelineText(false)).join('\n');
  }

  /** What was heard, and how the call ended. `waitMs`: the longest wait for a reply. */
  async heard(): Promise<CallResult & { readonly texts: readonly string[]; readonly waitMs: number }> {
    const result = await this.#result;
    const waitMs = Math.max(0, ...result.replies.map(({ latencyMs = 0 }) => latencyMs));
    return { ...result, texts: result.heardTexts, waitMs };
  }
}

/** Longest silence of a caller, ms. */
const SILENCE_MS = 30_000;

/** Says nothing until the signal, and not for ever. */
export function silentUntil(over: AbortSignal): Step {
  return { kind: 'wait', waitMs: SILENCE_MS, over };
}

/** Presses keys. */
export function press(keys: string, more: { readonly interruptMs?: number } = {}): Step {
  return { kind: 'press', keys: keysOf(keys) ?? [], ...more };
}
