import { describe, expect, it } from 'vitest';
import { TestCall } from 'parley-voice/testing';
import echo from './echo.ts';

describe('echo', () => {
  it("plays the caller's own audio back", async () => {
    const spoken = Uint8Array.from({ length: 4000 }, (_, index) => index % 251);
    const call = await (await new TestCall(echo).start()).speak(undefined, { mulaw: spoken });
    expect(call.prompts).toEqual([{ kind: 'audio', mulaw: spoken, bargeIn: true }]);
    expect(call.reply.next.kind).toBe('listen');
  });

  it('says goodbye for any key', async () => {
    (await (await new TestCall(echo).start()).press('5')).hears('Goodbye').ended('key');
  });

  it('asks twice before it gives up on silence', async () => {
    const call = await new TestCall(echo).start();
    (await call.silence()).hears(/did not hear you/);
    (await call.silence()).hears(/did not hear you/);
    (await call.silence()).ended('silence');
  });

  it('starts counting silences anew after the caller spoke', async () => {
    const call = await new TestCall(echo).start();
    await call.silence();
    await call.silence();
    await call.speak();
    (await call.silence()).hears(/did not hear you/);
  });
});
