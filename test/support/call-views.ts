// Calls as the pages show them: a short one in which everything happens that can be shown, with sound, and an hour long one.
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import type { AnswerParts, CallView, ShownEvent, ShownMessage, ShownTurn } from '../../src/dialog/call-view.ts';
import { pcmWav } from '../../src/speech/wav.ts';

const RATE_HZ = 8000;
const PEAK_SAMPLES = 160;
const NO_PARTS: AnswerParts = { endpointingMs: 0, recognitionMs: 0, botMs: 0, modelMs: 0, toolsMs: 0, synthesisMs: 0, engineMs: 0 };
const CALL = {
  ...{
    conversationId: '6f1c2f0e-8f6d-4a8e-9d55-3a1f0c2b7d10',
    organizationId: '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11',
    agentId: 'front-desk',
  },
  ...{ botVersion: 3, version: '0.1.0', startedAtMs: Date.UTC(2026, 10, 28, 9, 30) },
  transport: 'grpc',
} as const;

/** A call of 42 s: words, keys that are withheld, a barge-in, a bot that throws, a transfer. With sound. */
export function shortCallView(): CallView {
  const turns = shortTurns();
  const durationMs = 42_000;
  return {
    ...{ form: 1, turns, events: shortEvents(), messages: shortMessages() },
    call: { ...CALL, durationMs, end: 'bot_transfer' },
    logs: [
      { atMs: 3, level: 'info', text: 'session started' },
      { atMs: 17_640, level: 'warn', text: 'the bookings service answered after 900 ms', turn: 3 },
      { atMs: 31_120, level: 'error', text: "bot_failed: Cannot read properties of undefined (reading 'total')", turn: 5 },
    ],
    sound: {
      caller: track(durationMs, spoken(turns)),
      bot: track(
        durationMs,
        turns.flatMap(({ prompts }) => prompts.map(({ startMs, endMs }) => [startMs, endMs] as const)),
      ),
    },
  };
}

/** A call of 60 minutes with 600 turns and 20,000 events, without addresses of sound. */
export function longCallView(): CallView {
  const random = seededNumbers(60);
  const turns = Array.from({ length: 600 }, (_, index): ShownTurn => {
    const atMs = index * 6000;
    const parts = { ...NO_PARTS, endpointingMs: 480, modelMs: Math.round(200 + random() * 900), synthesisMs: 90, engineMs: 6 };
    const firstSoundMs = atMs + 1500 + parts.endpointingMs + parts.modelMs + parts.synthesisMs + parts.engineMs;
    return {
      ...{ id: `t${String(index + 1)}`, number: index + 1, atMs, endMs: atMs + 5900, end: 'replied', firstSoundMs, parts },
      input: { kind: 'speech', atMs: atMs + 300, lastSoundMs: atMs + 1500, completeMs: atMs + 1980, text: `question ${String(index + 1)}` },
      prompts: [
        { text: `This is answer ${String(index + 1)}.`, atMs: firstSoundMs, startMs: firstSoundMs, endMs: atMs + 5800, mayBeCut: true },
      ],
      next: { kind: 'listen' },
      state: { before: { asked: index }, after: { asked: index + 1 } },
    };
  });
  const events = Array.from({ length: 20_000 }, (_, index): ShownEvent => {
    const atMs = index * 180;
    return {
      atMs,
      turn: Math.floor(atMs / 6000) + 1,
      from: index % 3 === 0 ? 'bot' : 'service',
      event: index % 3 === 0 ? 'bot_asked' : 'model_token',
    };
  });
  const durationMs = 3_600_000;
  const call = { ...CALL, durationMs, end: 'caller' };
  const sound = { caller: quietTrack(durationMs, random), bot: quietTrack(durationMs, random) };
  return { form: 1, call, turns, events, sound };
}

function shortTurns(): readonly ShownTurn[] {
  return [
    {
      ...{ id: 't1', number: 1, trackingId: 'TRK-0001', atMs: 0, endMs: 900, end: 'replied', firstSoundMs: 140 },
      input: { kind: 'start', atMs: 0, completeMs: 5 },
      prompts: [{ text: 'Welcome to Alder Clinic. How can I help you?', atMs: 140, startMs: 160, endMs: 3400, mayBeCut: true }],
      next: { kind: 'listen' },
      parts: { ...NO_PARTS, botMs: 4, synthesisMs: 122, engineMs: 9, wireMs: 3 },
      state: { before: null, after: { step: 'greeted', misses: 0 } },
    },
    {
      ...{ id: 't2', number: 2, trackingId: 'TRK-0002', atMs: 3500, endMs: 7900, end: 'replied', firstSoundMs: 7630 },
      input: { kind: 'speech', atMs: 4200, lastSoundMs: 6400, completeMs: 6900, text: 'I would like to move my appointment' },
      interim: [
        { atMs: 5000, text: 'I would like' },
        { atMs: 6100, text: 'I would like to move my' },
      ],
      prompts: [
        { text: 'Of course. Please key in your date of birth, eight digits.', atMs: 7630, startMs: 7650, endMs: 11_200, mayBeCut: false },
      ],
      next: { kind: 'listen', detail: 'for 8 digits, until #' },
      parts: { ...NO_PARTS, endpointingMs: 500, recognitionMs: 180, botMs: 6, modelMs: 410, synthesisMs: 118, engineMs: 12, wireMs: 4 },
      state: { before: { step: 'greeted', misses: 0 }, after: { step: 'identify', wish: 'move', misses: 0 } },
    },
    {
      ...{ id: 't3', number: 3, trackingId: 'TRK-0003', atMs: 11_300, endMs: 21_300, end: 'interrupted', firstSoundMs: 18_480 },
      input: { kind: 'keys', atMs: 12_100, completeMs: 16_500, isWithheld: true },
      prompts: [
        { text: 'One moment, please.', atMs: 17_250, startMs: 17_260, endMs: 18_420, mayBeCut: true, isFiller: true },
        {
          ...{
            text: 'Thank you. I have found two times: Tuesday at nine, or Thursday at half past two. Which one suits you?',
            atMs: 18_480,
          },
          ...{ startMs: 18_500, endMs: 21_300, unheardMs: 3600, mayBeCut: true },
        },
      ],
      bargeIn: {
        ...{ atMs: 21_300, by: 'speech', heardMs: 2800, heard: 'Thank you. I have found two times: Tuesday at nine,' },
        unheard: 'or Thursday at half past two. Which one suits you?',
      },
      next: { kind: 'listen' },
      parts: { ...NO_PARTS, botMs: 8, modelMs: 620, toolsMs: 1140, synthesisMs: 190, engineMs: 15, wireMs: 7 },
      state: {
        before: { step: 'identify', wish: 'move', misses: 0 },
        after: { step: 'choose', wish: 'move', misses: 0, slots: ['tue-0900', 'thu-1430'], patient: { isKnown: true } },
      },
    },
    {
      ...{ id: 't4', number: 4, trackingId: 'TRK-0004', atMs: 21_300, endMs: 24_900, end: 'replied', firstSoundMs: 24_180 },
      input: { kind: 'speech', atMs: 21_300, lastSoundMs: 22_900, completeMs: 23_400, text: 'Tuesday at nine is fine' },
      interim: [{ atMs: 22_100, text: 'Tuesday at' }],
      prompts: [
        {
          text: 'Tuesday at nine it is. Shall I send you a message about it?',
          atMs: 24_180,
          startMs: 24_200,
          endMs: 28_000,
          mayBeCut: true,
        },
      ],
      next: { kind: 'listen' },
      parts: { ...NO_PARTS, endpointingMs: 500, recognitionMs: 150, botMs: 5, modelMs: 480, synthesisMs: 130, engineMs: 11, wireMs: 4 },
      state: {
        before: { step: 'choose', wish: 'move', misses: 0, slots: ['tue-0900', 'thu-1430'], patient: { isKnown: true } },
        after: { step: 'confirm', wish: 'move', misses: 0, slots: ['tue-0900'], patient: { isKnown: true } },
      },
    },
    {
      ...{ id: 't5', number: 5, trackingId: 'TRK-0005', atMs: 28_100, endMs: 31_500, end: 'failed', firstSoundMs: 31_260 },
      input: { kind: 'speech', atMs: 29_000, lastSoundMs: 30_400, completeMs: 30_900, text: 'yes, to my mobile, and what does it cost?' },
      prompts: [
        {
          text: 'I am sorry, something went wrong. I connect you with a colleague.',
          atMs: 31_260,
          startMs: 31_280,
          endMs: 35_600,
          mayBeCut: false,
        },
      ],
      next: { kind: 'transfer', detail: 'to the desk' },
      parts: { ...NO_PARTS, endpointingMs: 500, recognitionMs: 210, botMs: 22, synthesisMs: 110, engineMs: 14, wireMs: 4 },
      error: { code: 'bot_failed', message: "Cannot read properties of undefined (reading 'total')", at: 'bots/front-desk.ts:118:31' },
    },
  ];
}

function shortEvents(): readonly ShownEvent[] {
  const ofTurn = (
    turn: number,
    list: readonly (readonly [number, ShownEvent['from'], string, (string | undefined)?, number?])[],
  ): ShownEvent[] =>
    list.map(([atMs, from, event, detail, ms]) => ({
      ...{ atMs, turn, from, event },
      ...(detail === undefined ? {} : { detail }),
      ...(ms === undefined ? {} : { ms }),
    }));
  return [
    { atMs: 0, from: 'server', event: 'session_started' },
    ...ofTurn(1, [
      [6, 'server', 'bot_asked', 'start'],
      [10, 'bot', 'bot_answered', undefined, 4],
      [18, 'service', 'synthesis', 'in the cache: no', 122],
      [140, 'server', 'reply_started', undefined, 135],
    ]),
    ...ofTurn(2, [
      [4200, 'caller', 'input_started'],
      [6900, 'server', 'input_ended'],
      [7080, 'service', 'recognized', undefined, 180],
      [7082, 'server', 'bot_asked', 'speech_input'],
      [7390, 'service', 'model_first_token', 'small-1', 308],
      [7495, 'bot', 'bot_answered', undefined, 413],
      [7500, 'service', 'synthesis', undefined, 118],
      [7630, 'server', 'reply_started', undefined, 1230],
    ]),
    ...ofTurn(3, [
      [16_502, 'server', 'bot_asked', 'dtmf_input'],
      [17_200, 'service', 'model_first_token', 'small-1', 620],
      [17_210, 'service', 'tool_called', 'find_slots'],
      [17_250, 'server', 'filler_spoken'],
      [18_290, 'service', 'tool_answered', 'find_slots', 1080],
      [18_300, 'bot', 'bot_answered', undefined, 1798],
      [18_480, 'server', 'reply_started', undefined, 1980],
      [21_300, 'caller', 'barge_in', 'by speech', 2800],
    ]),
    ...ofTurn(4, [
      [23_552, 'server', 'bot_asked', 'speech_input'],
      [23_900, 'service', 'model_first_token', 'small-1', 350],
      [24_040, 'bot', 'bot_answered', undefined, 488],
      [24_180, 'server', 'reply_started', undefined, 1280],
    ]),
    ...ofTurn(5, [
      [31_110, 'server', 'bot_asked', 'speech_input'],
      [31_120, 'bot', 'bot_failed', 'TypeError', 10],
      [31_260, 'server', 'reply_started', undefined, 860],
    ]),
    { atMs: 35_700, from: 'platform', event: 'transferred' },
    { atMs: 42_000, from: 'server', event: 'session_ended', detail: 'bot_transfer' },
  ];
}

function shortMessages(): readonly ShownMessage[] {
  return [
    { atMs: 1, turn: 1, from: 'platform', name: 'VoiceVARequest', detail: 'SESSION_START', bytes: 212 },
    { atMs: 141, turn: 1, from: 'server', name: 'VoiceVAResponse', detail: 'prompt, CHUNK', bytes: 16_058 },
    { atMs: 900, turn: 1, from: 'server', name: 'VoiceVAResponse', detail: 'FINAL, listen', bytes: 64 },
    { atMs: 3501, turn: 2, from: 'platform', name: 'VoiceVARequest', detail: 'audio, 170 frames', bytes: 27_200 },
    { atMs: 4210, turn: 2, from: 'server', name: 'VoiceVAResponse', detail: 'START_OF_INPUT', bytes: 18 },
    { atMs: 6901, turn: 2, from: 'server', name: 'VoiceVAResponse', detail: 'END_OF_INPUT', bytes: 18 },
    {
      ...{ atMs: 7631, turn: 2, from: 'server', name: 'VoiceVAResponse', detail: 'FINAL, listen for digits', bytes: 28_500 },
      findings: [{ code: 'settings_only_on_final', rule: 'G-44', message: 'input settings stand on a message that is no final one' }],
    },
    { atMs: 16_501, turn: 3, from: 'platform', name: 'VoiceVARequest', detail: 'keys, withheld', bytes: 40 },
    { atMs: 18_481, turn: 3, from: 'server', name: 'VoiceVAResponse', detail: 'FINAL, listen', bytes: 51_200 },
    { atMs: 31_261, turn: 5, from: 'server', name: 'VoiceVAResponse', detail: 'FINAL, transfer', bytes: 34_560 },
  ];
}

function spoken(turns: readonly ShownTurn[]): readonly (readonly [number, number])[] {
  return turns.flatMap(({ input }) => (input?.lastSoundMs === undefined ? [] : [[input.atMs, input.lastSoundMs] as const]));
}

/** Syllables of noise in the given stretches. */
function track(durationMs: number, stretches: readonly (readonly [number, number])[]): { readonly peaks: string; readonly href: string } {
  const random = seededNumbers(1);
  const samples = new Int16Array((durationMs * RATE_HZ) / 1000);
  for (const [fromMs, toMs] of stretches) {
    for (let at = Math.round((fromMs * RATE_HZ) / 1000); at < (toMs * RATE_HZ) / 1000; at += 1) {
      const seconds = at / RATE_HZ;
      const loudness = Math.abs(Math.sin(seconds * 9)) * (0.55 + 0.45 * Math.sin(seconds * 1.7 + fromMs));
      samples[at] = Math.round(loudness * 9000 * (Math.sin(seconds * 2 * Math.PI * 170) + 0.6 * (random() - 0.5)));
    }
  }
  const peaks = Uint8Array.from({ length: samples.length / PEAK_SAMPLES }, (_, index) => {
    const loudest = samples
      .subarray(index * PEAK_SAMPLES, (index + 1) * PEAK_SAMPLES)
      .reduce((most, each) => Math.max(most, Math.abs(each)), 0);
    return Math.min(255, loudest >> 7);
  });
  const wav = Buffer.from(pcmWav([samples], RATE_HZ)).toString('base64');
  return { peaks: Buffer.from(peaks).toString('base64'), href: `data:audio/wav;base64,${wav}` };
}

function quietTrack(durationMs: number, random: () => number): { readonly peaks: string; readonly href: string } {
  const peaks = Uint8Array.from({ length: durationMs / 20 }, (_, index) =>
    Math.round(random() * (Math.floor(index / 150) % 2 === 0 ? 200 : 3)),
  );
  return { peaks: Buffer.from(peaks).toString('base64'), href: '' };
}
