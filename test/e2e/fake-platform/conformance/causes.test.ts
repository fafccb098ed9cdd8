// What a check names is what it has seen: where another cause explains a breach as well, it does not name its own.
import { status } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { EVENT_INPUT, RESPONSE_TYPE, type MediaRequest } from '../../../../src/contract/grpc.ts';
import { CHECKS } from '../../../../src/fake-platform/conformance/registry.ts';
import { chooseChecks, type CheckResult } from '../../../../src/fake-platform/conformance/run.ts';
import { startIssuer } from '../../../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { examine, examineBroken } from '../../../support/conformance.ts';
import { startScriptedServer, type ScriptedTurn } from '../../../support/scripted-server.ts';

/** Runs checks on a server that answers each RPC by its first message. */
async function looked(
  ids: readonly string[],
  answer: (turn: ScriptedTurn, message: MediaRequest) => void,
): Promise<readonly CheckResult[]> {
  const server = await startScriptedServer({
    script: async (turn) => {
      await turn.halfClosed();
      answer(turn, turn.received[0]?.message ?? {});
    },
  });
  onTestFinished(() => {
    server.close();
  });
  const found = await examine(server.target, {
    checks: chooseChecks(CHECKS, [], ids),
    suspect: { speech: undefined, timing: { answerMs: 1500, pace: 8, newKeyMs: 100 } },
  });
  return found.results;
}

function say(turn: ScriptedTurn, text: string): void {
  turn.send({ prompts: [{ text }], response_type: RESPONSE_TYPE.FINAL });
  turn.complete();
}

it('say nothing of the connection where the same keys are not answered without a change of it either (G-15)', async () => {
  const begun = new Set<string>();
  const results = await looked(['call-outlives-connection'], (turn, { conversation_id: id = '', event_input: event, dtmf_input: keys }) => {
    if (event?.event_type === EVENT_INPUT.START_OF_DTMF) begun.add(id);
    if (keys !== undefined && !begun.has(id)) turn.fail(status.FAILED_PRECONDITION, 'no entry');
    else if (event?.event_type === EVENT_INPUT.START_OF_DTMF) turn.complete();
    else say(turn, 'Yes.');
  });
  expect(results).toMatchObject([
    { verdict: 'not_applicable', reason: 'these keys are not answered without a change of the connection either' },
  ]);
});

it('say nothing of half-close where one kind of input breaks and others are taken (G-12, G-71)', async () => {
  const results = await looked(['half-close-goes-on', 'silence-asked-about'], (turn, { event_input: event }) => {
    if (event?.event_type === EVENT_INPUT.NO_INPUT) turn.fail(status.INTERNAL, 'boom');
    else say(turn, 'Yes.');
  });
  expect(results).toMatchObject([
    { id: 'half-close-goes-on', verdict: 'not_applicable', reason: 'no_input is not taken behind a welcome, and other input is' },
    { id: 'silence-asked-about', verdict: 'fail', reason: expect.stringContaining('ended with INTERNAL "boom"') as string },
  ]);
  expect(results[1]?.exchanges[0]?.some(({ what }) => what.includes('boom'))).toBe(true);
});

it('say how a call without a token was answered, and not that it was let in (G-02)', async () => {
  const issuer = await startIssuer({ profile: loadProfile('fake'), url: 'https://voice.example' });
  onTestFinished(() => issuer.close());
  const found = await examineBroken('missing_token_taken', issuer, { checks: chooseChecks(CHECKS, [], ['no-token-refused']) });
  expect(found.results).toMatchObject([
    { verdict: 'fail', reason: 'a call without a token got a response and was not refused with UNAUTHENTICATED' },
  ]);
});

it('wait for a server that waits until its words were heard (G-7A)', async () => {
  const piece = Buffer.alloc(8 * 1500, 0x9f);
  const server = await startScriptedServer({
    script: async (turn) => {
      await turn.halfClosed();
      turn.send({ prompts: [{ audio_content: piece }], response_type: RESPONSE_TYPE.CHUNK });
      // The real time that its sound takes to play, which is longer than the longest wait for a sign.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      turn.send({ prompts: [{ text: '' }], response_type: RESPONSE_TYPE.FINAL });
      turn.complete();
    },
  });
  onTestFinished(() => {
    server.close();
  });
  const timing = { answerMs: 700, pace: 8, newKeyMs: 100 };
  const checks = chooseChecks(CHECKS, [], ['welcome-on-its-rpc']);
  const found = await examine(server.target, { checks, suspect: { speech: undefined, timing } });
  expect(found.results).toMatchObject([{ verdict: 'pass' }]);
});

it('say that the same words were announced before only where they were (G-36)', async () => {
  const issuer = await startIssuer({ profile: loadProfile('fake'), url: 'https://voice.example' });
  onTestFinished(() => issuer.close());
  const found = await examineBroken('first_utterance_unannounced', issuer, { checks: chooseChecks(CHECKS, [], ['speech-announced-once']) });
  expect(found.results).toMatchObject([{ verdict: 'fail', reason: expect.stringMatching(/START_OF_INPUT did not come$/u) as string }]);
});

it('say nothing of tiny packets where an RPC of silence alone is left open as well (G-33)', async () => {
  const results = await looked(['tiny-packets-taken'], (turn, { audio_input: audio }) => {
    if (audio === undefined) say(turn, 'Yes.');
  });
  expect(results).toMatchObject([{ verdict: 'not_applicable', reason: 'an RPC with a frame of silence alone was left open, too' }]);
});
