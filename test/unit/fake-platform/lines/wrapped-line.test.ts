// Lines that change something about another: whatever else that one tells still comes through. Over real sockets, because
// only their lines tell of breaches outside of turns, and of their own loss.
import { afterEach, describe, expect, it } from 'vitest';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';
import {
  holdCall,
  placeCall,
  type CallOptions,
  type CallResult,
  type HeldCallOptions,
} from '../../../../src/fake-platform/caller/caller.ts';
import { KnownSounds, PromptWatch } from '../../../../src/fake-platform/load/prompt-watch.ts';
import { SocketPool } from '../../../../src/fake-platform/load/socket-pool.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { parseTarget } from '../../../../src/fake-platform/lines/target.ts';
import {
  startScriptedSocketServer,
  welcome,
  type ScriptedSocketServer,
  type SocketScript,
} from '../../../support/scripted-socket-server.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Longer than any call here whose loss is reported, ms of the call; half a minute for one that is not. */
const WAIT_MS = 600_000;

const clock = scaledClock(20);
const caller: HeldCallOptions = {
  clock,
  limits: { callMs: 2 * WAIT_MS, connectMs: 120_000, answerMs: 120_000, hangUpMs: 120_000 },
};

type Call = (target: string, options: HeldCallOptions) => Promise<CallResult>;

function placed(more: Partial<CallOptions>): Call {
  return (target, options) =>
    placeCall({
      ...{ target, profile: loadProfile('fake'), organizationId: 'o-1', conversationId: 'conversation-1', noInputMs: 0 },
      ...caller,
      ...options,
      ...more,
    });
}

async function pooled(target: string, options: HeldCallOptions): Promise<CallResult> {
  const pool = new SocketPool({ target: parseTarget(target), profile: loadProfile('fake'), clock, connectLimitMs: 120_000 });
  closers.push(() => {
    pool.close();
  });
  const identity = { conversationId: 'conversation-1', agentId: '', organizationId: 'o-1', vendorConfig: '', allowPartial: false };
  const line = pool.line(identity, 0);
  const result = await holdCall(line, 'the server', { ...caller, ...options });
  line.close();
  return result;
}

const LINES = [
  ['with a delay', placed({ conditions: { jitterMs: 20 } })],
  ['that is read slowly', placed({ conditions: { slowReader: { pauseMs: 20 } } })],
  ['under the watch over prompts', placed({ overLine: (line) => new PromptWatch(new KnownSounds()).over(line) })],
  ['of the sockets of a load', pooled],
] as const;

async function serverWith(script: SocketScript): Promise<ScriptedSocketServer> {
  const server = await startScriptedSocketServer({ script });
  closers.push(() => {
    server.close();
  });
  return server;
}

describe.each(LINES)('a line %s', (_, call) => {
  it('W-10 reports a breach that is in no answer', async () => {
    const { target } = await serverWith(async (socket) => {
      await welcome(socket);
      socket.tell('PING', { seq: 1 });
      await socket.next('PONG');
    });
    const { findings, outcome } = await call(target, {});
    expect(findings.map(({ code, rule }) => [rule, code])).toEqual([['W-10', 'sequence_broken']]);
    expect(outcome).toBe('hung_up');
  });

  it('W-2A reports the loss of its socket at once, although no turn is open', async () => {
    // Nobody listens to the caller's voice, so nothing is open once the welcome is complete and was heard.
    const server = await serverWith((socket) => welcome(socket, 100, { input_mode: 'INPUT_EVENT_DTMF' }));
    const { findings, outcome, durationMs } = await call(server.target, {
      script: [{ kind: 'wait', waitMs: WAIT_MS }],
      onEvent: ({ what }) => {
        if (what === 'waits') server.sockets[0]?.drop();
      },
    });
    expect(findings).toMatchObject([{ code: 'closed_early', fatal: true }]);
    expect(outcome).toBe('failed');
    expect(durationMs).toBeLessThan(WAIT_MS);
  });
});
