import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { go, listen, say, transfer } from '../../../src/bot/index.ts';
import { checkAnswer, checkSaying } from '../../../src/bot/reply-check.ts';
import { loadContract } from '../../../src/contract/grpc.ts';
import { MAX_STRUCT_DEPTH } from '../../../src/contract/limits.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import { finalNext } from '../../../src/session/answer/final-next.ts';
import { ToWire } from '../../../src/transport/grpc/to-wire.ts';
import { TEST_SETTINGS } from '../../support/engine.ts';

/** What is wrong with a reply, without the words that every such message begins with. */
function problemOf(reply: unknown): string {
  try {
    checkAnswer({ state: null, reply });
  } catch (thrown) {
    if (thrown instanceof Error && Reflect.get(thrown, 'code') === 'bot_failed') {
      return thrown.message.replace('the bot returned no usable reply: ', '');
    }
    throw thrown;
  }
  return 'none';
}

/** Data of so many levels. */
function nested(levels: number, wrap: (inner: unknown) => unknown): JsonObject {
  let value: unknown = 'end';
  for (let level = 2; level <= levels; level += 1) value = wrap(value);
  return { value } as JsonObject;
}

const next = (members: Readonly<Record<string, unknown>>): unknown => ({ prompts: [], next: { kind: 'listen', ...members } });

describe('what is wrong with a reply', () => {
  it.each([
    ['digits above their limit', next({ digits: 65 }), 'reply.next.digits must be at most 64'],
    ['no digits', next({ digits: 0 }), 'reply.next.digits must be at least 1'],
    ['half a millisecond', next({ noInputMs: 0.5 }), 'reply.next.noInputMs must be of type int'],
    ['a misspelled member', next({ digit: 4 }), 'reply.next has members that do not exist: digit'],
    ['an unknown way to answer', next({ accept: 'fax' }), 'reply.next.accept must be one of speech, keys, both'],
    ['a hasty ear', next({ speech: { startMs: 1 } }), 'reply.next.speech.startMs must be at least 20'],
    ['a long memory', next({ speech: { preRollMs: 2001 } }), 'reply.next.speech.preRollMs must be at most 2000'],
    ['a long text', say('x'.repeat(2001)).listen(), 'reply.prompts.0.text must be at most 2000 characters long'],
    ['an empty text', say(' ').listen(), 'reply.prompts.0.text an empty text says nothing'],
    [
      'many prompts',
      { prompts: Array.from({ length: 33 }, () => say('x').prompts[0]), next: listen().next },
      'reply.prompts must be at most 32 in number',
    ],
    [
      'a prompt without its manners',
      { prompts: [{ kind: 'text', text: 'x' }], next: listen().next },
      'reply.prompts.0.bargeIn must be of type boolean',
    ],
    ['a next step that does not exist', { prompts: [], next: { kind: 'dance' } }, 'reply.next.kind is none that exists'],
    ['a routing hint that is none', transfer({ reason: 'x', routingHint: '7' }), expect.stringContaining('G-79: a letter')],
  ])('names the member, its rule and its limit: %s', (_name, reply, problem) => {
    expect(problemOf(reply)).toEqual(problem);
  });

  it('G-68 says neither a value nor a name of a member that could be one', () => {
    const problems = [
      next({ 4711: 1, 'Maria Lopez': 1 }),
      next({ accept: '4711' }),
      next({ digits: 4711 }),
      transfer({ reason: '4711'.repeat(1000) }),
    ];
    for (const reply of problems) expect(problemOf(reply)).not.toMatch(/4711|Maria/u);
  });

  it('says the same of what a generator yields', () => {
    expect(() => checkSaying(say('x'.repeat(2001)))).toThrow('prompts.0.text must be at most 2000 characters long');
  });
});

describe('data for the platform', () => {
  const toWire = new ToWire(loadContract(loadProfile('fake')));
  const replies = [
    ['fields of a transfer', (fields: JsonObject) => transfer({ reason: 'x', fields })],
    ['metadata of an event', (metadata: JsonObject) => listen({ event: { name: 'x', metadata } })],
  ] as const;
  const wraps = [
    ['objects', (inner: unknown) => ({ inner })],
    ['lists', (inner: unknown) => [inner]],
  ] as const;
  it.each(replies.flatMap(([place, reply]) => wraps.map(([kind, wrap]) => [place, kind, reply, wrap] as const)))(
    'is taken as deep as the wire takes it, and refused beyond that as a failure of the bot: %s, %s',
    (_place, _kind, reply, wrap) => {
      const deepest = checkAnswer(go(null, reply(nested(MAX_STRUCT_DEPTH - 1, wrap)))).reply.next;
      const output = { kind: 'final', mode: 'chunk', prompts: [], next: finalNext(deepest, TEST_SETTINGS.listen), bargeIn: false } as const;
      expect(toWire.responses(output).length).toBeGreaterThan(0);
      expect(problemOf(reply(nested(MAX_STRUCT_DEPTH, wrap)))).toMatch(/^reply\.next\..* must not nest deeper than 31 levels$/u);
    },
  );

  it.each([
    [{ state: null, reply: { prompts: [] } }, 'reply.next is missing: end the reply with .listen(), .transfer() or .end()'],
    [{ prompts: [], next: { kind: 'listen' } }, 'return go(state, reply)'],
  ])('says what %j lacks in the words of the API', (returned, problem) => {
    expect(() => checkAnswer(returned)).toThrow(problem);
  });
});
