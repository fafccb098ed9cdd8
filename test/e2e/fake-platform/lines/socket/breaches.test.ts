// What the platform finds wrong in the answers on a socket, each with its rule; the call goes on.
import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../../../../../src/fake-platform/caller/caller.ts';
import { mulawWav } from '../../../../../src/speech/wav.ts';
import { tone } from '../../../../support/call-lab.ts';
import { press, say } from '../../../../support/fake-line.ts';
import {
  around,
  callSocket,
  chunk,
  ending,
  final,
  hear,
  LISTEN,
  reply,
  welcome,
  type ScriptedSocket,
} from '../../../../support/scripted-socket-server.ts';

const WAIT: Partial<CallOptions> = { script: [{ kind: 'wait', waitMs: 1000 }] };

/** What is found in a call that is welcomed like this. */
async function found(
  script: (socket: ScriptedSocket) => void | Promise<void>,
  options: Partial<CallOptions> = {},
): Promise<readonly string[]> {
  const { result } = await callSocket(async (socket) => {
    await socket.next('SESSION_START');
    await script(socket);
  }, options);
  expect(result.findings.filter(({ fatal }) => fatal)).toEqual([]);
  return result.findings.map(({ code, rule }) => `${rule ?? '?'} ${code}`);
}

const wav = { audio_content_b64: Buffer.from(mulawWav(tone(100))).toString('base64') };
const raw = { audio_content_b64: Buffer.from(tone(100)).toString('base64') };

describe('the platform on a socket finds', () => {
  it.each<[string, string, (socket: ScriptedSocket) => void]>([
    [
      'W-30 a header in a CHUNK',
      'W-30 wav_header_in_chunk',
      (socket) => {
        socket.respond({ response_type: 'CHUNK', prompts: [wav] });
        socket.respond(final());
      },
    ],
    [
      'W-30 a header in a FINAL',
      'W-30 wav_header_in_chunk',
      (socket) => {
        socket.respond(final({ prompts: [wav] }));
      },
    ],
    [
      'W-31 a CHUNK of less than 40 ms',
      'W-31 chunk_size',
      (socket) => {
        reply(socket, 39);
      },
    ],
    [
      'W-31 a CHUNK of more than 32 KiB',
      'W-31 chunk_size',
      (socket) => {
        reply(socket, 4097);
      },
    ],
    [
      'W-25 audio in the FINAL of a streamed reply',
      'W-25 final_audio_in_chunk_mode',
      (socket) => {
        socket.respond(chunk(100));
        socket.respond(final({ prompts: [raw] }));
      },
    ],
    [
      'W-25 a FINAL of a streamed reply without a prompt',
      'W-25 final_without_prompt',
      (socket) => {
        socket.respond(chunk(100));
        socket.respond({ response_type: 'FINAL', ...LISTEN });
      },
    ],
    [
      'W-24 a PARTIAL that the request did not allow',
      'W-24 partial_not_allowed',
      (socket) => {
        socket.respond({ ...chunk(100), response_type: 'PARTIAL' });
        socket.respond(final());
      },
    ],
    [
      'W-24 a second FINAL',
      'W-24 second_final',
      (socket) => {
        reply(socket, 100);
        socket.respond(final());
      },
    ],
    [
      'W-24 sound behind the FINAL of its reply',
      'W-24 answer_unasked',
      (socket) => {
        // While it plays, nobody listens whom anything could be the answer to.
        reply(socket, 4000);
        socket.respond(chunk(100));
      },
    ],
    [
      'W-10 a seq that is repeated',
      'W-10 sequence_broken',
      (socket) => {
        socket.respond(chunk(100));
        socket.respond(final(), { seq: 1 });
      },
    ],
    [
      'W-13 the conversation_id of another call',
      'W-13 envelope_wrong',
      (socket) => {
        reply(socket, 100);
        socket.tell('PING', { conversation_id: 'another' });
      },
    ],
    [
      'W-12 a ts that is no date-time',
      'W-12 envelope_wrong',
      (socket) => {
        socket.respond(chunk(100));
        socket.respond(final(), { ts: 'yesterday' });
      },
    ],
    [
      'G-80 a FINAL without input settings',
      'G-80 input_settings_missing',
      (socket) => {
        socket.respond(chunk(100));
        socket.respond({ response_type: 'FINAL', prompts: [{ audio_content_b64: '' }] });
      },
    ],
  ])('%s', async (_, expected, script) => {
    expect(await found(script)).toEqual([expected]);
  });

  it.each([
    ['seq', 'W-10'],
    ['ts', 'W-12'],
    ['conversation_id', 'W-13'],
    ['response_type', 'W-12'],
  ])('an envelope without %s (%s), and goes on', async (field, rule) => {
    const names = await found((socket) => {
      const envelope = {
        type: 'VOICE_VA_RESPONSE',
        seq: 9,
        ts: '2026-01-01T00:00:00Z',
        conversation_id: 'conversation-1',
        payload: final(),
      };
      const { [field]: _, ...payload } = envelope.payload;
      const whole: Record<string, unknown> = { ...envelope, payload };
      socket.raw(JSON.stringify(Object.fromEntries(Object.entries(whole).filter(([name]) => name !== field))));
    });
    expect(names).toEqual([`${rule} envelope_wrong`]);
  });

  it.each([0, -1, 1.5, '7', null])('W-10 a seq that is %j and no count from 1, and goes on', async (seq) => {
    const names = await found((socket) => {
      socket.respond(chunk(100), { seq });
      socket.respond(final());
    });
    expect(names).toEqual(['W-10 envelope_wrong']);
  });

  it('W-26 an answer to START_OF_DTMF', async () => {
    const names = await found(
      async (socket) => {
        reply(socket, 100, { input_mode: 'INPUT_EVENT_DTMF', input_handling_config: { dtmf_config: { dtmf_input_length: 4 } } });
        await socket.next('START_OF_DTMF');
        socket.respond(final());
        await socket.next('dtmf ONE TWO THREE FOUR');
        socket.respond(ending('SESSION_END'));
      },
      { script: [press('1234')] },
    );
    expect(names).toEqual(['W-26 answer_to_key_press']);
  });

  it('W-28 a prompt for a caller who has hung up', async () => {
    const names = await found(async (socket) => {
      reply(socket, 100);
      await socket.next('SESSION_END');
      socket.respond(final({ prompts: [raw] }));
    });
    expect(names).toEqual(['W-28 answer_after_hang_up']);
  });

  it('W-44 another close code than 1000 at the end of a call', async () => {
    const hungUp = await found(async (socket) => {
      reply(socket, 100);
      await socket.next('SESSION_END');
      socket.close(1011);
    });
    expect(hungUp).toEqual(['W-44 close_code_wrong']);
    const ended = await found((socket) => {
      socket.respond(chunk(4000));
      socket.respond(ending('SESSION_END'));
      socket.close(1011);
    });
    expect(ended).toEqual(['W-44 close_code_wrong']);
  });

  it('W-44 nothing in a server that goes away after its farewell', async () => {
    const names = await found((socket) => {
      socket.respond(chunk(4000));
      socket.respond(ending('SESSION_END'));
      socket.close(1001);
    });
    expect(names).toEqual([]);
  });

  it('W-29 another answer than 1000 to the close of the platform', async () => {
    const names = await found((socket) => {
      socket.respond(chunk(100));
      socket.respond(ending('SESSION_END'));
      socket.answerCloseWith(1011);
    });
    expect(names).toEqual(['W-29 close_code_wrong']);
  });

  it('W-24 a second reply to one input while the first one plays that may be cut, and measures no wait for it', async () => {
    const { result } = await callSocket(async (socket) => {
      await socket.next('SESSION_START');
      reply(socket, 1000, {}, true);
      reply(socket, 100, {}, true);
    }, WAIT);
    expect(result.findings).toMatchObject([{ code: 'answer_unasked', rule: 'W-24' }]);
    expect(result.replies).toMatchObject([{ kind: 'session_start' }, { kind: 'speech', audioMs: 100, latencyMs: undefined }]);
  });

  it('G-37 START_OF_INPUT while a prompt plays that may not be cut, and nobody listens', async () => {
    const names = await found(async (socket) => {
      reply(socket, 3000);
      for (let frame = 0; frame < 20; frame += 1) await socket.next('silence');
      socket.respond(around('START_OF_INPUT'));
    });
    expect(names).toEqual(['G-37 input_start_not_allowed']);
  });

  it('G-37 nothing in START_OF_INPUT that crosses the first key of an entry', async () => {
    const names = await found(
      async (socket) => {
        reply(socket, 100, { input_handling_config: { dtmf_config: { dtmf_input_length: 2, inter_digit_timeout_msec: 3000 } } });
        await socket.next('START_OF_DTMF');
        socket.respond(around('START_OF_INPUT'));
        await socket.next('dtmf ONE TWO');
        socket.respond(ending('SESSION_END'));
      },
      { script: [press('12')] },
    );
    expect(names).toEqual([]);
  });

  it('G-52 START_OF_INPUT before anything could be heard, and G-36 one too many', async () => {
    const early = await found((socket) => {
      socket.respond(around('START_OF_INPUT'));
      reply(socket, 100);
    });
    expect(early).toEqual(['G-52 input_start_misplaced']);
    const twice = await found(
      async (socket) => {
        reply(socket, 100);
        await socket.next('speech');
        socket.respond(around('START_OF_INPUT'));
        await hear(socket);
        reply(socket, 100);
      },
      { script: [say(300)] },
    );
    expect(twice).toEqual(['G-36 input_start_repeated']);
  });

  it('W-24 nothing in a reply without the events around speech', async () => {
    const names = await found(
      async (socket) => {
        reply(socket, 100);
        await socket.next('speech');
        await socket.next('silence');
        reply(socket, 100);
      },
      { script: [say(300)] },
    );
    expect(names).toEqual([]);
  });
});

describe('the platform pings', () => {
  it('W-40 in JSON, and takes the PONG with the seq of the PING without counting it (W-41)', async () => {
    const { result, server } = await callSocket((socket) => welcome(socket), { script: [{ kind: 'wait', waitMs: 2000 }] });
    expect(server.sockets[0]?.received.some(({ name }) => name === 'PING')).toBe(true);
    expect(result).toMatchObject({ outcome: 'hung_up', findings: [] });
  });

  it.each([
    ['none', 'a PING was not answered within 8000 ms'],
    ['own', 'a PONG carries 900 and not the seq of its PING'],
  ] as const)('W-40 and finds a PONG of the kind "%s"', async (pong, message) => {
    const { result } = await callSocket(
      (socket) => {
        socket.pong = pong;
        return welcome(socket);
      },
      { script: [{ kind: 'wait', waitMs: 12_000 }], limits: { connectMs: 8000 } },
    );
    expect(result.findings).toMatchObject([{ code: 'pong_missing', rule: 'W-40', message: expect.stringContaining(message) as string }]);
  });

  it('W-40 and misses no PONG while it does not read itself', async () => {
    const { result } = await callSocket((socket) => welcome(socket), {
      script: [{ kind: 'wait', waitMs: 24_000 }],
      conditions: { slowReader: { pauseMs: 20_000 } },
      limits: { connectMs: 8000 },
    });
    expect(result).toMatchObject({ outcome: 'hung_up', findings: [] });
  });

  it('W-40 and finds a PONG missing that does not come after it reads again', async () => {
    const { result } = await callSocket(
      (socket) => {
        socket.pong = 'none';
        return welcome(socket);
      },
      {
        script: [{ kind: 'wait', waitMs: 15_000 }],
        conditions: { slowReader: { pauseMs: 2000 } },
        limits: { connectMs: 8000 },
      },
    );
    expect(result.findings).toMatchObject([{ code: 'pong_missing', rule: 'W-40' }]);
  });

  it('W-40, W-41 and answers those of the server with their seq, its own count undisturbed', async () => {
    const { result, server } = await callSocket(async (socket) => {
      await socket.next('SESSION_START');
      socket.tell('PING');
      expect(await socket.next('PONG')).toMatchObject({ seq: 1, conversation_id: 'conversation-1' });
      reply(socket, 100);
    }, WAIT);
    expect(result.findings).toEqual([]);
    expect(server.failures).toEqual([]);
    const own = server.sockets[0]?.received.filter(({ name }) => name !== 'PONG').map(({ envelope }) => envelope.seq) ?? [];
    expect(own).toEqual(own.map((_, index) => index + 1));
  });
});
