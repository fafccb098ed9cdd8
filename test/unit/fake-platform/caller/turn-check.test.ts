import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../../src/fake-platform/caller/answer.ts';
import { FINDING_CODES } from '../../../../src/fake-platform/caller/finding.ts';
import { TurnCheck, type CallMemory, type TurnKind } from '../../../../src/fake-platform/caller/turn-check.ts';
import { GRPC_RULES, SOCKET_RULES } from '../../../../src/fake-platform/lines/wire-rules.ts';
import { tone } from '../../../support/call-lab.ts';
import { answerOf, event, piece, prompt } from '../../../support/fake-line.ts';

/** Answers on one RPC; then its end. */
interface Exchange {
  readonly kind: TurnKind;
  readonly answers: readonly Partial<Answer>[];
  readonly isComplete?: boolean;
}

const reply = (...answers: readonly Partial<Answer>[]): Exchange => ({ kind: 'dtmf', answers });
const withText = { ...piece(100), text: 'Hello.' };
const headerless = { ...prompt(100), audio: tone(100) };
const transfer = (metadata: Readonly<Record<string, string>> = {}): Partial<Answer> => ({
  event: { kind: 'transfer', name: '', metadata },
});

/** What is found in a call of these RPCs. */
function found(exchanges: readonly Exchange[], allowPartial = false, rules = GRPC_RULES): readonly string[] {
  const memory: CallMemory = { mode: undefined, hasEnded: false, allowPartial };
  const names: string[] = [];
  for (const { kind, answers, isComplete = false } of exchanges) {
    const check = new TurnCheck(
      memory,
      (code, rule) => {
        names.push(`${rule} ${code}`);
      },
      rules,
    );
    for (const answer of answers) check.checkAnswer(kind, answerOf(answer));
    if (isComplete) check.checkEnd(kind, true);
  }
  return names;
}

describe('the contract check', () => {
  it.each<[string, readonly Exchange[]]>([
    [
      'G-41 a WAV reply with several prompts',
      [{ kind: 'session_start', answers: [{ prompts: [prompt(100), prompt(50, true)] }], isComplete: true }],
    ],
    [
      'G-42, G-43 a streamed reply with an empty prompt in its FINAL',
      [
        {
          kind: 'dtmf',
          answers: [{ type: 'chunk', prompts: [piece(13)] }, { prompts: [{ ...piece(0), text: 'Hello.' }] }],
          isComplete: true,
        },
      ],
    ],
    ['G-42 the largest chunk', [reply({ type: 'chunk', prompts: [piece(8192)] }, {})]],
    [
      'G-36, G-38, G-39 an utterance',
      [
        {
          kind: 'speech',
          answers: [event('start_of_input'), { type: 'chunk', ...event('end_of_input') }, { type: 'chunk', prompts: [piece(100)] }, {}],
          isComplete: true,
        },
      ],
    ],
    [
      'an utterance with its end as FINAL',
      [{ kind: 'speech', answers: [event('start_of_input'), event('end_of_input'), { prompts: [prompt(100)] }], isComplete: true }],
    ],
    ['G-61 START_OF_DTMF without an answer', [{ kind: 'dtmf_start', answers: [], isComplete: true }]],
    ['an event about speech that crossed the key', [{ kind: 'dtmf_start', answers: [event('start_of_input')], isComplete: true }]],
    [
      'G-75 SESSION_END with an empty answer',
      [{ kind: 'session_end', answers: [{ mode: undefined, config: undefined }], isComplete: true }],
    ],
    ['G-75 SESSION_END with a SESSION_END', [{ kind: 'session_end', answers: [event('session_end')], isComplete: true }]],
    ['G-76 a farewell with the end', [reply({ prompts: [prompt(100)], ...event('session_end') })]],
    ['G-79 a transfer with a routing hint', [reply({ ...transfer({ routing_hint: 'sales_1-a' }) })]],
    ['G-40 WAV mode all the way', [reply({ prompts: [prompt(100)] }), reply({ prompts: [prompt(100)] })]],
    ['text alone', [reply({ prompts: [{ ...piece(0), text: 'Hello.' }] })]],
    ['G-90 a type and an event of a newer contract', [reply({ type: 'unknown', ...event('other') }, {})]],
  ])('finds nothing in %s', (_, exchanges) => {
    expect(found(exchanges)).toEqual([]);
  });

  const breaches: readonly (readonly [string, readonly Exchange[]])[] = [
    ['G-14 second_final', [reply({ prompts: [prompt(100)] }, {})]],
    ['G-43 final_missing', [{ kind: 'dtmf', answers: [{ type: 'chunk', prompts: [piece(100)] }], isComplete: true }]],
    ['G-21 final_missing', [{ kind: 'session_start', answers: [], isComplete: true }]],
    ['G-36 input_start_repeated', [{ kind: 'speech', answers: [event('start_of_input'), event('start_of_input')] }]],
    ['G-39 input_start_as_chunk', [{ kind: 'speech', answers: [{ type: 'chunk', ...event('start_of_input') }] }]],
    ['G-40 mode_switched', [reply({ prompts: [prompt(100)] }), reply({ type: 'chunk', prompts: [piece(100)] })]],
    ['G-41 wav_header_missing', [reply({ prompts: [headerless] })]],
    ['G-42 wav_header_in_chunk', [reply({ type: 'chunk', prompts: [prompt(100)] })]],
    ['G-42 chunk_size', [reply({ type: 'chunk', prompts: [piece(12)] })]],
    ['G-42 chunk_size', [reply({ type: 'chunk', prompts: [piece(8193)] })]],
    ['G-43 final_audio_in_chunk_mode', [reply({ type: 'chunk', prompts: [piece(100)] }, { prompts: [prompt(100)] })]],
    ['G-40 mode_switched', [reply({ type: 'chunk', prompts: [piece(100)] }, {}), reply({ prompts: [prompt(100)] })]],
    ['G-45 partial_not_allowed', [reply({ type: 'partial', prompts: [prompt(100)] })]],
    ['G-46 text_beside_chunk', [reply({ type: 'chunk', prompts: [withText] })]],
    ['G-55 barge_in_on_terminal', [reply({ prompts: [prompt(100, true)], ...event('session_end') })]],
    ['G-61 answer_to_key_press', [{ kind: 'dtmf_start', answers: [{}] }]],
    ['G-75 answer_after_hang_up', [{ kind: 'session_end', answers: [{ prompts: [prompt(100)] }] }]],
    ['G-77 second_terminal', [reply(event('session_end')), reply(transfer())]],
    ['G-7C prompt_after_terminal', [reply(event('session_end')), reply({ prompts: [prompt(100)] })]],
    ['G-78 terminal_with_input_settings', [reply({ ...event('session_end'), mode: 'voice' })]],
    ['G-80 input_settings_missing', [reply({ mode: undefined })]],
    ['G-80 input_settings_missing', [reply({ config: undefined })]],
    ['G-79 routing_hint_invalid', [reply(transfer({ routing_hint: '1st' }))]],
    ['G-79 routing_hint_invalid', [reply(transfer({ routing_hint: 'a'.repeat(65) }))]],
  ];

  it.each(breaches)('finds %s and nothing else', (name, exchanges) => {
    expect(found(exchanges)).toEqual([name]);
  });

  const streamed = { type: 'chunk', prompts: [piece(40)] } as const;
  const onSocket: readonly (readonly [string, readonly Exchange[]])[] = [
    ['W-24 partial_not_allowed', [reply({ type: 'partial', prompts: [piece(100)] })]],
    ['W-24 final_missing', [{ kind: 'session_start', answers: [streamed], isComplete: true }]],
    ['W-24 second_final', [reply(streamed, { prompts: [piece(0)] }, { prompts: [piece(0)] })]],
    ['W-25 final_without_prompt', [reply(streamed, {})]],
    ['W-25 final_audio_in_chunk_mode', [reply(streamed, { prompts: [piece(40)] })]],
    ['W-26 answer_to_key_press', [{ kind: 'dtmf_start', answers: [{}] }]],
    ['W-28 answer_after_hang_up', [{ kind: 'session_end', answers: [{ prompts: [piece(40)] }] }]],
    ['W-30 wav_header_in_chunk', [reply({ prompts: [prompt(100)] })]],
    ['W-31 chunk_size', [reply({ type: 'chunk', prompts: [piece(39)] })]],
    ['W-31 chunk_size', [reply({ type: 'chunk', prompts: [piece(4097)] })]],
  ];

  it.each(onSocket)('finds %s and nothing else on a WebSocket', (name, exchanges) => {
    expect(found(exchanges, false, SOCKET_RULES)).toEqual([name]);
  });

  it('W-25, W-30, W-31 finds nothing in streams and whole prompts without headers on a WebSocket', () => {
    const exchanges = [
      reply(streamed, { prompts: [piece(0)] }),
      reply({ prompts: [piece(4096)] }),
      reply(streamed, { prompts: [piece(0)] }),
    ];
    expect(found(exchanges, false, SOCKET_RULES)).toEqual([]);
  });

  it('G-45 accepts PARTIAL where the request allows it', () => {
    expect(found([reply({ type: 'partial', prompts: [prompt(100)] }, {})], true)).toEqual([]);
  });

  it('wants no FINAL where no reply was due', () => {
    const check = new TurnCheck({ mode: undefined, hasEnded: false, allowPartial: false }, (code) => {
      expect.fail(code);
    });
    check.checkEnd('speech', false);
    expect(check.hasFinal).toBe(false);
  });

  it('has a test for every breach it can name', () => {
    const tested = new Set([...breaches, ...onSocket].map(([name]) => name.split(' ')[1]));
    // Named by the grammar, not by this check; their tests stand beside the grammar's.
    const elsewhere = ['not_completed', 'unasked_completion', 'input_start_misplaced', 'input_start_not_allowed', 'prompt_unplayable'];
    // Named by the socket, with tests beside it.
    elsewhere.push('envelope_wrong', 'sequence_broken', 'answer_unasked', 'old_reply_goes_on', 'pong_missing', 'close_code_wrong');
    const breachCodes = FINDING_CODES.slice(FINDING_CODES.indexOf('second_final'));
    expect(breachCodes.filter((code) => !tested.has(code) && !elsewhere.includes(code))).toEqual([]);
  });
});
