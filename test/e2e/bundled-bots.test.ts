// One call to each bundled bot over the wire, with the voice it has on a fresh machine. What is said is read from the
// trailers, which a test setting allows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joined, recorded, silence } from '../support/line-signals.ts';
import type { ClientTurn, PlatformClient } from '../support/platform-client.ts';
import { RunningServer, SPEAKS_ANEW } from '../support/running-server.ts';
import { event, format, frames, keys } from '../support/wire-audio.ts';

describe('the bundled bots', () => {
  let server: RunningServer;
  let client: PlatformClient;
  beforeAll(async () => {
    server = await RunningServer.start({ flags: ['--media.reveal_prompt_text=true', '--bots.default_bot=front-desk', SPEAKS_ANEW] });
    client = await server.client();
    await server.app.warmed;
  });
  afterAll(async () => {
    await server.quiet();
    await server.close();
  });

  it('are listed with the default one marked (G-05, G-07)', async () => {
    expect((await client.list()).virtual_agents).toEqual([
      { virtual_agent_id: 'appointments', virtual_agent_name: 'Appointments', is_default: false },
      { virtual_agent_id: 'clinic', virtual_agent_name: 'Clinic', is_default: false },
      { virtual_agent_id: 'code-line', virtual_agent_name: 'Code line', is_default: false },
      { virtual_agent_id: 'echo', virtual_agent_name: 'Echo', is_default: false },
      { virtual_agent_id: 'front-desk', virtual_agent_name: 'Front desk', is_default: true },
      { virtual_agent_id: 'talk', virtual_agent_name: 'Talk', is_default: false },
    ]);
  });

  it('front-desk answers a call that names no agent: chime, menu, hours, and a person with a summary', async () => {
    const call = client.call();
    const welcome = await call.turn(event('SESSION_START'));
    expect(welcome.story).toEqual(['CHUNK audio', 'CHUNK audio', 'FINAL empty']);
    expect(said(welcome)).toMatch(/^Welcome to the front desk/);
    expect(said(await call.turn(keys('1')))).toMatch(/nine to five/);
    const last = await call.turn(keys('0'));
    expect(last.story).toEqual(['CHUNK audio', 'FINAL TRANSFER_TO_AGENT empty']);
    expect(last.responses.at(-1)).toMatchObject({ session_summary: { text: 'The caller has heard: hours.' } });
  });

  it('echo says a sentence back in the voice of the caller', async () => {
    const call = client.call({ agentId: 'echo' });
    expect(said(await call.turn(event('SESSION_START')))).toMatch(/^Say something/);
    const turn = call.open(format(), ...frames(joined(silence(300), recorded('number'), silence(1500))));
    await turn.heard('CHUNK END_OF_INPUT');
    await turn.halfClose().ended();
    expect(turn.audio.includes(Buffer.from(recorded('number').subarray(8000, 24_000)))).toBe(true);
    // The caller's own words have no text.
    expect(turn.trailerTexts).toBeUndefined();
    expect(said(await call.turn(keys('5')))).toBe('Goodbye.');
  });

  it('code-line takes four sensitive digits, reads them back and ends', async () => {
    const call = client.call({ agentId: 'code-line' });
    const welcome = await call.turn(event('SESSION_START'));
    expect(said(welcome)).toMatch(/four digit code/);
    expect(welcome.responses.at(-1)).toMatchObject({ input_sensitive: true });
    expect(said(await call.turn(keys('7', '0', '4', '2', '#')))).toBe('You entered 7 0 4 2. Press 1 if right, 2 to try again.');
    const last = await call.turn(keys('1'));
    expect(last.story).toEqual(['CHUNK audio', 'FINAL SESSION_END empty']);
    // G-68: not even at debug level, and not as the text that reads them back.
    expect(JSON.stringify(server.log)).not.toMatch(/\b7042\b|7 0 4 2/);
  });
});

/** Everything that was said on a turn and has a text. */
function said(turn: ClientTurn): string {
  return Array.isArray(turn.trailerTexts) ? turn.trailerTexts.join(' ') : '';
}
