// Faults that only show when a call goes on, on the reference servers of both transports: what is announced though nobody spoke,
// later utterances and keys, replies behind the welcome. Each is named with its cause and the exchange that shows it. That no other
// rule is named is seen in `npm run check:conformance`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS, SOCKET_CHECKS } from '../../src/fake-platform/conformance/registry.ts';
import { chooseChecks, type Conformance } from '../../src/fake-platform/conformance/run.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/issuer.ts';
import { loadProfile } from '../../src/fake-platform/profile.ts';
import { BREACHES, type Breach } from '../fixtures/broken-servers/breaches.ts';
import { SOCKET_BREACHES, type SocketBreach } from '../fixtures/broken-servers/ws-breaches.ts';
import { examineBroken, examineBrokenSocket } from '../support/conformance.ts';

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
  ])('%s', async (_title, breach, cause) => {
    const { rule, check } = SOCKET_BREACHES[breach];
    const found = await examineBrokenSocket(breach, issuer, { checks: chooseChecks(SOCKET_CHECKS, [], [check]) });
    expect(finding(found)).toEqual({ brokenRules: [rule], reason: expect.stringContaining(cause) as string, isShown: true });
  });
});
