// A caller and a scripted server on one fast clock, and the prompts and words they exchange: what every test of the
// fake platform's caller begins with.
import type { MediaResponse, WirePrompt } from '../../src/contract/grpc.ts';
import { RESPONSE_TYPE } from '../../src/contract/numbers.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { placeCall, type CallOptions, type CallResult } from '../../src/fake-platform/caller/caller.ts';
import { mulawWav } from '../../src/speech/wav.ts';
import { signal } from './line-signals.ts';
import { scaledClock } from '../../src/base/scaled-clock.ts';
import { eventOnly, listenFor, startScriptedServer, type ScriptedServer, type ScriptedTurn, type TurnScript } from './scripted-server.ts';

/** How fast calls run in tests. */
const PACE = 20;

/** Waits that only end a test that hangs; at pace 20 they are seconds. */
const PATIENT = { answerMs: 120_000, connectMs: 120_000, callMs: 500_000, hangUpMs: 120_000 };

/** A call and the server's side of it. */
export interface LabCall {
  readonly result: CallResult;
  readonly server: ScriptedServer;
}

/** Places one call to a server of which `script` answers every RPC, and closes the server. */
export async function callScripted(script: TurnScript, options: Partial<CallOptions> = {}): Promise<LabCall> {
  const clock = options.clock ?? scaledClock(PACE);
  const server = await startScriptedServer({ script, clock });
  try {
    const result = await placeCall({
      target: server.target,
      profile: loadProfile('fake'),
      organizationId: '11111111-2222-4333-8444-555555555555',
      conversationId: 'conversation-1',
      clock,
      ...options,
      limits: { ...PATIENT, ...options.limits },
    });
    return { result, server };
  } finally {
    server.close();
  }
}

/** A steady tone: what a prompt sounds like here. */
export function tone(ms: number, hertz = 440): Uint8Array {
  return signal(ms, (index) => 0.5 * Math.sin((2 * Math.PI * hertz * index) / 8000));
}

/** A WAV prompt of so many ms. */
function wavPrompt(ms: number, more: Omit<WirePrompt, 'audio_content'> = {}): WirePrompt {
  return { audio_content: mulawWav(tone(ms)), ...more };
}

/** The reply of a server in WAV mode: one FINAL with a prompt and what to listen for. */
export function wavReply(ms: number, more: MediaResponse = {}, prompt: Omit<WirePrompt, 'audio_content'> = {}): MediaResponse {
  return { ...listenFor(), prompts: [wavPrompt(ms, prompt)], ...more };
}

/** One piece of a streamed reply. */
export function chunk(ms: number, bargeIn = false): MediaResponse {
  return { response_type: RESPONSE_TYPE.CHUNK, prompts: [{ audio_content: tone(ms), is_barge_in_enabled: bargeIn }] };
}

/** Answers what is the same in every exchange, nothing, to a silent RPC, to START_OF_DTMF and to SESSION_END. */
export function otherwise(turn: ScriptedTurn): Promise<void> {
  return turn.halfClosed().then(() => {
    turn.complete();
  });
}

/** Hears one utterance and replies with `answer`. */
export async function hear(turn: ScriptedTurn, answer: () => void): Promise<void> {
  await turn.speech();
  turn.send(eventOnly('START_OF_INPUT'));
  await turn.silenceAfterSpeech();
  turn.send(eventOnly('END_OF_INPUT', 'CHUNK'));
  await turn.halfClosed();
  answer();
}
