// The console of a real server: its calls by every filter, its page, and nothing that anybody said.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallView } from '../../src/dialog/call-view.ts';
import type { FoundCalls, Overview } from '../../src/ops/console-api.ts';
import { readWav } from '../../src/speech/wav.ts';
import type { PlatformCall } from '../support/platform-call.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event, keys } from '../support/wire-audio.ts';

const VIEW = 'view-token-of-thirty-two-characters';
const LISTEN = 'listen-token-of-thirty-two-characters';
/** What the caller presses. */
const PRESSED = /47110815/u;
const folder = mkdtempSync(path.join(tmpdir(), 'parley-console-'));

let server: RunningServer;
let call: PlatformCall;

beforeAll(async () => {
  const recorded = ['enabled=true', `folder=${folder}`, `keys=["${'ab'.repeat(32)}"]`].map((each) => `--recordings.${each}`);
  const tokens = [`--ops.console.view_token=${VIEW}`, `--ops.console.listen_token=${LISTEN}`];
  server = await RunningServer.start({ flags: [...WITH_TEST_BOTS, ...tokens, ...recorded] });
  const client = await server.client();
  call = client.call();
  const turn = client
    .open({ metadata: { trackingid: 'ROUTER-7' } })
    .send(call.message(event('SESSION_START')))
    .halfClose();
  await turn.ended();
  await call.turn(keys('4', '7', '1', '1', '0', '8', '1', '5'));
  await call.turn(event('SESSION_END'));
  await client.call().turn(event('SESSION_START'));
  await until('one call is over', () => server.app.openSessions() === 1);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const AS_LISTENER = { authorization: `Bearer ${LISTEN}` };

async function get(path: string, headers: Record<string, string> = { authorization: `Bearer ${VIEW}` }): Promise<Response> {
  return fetch(`http://127.0.0.1:${String(server.app.ready.opsPort)}${path}`, { headers });
}

async function idsOf(query: string): Promise<readonly string[]> {
  const { calls } = (await (await get(`/api/calls?${query}`)).json()) as FoundCalls;
  return calls.map(({ conversationId }) => conversationId);
}

describe('the console of a server', () => {
  it('finds calls by organization, id, tracking id, outcome and time', async () => {
    const { conversationId, organizationId } = call.ids;
    expect(await idsOf('')).toHaveLength(2);
    expect(await idsOf(`organizationId=${organizationId}`)).toHaveLength(2);
    expect(await idsOf('organizationId=another')).toEqual([]);
    for (const query of [`conversationId=${conversationId.slice(0, 12)}`, 'trackingId=ROUTER', 'end=caller']) {
      expect(await idsOf(query), query).toEqual([conversationId]);
    }
    expect(await idsOf('end=open')).toHaveLength(1);
    const untilMs = String(Date.now());
    expect(await idsOf(`fromMs=0&untilMs=${untilMs}`)).toHaveLength(2);
    expect(await idsOf(`fromMs=${untilMs}0`)).toEqual([]);
  });

  it('shows the server and what happened', async () => {
    const overview = (await (await get('/api/overview')).json()) as Overview;
    expect(overview.servers).toMatchObject([{ isReady: true, openCalls: 1, address: expect.stringContaining(':') as string }]);
    expect(overview.servers[0]?.maxCalls).toBeGreaterThan(0);
    expect(overview.traffic.reduce((sum, { started }) => sum + started, 0)).toBe(2);
    expect(overview.latency.p95Ms).toBeGreaterThanOrEqual(overview.latency.p50Ms ?? Infinity);
    expect(overview.silent).toEqual([]);
  });

  it('opens a call with its turns, and writes down who did', async () => {
    const view: unknown = await (await get(`/api/calls/${call.ids.conversationId}`)).json();
    expect(view).toMatchObject({ call: { end: 'caller' }, turns: [{ number: 1, trackingId: 'ROUTER-7' }, { number: 2 }, { number: 3 }] });
    const lines = server.logged({ event: 'console_audit', conversationId: call.ids.conversationId });
    expect(lines).toMatchObject([{ what: 'call_opened', who: 'view token', role: 'view', outcome: 'shown' }]);
  });

  it('P-14 shows nothing that the caller pressed or heard', async () => {
    for (const place of ['/api/overview', '/api/calls', `/api/calls/${call.ids.conversationId}`, `/calls/${call.ids.conversationId}`]) {
      const text = await (await get(place)).text();
      expect(text.length, place).toBeGreaterThan(100);
      expect(text, place).not.toMatch(PRESSED);
    }
    const sound = await get(`/api/calls/${call.ids.conversationId}/sound/bot`);
    expect([sound.status, sound.headers.get('content-type')]).toEqual([403, 'application/json; charset=utf-8']);
  });

  it('shows what happened in a recorded call to the role listen alone, and lets it hear both sides', async () => {
    const { conversationId } = call.ids;
    const view = (await (await get(`/api/calls/${conversationId}`, AS_LISTENER)).json()) as CallView;
    expect(JSON.stringify(view.turns)).toMatch(PRESSED);
    for (const side of ['caller', 'bot'] as const) {
      const href = view.sound[side]?.href ?? '';
      const sound = await get(new URL(href, 'http://x/console/').pathname, AS_LISTENER);
      expect(sound.status, href).toBe(200);
      expect(readWav(new Uint8Array(await sound.arrayBuffer())).sampleRateHz).toBe(8000);
    }
    const heard = server.logged({ event: 'console_audit', what: 'sound_heard' });
    expect(heard.map(({ role, outcome, conversationId: named }) => [role, outcome, named])).toEqual([
      ['view', 'refused', undefined],
      ['listen', 'shown', conversationId],
    ]);
  });

  it('serves its page from this server alone', async () => {
    const page = await get('/console/', {});
    const html = await page.text();
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(html).toContain('operations.js');
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//u);
    expect((await get('/console/operations.js', {})).status).toBe(200);
    expect((await get('/api/overview', {})).status).toBe(401);
  });
});
