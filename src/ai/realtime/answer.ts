// One answer of a speech-to-speech model: updates the service's conversation from the history, sends the caller's audio, and plays the
// model's response.
import type { JsonObject } from '../../base/json.ts';
import type { Saying } from '../../bot/saying.ts';
import { instructionsOf, isLast, type Answered, type Answering, type Attempt, type Use } from '../answer.ts';
import type { Draft } from '../draft.ts';
import { outputOf, type Message, type ToolMessage } from '../history.ts';
import type { RealtimeSession } from './session.ts';

/** Placeholder for the caller's words until the service has transcribed them. */
export const SPEECH = '[speech]';

const TELEPHONE = 'You are talking with a caller on the telephone. Short sentences.';

/** Longest wait for a connection, ms. */
const CONNECT_MS = 3000;
/** Shortest prompt, bytes of audio: 0.2 s. The last prompt of an item may be shorter. */
const PIECE_BYTES = 1600;
/** Attempts per response. A failed response is requested again only if none of its audio was played. */
const TRIES = 2;

/** Answers with a speech-to-speech model. */
export function spokenAnswering<D extends JsonObject>(session: RealtimeSession, model: string): Answering<D> {
  return async function* (draft): AsyncGenerator<Saying, Answered> {
    let answered: Answered = { uses: [], failed: 'late' };
    for (let tries = 0; tries < TRIES; tries += 1) {
      draft.noteAsked(model);
      if (!(await session.ready(CONNECT_MS, draft.context.signal))) {
        if (!draft.isInterrupted()) draft.noteFailure('late');
        break;
      }
      if (tries > 0) draft.noteFallback();
      session.instruct(instructionsOf(draft, TELEPHONE));
      bringInLine(draft, session);
      const attempt = yield* response(draft, session, model);
      answered = attempt;
      if (isLast(draft, attempt)) return attempt;
    }
    return answered;
  };
}

async function* response<D extends JsonObject>(draft: Draft<D>, session: RealtimeSession, model: string): AsyncGenerator<Saying, Attempt> {
  const uses: Use[] = [];
  const items = new Set<string>();
  let hasBegun = false;
  let gathered: { readonly item: string; readonly pieces: Uint8Array[]; bytes: number } | undefined;
  const played = function* (): Generator<Saying> {
    if (gathered !== undefined && gathered.bytes > 0) {
      hasBegun = true;
      draft.noteSentence();
      yield draft.play(gathered.item, Buffer.concat(gathered.pieces));
    }
    gathered = undefined;
  };
  for await (const part of session.respond(draft.rules.limits, draft.context.signal)) {
    switch (part.kind) {
      case 'audio':
        draft.noteToken(model, false);
        items.add(part.item);
        if (gathered?.item !== part.item) yield* played();
        gathered ??= { item: part.item, pieces: [], bytes: 0 };
        gathered.pieces.push(part.mulaw);
        gathered.bytes += part.mulaw.length;
        if (gathered.bytes >= PIECE_BYTES) yield* played();
        break;
      case 'text':
        draft.transcribe(part.item, part.words);
        break;
      case 'use':
        draft.noteToken(model, false);
        uses.push({ kind: 'use', tool: part.tool, input: part.input, metadata: { callId: part.callId } });
        break;
      case 'end':
        yield* played();
        for (const item of items) draft.spoken(item);
        draft.noteTokens(part.tokensIn, part.tokensOut);
        break;
      case 'failed':
        return { uses: [], failed: part.why, hasBegun };
    }
  }
  return { uses, hasBegun };
}

/** Sends the service all entries of the history that it lacks: as text, except audio that the session has kept. */
function bringInLine<D extends JsonObject>(draft: Draft<D>, session: RealtimeSession): void {
  const messages = draft.state.messages.map((message): Message => {
    if (message.by === 'tool') {
      bringTool(message, session);
      return message;
    }
    if (session.holds(message.item) || message.text === '') return message;
    if (message.text === SPEECH && message.item !== undefined && session.hear(message.item)) return message;
    const id = session.newName();
    const { text } = message;
    if (message.by === 'caller') session.create({ id, type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
    else session.create({ id, type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
    return { ...message, item: id };
  });
  draft.change({ messages });
}

function bringTool(message: ToolMessage, session: RealtimeSession): void {
  const output = outputOf(message);
  const known = session.outcomes.get(message.id);
  if (known?.output === output) return;
  const given = message.metadata?.['callId'];
  let call = session.calls.get(message.id) ?? (typeof given === 'string' && session.called(given) ? given : undefined);
  if (call === undefined) {
    call = session.newName();
    const input = JSON.stringify(message.input);
    session.create({ id: session.newName(), type: 'function_call', call_id: call, name: message.tool, arguments: input });
  }
  session.calls.set(message.id, call);
  if (known !== undefined) session.delete(known.item);
  const item = session.newName();
  session.create({ id: item, type: 'function_call_output', call_id: call, output });
  session.outcomes.set(message.id, { item, output });
}
