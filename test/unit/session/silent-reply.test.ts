import { describe, expect, it } from 'vitest';
import { bot, go, listen, play, say, type Reply, type Saying } from '../../../src/bot/index.ts';
import type { DeliveryMode } from '../../../src/dialog/output.ts';
import type { Prompt } from '../../../src/dialog/reply.ts';
import type { SessionObserver } from '../../../src/session/ports.ts';
import { FakeVoice, snapshotOf, TEST_SETTINGS, testEngine } from '../../support/engine.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { apology, transfer: transferPrompt } = TEST_SETTINGS.lines;

/** Has no recording whose name says that it is missing, and finds that out at once or later. */
class FewRecordings extends FakeVoice {
  readonly #isSlow: boolean;

  constructor(isSlow: boolean) {
    super();
    this.#isSlow = isSlow;
  }

  override render(prompt: Prompt): ReturnType<FakeVoice['render']> {
    if (prompt.kind !== 'file') return super.render(prompt);
    const sound = prompt.file.startsWith('missing') ? undefined : super.render(prompt);
    return this.#isSlow ? Promise.resolve(sound) : sound;
  }
}

interface Options {
  readonly yields?: readonly Saying[];
  readonly isSlow?: boolean;
  readonly mode?: DeliveryMode;
  readonly observer?: SessionObserver;
}

/** Every key is answered with `yields` and `reply`; the welcome is a text. */
async function answering(reply: Reply, options: Options = {}) {
  const { yields = [], isSlow = false, mode = 'chunk', observer } = options;
  const talker = bot<{ readonly keys: number }>({
    id: 'talker',
    name: 'Talker',
    version: 1,
    session_start: () => go({ keys: 0 }, say('Hi.').listen()),
    *dtmf_input({ keys }) {
      yield* yields;
      return go({ keys: keys + 1 }, reply);
    },
    otherwise: (state) => go(state, say('What?').listen()),
  });
  const engine = await testEngine([talker], {
    voice: new FewRecordings(isSlow),
    settings: { mode },
    ...(observer !== undefined && { observer }),
  });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  return { ...engine, call };
}

const MISSING = play('missing-1.wav').play('missing-2.wav');

describe('a reply of which nothing can be heard', () => {
  it.each([
    ['at once', {}],
    ['after a look at the disk', { isSlow: true }],
    ['in WAV mode', { mode: 'wav' }],
    ['although it was spoken early', { yields: [MISSING] }],
  ] as const)('has failed like a bot that throws: an apology, then a person, when it is found out %s', async (_how, options) => {
    const { call, seen, sessions } = await answering(MISSING.listen({ digits: 4 }), options);
    const first = await call.press('1');
    expect([first.texts, first.next]).toMatchObject([[apology], { kind: 'listen', digits: 1 }]);
    expect(seen).toContain('bot_failed prompt_unusable');
    expect((await snapshotOf({ sessions }))?.state).toEqual({ keys: 0 });
    const second = await call.press('1');
    expect([second.texts, second.next]).toMatchObject([[transferPrompt], { kind: 'transfer', metadata: { reason: 'failed' } }]);
  });

  it('names the recordings that are missing, without the digits of their names (G-68)', async () => {
    const failures: string[] = [];
    const { call } = await answering(MISSING.listen(), {
      observer: { botFailed: (_call, _turnId, { message }) => failures.push(message) },
    });
    await call.press('1');
    expect(failures).toEqual([expect.stringContaining('"missing-#.wav", "missing-#.wav"')]);
  });

  it('has failed, too, when all of it was spoken early and nothing is left to say', async () => {
    const { call } = await answering(listen(), { yields: [MISSING] });
    expect((await call.press('1')).texts).toEqual([apology]);
  });

  it.each([
    ['a text beside it', MISSING.say('Yes.').listen(), {}],
    ['a recording beside it', play('missing.wav').play('yes.wav').listen(), {}],
    ['something spoken early', MISSING.listen(), { yields: [say('Yes.')] }],
    ['nothing to say at all', listen(), {}],
    ['recordings that must be read first', play('yes.wav').listen(), { isSlow: true }],
  ] as const)('has not failed with %s', async (_what, reply, options) => {
    const { call, seen } = await answering(reply, options);
    expect((await call.press('1')).next?.kind).toBe('listen');
    expect((await call.press('1')).next?.kind).toBe('listen');
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toEqual([]);
  });

  it('still transfers and ends calls without a word', async () => {
    for (const reply of [MISSING.transfer({ reason: 'asked' }), MISSING.end()]) {
      const { call, seen } = await answering(reply);
      expect((await call.press('1')).next?.kind).toBe(reply.next.kind);
      expect(seen).not.toContain('bot_failed prompt_unusable');
    }
  });

  it('asks no recording twice', async () => {
    const asked: string[] = [];
    class Counting extends FewRecordings {
      override render(prompt: Prompt): ReturnType<FakeVoice['render']> {
        if (prompt.kind === 'file') asked.push(prompt.file);
        return super.render(prompt);
      }
    }
    const talker = bot<null>({
      id: 'talker',
      name: 'Talker',
      version: 1,
      session_start: () => go(null, play('missing.wav').play('yes.wav').listen()),
      otherwise: () => go(null, listen()),
    });
    const { sessions } = await testEngine([talker], { voice: new Counting(true) });
    expect((await new MemoryCall(sessions).start()).kinds).toEqual(['prompt', 'final']);
    expect(asked).toEqual(['missing.wav', 'yes.wav']);
  });
});
