// Checks that the content of a file has the shape of a recording. Anybody can make an open file, so nothing in it is trusted.
import { z } from 'zod';
import type { RecordedEvent, RecordingHeader } from './recording.ts';

/** The longest call that can be configured, ms; a longer one would only fill the memory. */
const MAX_CALL_MS = 86_400_000;

/** Deepest nesting of states, answers and details. */
const MAX_DEPTH = 100;

const ms = z.number().min(0).max(MAX_CALL_MS);
const text = z.string();
const facts = z.record(z.string(), z.unknown());
const withheld = z.object({ withheld: z.literal(true) });
const place = z.number().int().min(0);

const prompt = z.object({
  text: text.or(withheld).optional(),
  sound: z.object({ from: place, bytes: place }).or(withheld).optional(),
  durationMs: ms,
  bargeIn: z.boolean(),
});

const listening = { accept: text, digits: z.number(), sensitive: z.boolean() };
const next = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['listen', 'superseded']), ...listening }),
  z.object({ kind: z.enum(['transfer', 'end']), metadata: facts }),
  z.object({ kind: z.literal('gone') }),
]);

const output = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['input_started', 'input_ended']) }),
  z.object({ kind: z.literal('prompt'), prompt }),
  z.object({ kind: z.literal('final'), prompts: z.array(prompt), next }),
]);

const input = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['dtmf_start', 'no_input', 'session_end']) }),
  z.object({ kind: z.enum(['session_start', 'custom_event']), name: text, parameters: facts }),
  // Either the digits, or the number of withheld ones.
  z.object({ kind: z.literal('dtmf'), digits: text.optional(), length: place.optional() }),
]);

const ofTurn = { atMs: ms, turn: text };
const event = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('turn_opened'), ...ofTurn, opensWith: z.enum(['start', 'input', 'nothing']), trackingId: text.optional() }),
  z.object({ kind: z.literal('input'), ...ofTurn, input }),
  z.object({ kind: z.literal('half_closed'), ...ofTurn }),
  z.object({ kind: z.literal('aborted'), ...ofTurn, reason: text }),
  z.object({ kind: z.literal('interim'), ...ofTurn, text, stable: text, isWhole: z.boolean() }),
  z.object({ kind: z.literal('words'), ...ofTurn, text: text.or(withheld).optional(), tookMs: z.number(), failure: text.optional() }),
  z.object({ kind: z.literal('output'), ...ofTurn, output }),
  z.object({ kind: z.literal('state'), ...ofTurn, state: z.unknown() }),
  z.object({
    kind: z.literal('service'),
    ...ofTurn,
    service: z.enum(['model', 'tool']),
    key: text,
    tookMs: z.number(),
    answer: z.unknown(),
  }),
  z.object({ kind: z.literal('turn_closed'), ...ofTurn, end: text }),
  z.object({ kind: z.literal('fact'), atMs: ms, turn: text.optional(), event: text, details: facts }),
  z.object({ kind: z.literal('ended'), atMs: ms, end: text }),
]);

const header = z.object({
  form: z.literal(1),
  id: text,
  version: text,
  call: z.object({
    conversationId: text,
    organizationId: text,
    agentId: text,
    startedAtMs: z.number().min(0).max(8.64e15),
    vendorConfig: text,
    parameters: facts,
  }),
  botVersion: z.number(),
  transport: z.enum(['grpc', 'websocket']),
  mode: z.enum(['wav', 'chunk']),
  isTied: z.boolean(),
  settings: facts,
});

/** Whether a number is a time of a recording, ms since the session began. */
export function isTime(atMs: number): boolean {
  return ms.safeParse(atMs).success;
}

export function isRecordedEvent(given: unknown): given is RecordedEvent {
  return isShallow(given) && event.safeParse(given).success;
}

export function isRecordingHeader(given: unknown): given is RecordingHeader {
  return isShallow(given) && header.safeParse(given).success;
}

/** Whether a value is nested so little that code which shows it may recurse. */
function isShallow(given: unknown, depth = 0): boolean {
  if (typeof given !== 'object' || given === null) return true;
  return depth < MAX_DEPTH && Object.values(given).every((member) => isShallow(member, depth + 1));
}
