// A reply in the form that travels between machines.
import { describe, expect, it } from 'vitest';
import type { Prompt, Reply } from '../../../../src/dialog/reply.ts';
import { savedReply, replyOf } from '../../../../src/session/snapshot/saved-reply.ts';

const ECHO: Prompt = { kind: 'audio', mulaw: Uint8Array.from([1, 2, 3, 250, 251, 252]), bargeIn: false };
const REPLY: Reply = {
  prompts: [{ kind: 'text', text: 'You said:', bargeIn: true }, ECHO, { kind: 'file', file: 'beep.wav', bargeIn: true }],
  next: { kind: 'listen', digits: 4 },
};

describe('a reply that travels', () => {
  it('is plain JSON on its way and the same reply afterwards', () => {
    const kept = savedReply(REPLY, 1000);
    expect(kept).toEqual({
      prompts: [REPLY.prompts[0], { kind: 'audio', mulawBase64: 'AQID+vv8', bargeIn: false }, REPLY.prompts[2]],
      next: REPLY.next,
    });
    expect(JSON.parse(JSON.stringify(kept))).toEqual(kept);
    expect(kept === undefined ? undefined : replyOf(kept)).toEqual({
      ...REPLY,
      prompts: [REPLY.prompts[0], { ...ECHO, mulaw: Buffer.from(ECHO.mulaw) }, REPLY.prompts[2]],
    });
  });

  it('does not travel when the sound that its bot has made is too large, all of it in Base64', () => {
    const twice = { ...REPLY, prompts: [ECHO, ...REPLY.prompts] };
    expect([savedReply(twice, 16) !== undefined, savedReply(twice, 15)]).toEqual([true, undefined]);
  });

  it('travels without its prompts when it ends the call', () => {
    const next = { kind: 'end', outcome: 'done' } as const;
    expect(savedReply({ ...REPLY, next }, 1)).toEqual({ prompts: [], next });
  });

  it('may have any number of other prompts', () => {
    expect(savedReply({ ...REPLY, prompts: REPLY.prompts.filter(({ kind }) => kind !== 'audio') }, 0)).toBeDefined();
  });
});
