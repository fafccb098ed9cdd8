// Faults that only show when a call goes on, on the reference servers of both transports: what is announced though nobody spoke,
// later utterances and keys, replies behind the welcome. Each is named with its cause and the exchange that shows it. That no other
// rule is named is seen in `npm run check -- conformance`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS, SOCKET_CHECKS } from '../../src/fake-platform/conformance/registry.ts';
import { chooseChecks, type Conformance } from '../../src/fake-platform/conformance/run.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../src/fake-platform/platform/profile.ts';
import { BREACHES, type Breach } from '../fixtures/broken-servers/breaches.ts';
import { SOCKET_BREACHES, type SocketBreach } from '../fixtures/broken-servers/ws-breaches.ts';
import { examineBroken, examineBrokenSocket } from '../support/conformance.ts';

/** An answer that is owed on a socket and never comes is waited for no longer than this. */
const TIMING = { answerMs: 3000, pace: 8, newKeyMs: 1000 };

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ profile: loadProfile('fake'), url: 'https://voice.example' });
});
afterAll(() => issuer.close());

/** What is said of a breach, and whether its exchange shows what was sent and what came back. */
function finding({ brokenRules, results }: Conformance): object {
  const failed = results.find(({ verdict }) => verdict === 'fail');
  const sides = new Set(failed?.exchanges.flatMap((lines) => lines.map(({ who }) => who)));
  return { brokenRules, reason: failed?.reason, isShown: sides.has('platform') && sides.has('server') };
}

describe.concurrent('names with its cause, of a server of RPCs,', () => {
  it.each<[string, Breach, string]>([
    ['silence that is announced as speech (G-36)', 'silence_announced', 'nothing but 4000 ms of silence'],
    ['line noise that is announced as speech (G-36)', 'noise_announced', 'nothing but 4000 ms of line noise at -55 dBFS'],
    [
      'a second utterance that is not announced (G-36)',
      'second_utterance_unannounced',
      'the same words were announced before in this call',
    ],
    ['a second RPC that is refused beside a reply behind the welcome (G-50)', 'later_overlap_refused', 'beside the reply to an event'],
    ['a caller who is not heard over a reply behind the welcome (G-52)', 'deaf_while_replying', 'while the reply to an event'],
    ['a reply behind the welcome that goes on when it is cut (G-53)', 'replies_on', 'pieces of the reply to an event'],
    ['a reply behind the welcome on an RPC that listens (G-57)', 'later_answers_on_newest', 'while the reply to an event'],
    ['later keys that get no answer (G-63)', 'later_digits_unanswered', 'the same keys were answered before in this call'],
    ['keys whose answer is the end of speech (G-63)', 'digits_answered_with_notice', 'nor an event but those of speech'],
    ['keys of no menu that get no answer (G-63)', 'other_digits_unanswered', 'key 0: no FINAL came'],
    ['keys over a prompt that get no answer (G-63)', 'cutting_digits_unanswered', 'over the welcome: no FINAL came'],
  ])('%s', async (_title, breach, cause) => {
    const { rule, check } = BREACHES[breach];
    const found = await examineBroken(breach, issuer, { checks: chooseChecks(CHECKS, [], [check]) });
    expect(finding(found)).toEqual({ brokenRules: [rule], reason: expect.stringContaining(cause) as string, isShown: true });
  });
});

describe.concurrent('names with its cause, of a server of sockets,', () => {
  it.each<[string, SocketBreach, string]>([
    ['silence that is announced as speech (G-36)', 'silence_announced', 'nothing but 4000 ms of silence'],
    ['line noise that is announced as speech (G-36)', 'noise_announced', 'nothing but 4000 ms of line noise at -55 dBFS'],
    ['a second utterance that is not announced (W-23)', 'second_utterance_unannounced', '0 times for an utterance that is not the first'],
    ['a caller who is not heard over a reply behind the welcome (W-27)', 'deaf_while_replying', 'while the reply to an event'],
    ['a reply behind the welcome that goes on when it is cut (W-27)', 'replies_on', 'pieces of the reply to an event'],
    ['later keys that get no reply (W-26)', 'later_keys_unanswered', 'the same keys got one before in this call'],
    ['keys of no menu that get no reply (W-26)', 'other_keys_unanswered', 'key 0 got no reply'],
    ['keys over a prompt that get no reply (W-26)', 'cutting_keys_unanswered', 'over the welcome got no reply; behind it they did'],
  ])('%s', async (_title, breach, cause) => {
    const { rule, check } = SOCKET_BREACHES[breach];
    const found = await examineBrokenSocket(breach, issuer, {
      checks: chooseChecks(SOCKET_CHECKS, [], [check]),
      suspect: { timing: TIMING },
    });
    expect(finding(found)).toEqual({ brokenRules: [rule], reason: expect.stringContaining(cause) as string, isShown: true });
  });
});
