// An assistant with a speech-to-speech model, as a step of a hand-written bot. Differs from other assistants only in how it answers; turns,
// tools, exits and failures are the same.
import type { JsonObject } from '../../base/json.ts';
import { isSocketAddress } from '../../base/service-socket.ts';
import type { Live } from '../../bot/live.ts';
import type { CallFacts } from '../../dialog/call.ts';
import { MOST_FAILURES, stepOf, type AssistantStep, type NamedEvent } from '../assistant-step.ts';
import type { AnyContext } from '../draft.ts';
import { soundsCut, type Message } from '../history.ts';
import type { AssistantManners, AssistantState } from '../options.ts';
import { rulesOf, type AssistantRules } from '../rules.ts';
import { SPEECH, spokenAnswering } from './answer.ts';
import { RealtimeSession, type RealtimeAddress } from './session.ts';

/** A speech-to-speech model of a service that speaks the realtime protocol. */
export interface RealtimeOptions<D extends JsonObject = JsonObject> extends Omit<AssistantManners<D>, 'languages'>, RealtimeAddress {
  /** The model's voice, as the service names it. Default: the service's choice. The synthesizer speaks greeting and phrases. */
  readonly modelVoice?: string;
  /**
   * The service's model that transcribes the caller. Without it the history has no words of the caller: a new connection, a new server and
   * `onEnd` learn only that the caller spoke.
   */
  readonly transcribe?: string;
  /**
   * An {@link assistantStep} that continues the call, instead of a transfer, when the model has failed twice in a row. The server then
   * needs a recognizer, and that recognizer hears all calls. The step's model reads the transcripts of `transcribe`.
   */
  readonly fallback?: AssistantStep<D>;
}

/** See {@link realtimeStep}. */
export interface RealtimeStep<D extends JsonObject = JsonObject> extends AssistantStep<D> {
  /** The connection of each call. The surrounding bot must set `live` to this, and `recognition: 'none'` unless there is a `fallback`. */
  readonly live: Live<unknown, RealtimeSession>;
}

/**
 * Makes a speech-to-speech assistant that is one step of a larger bot.
 *
 * @throws TypeError for an invalid address, or a tool name that models refuse.
 *
 * @example
 * const desk = realtimeStep({ url, model, key, instructions, greeting, exits });
 * export default bot<State, object>({ id: 'desk', recognition: 'none', live: desk.live, … });
 */
export function realtimeStep<D extends JsonObject = JsonObject>(options: RealtimeOptions<D>): RealtimeStep<D> {
  if (!isSocketAddress(options.url)) throw new TypeError(`the model's address "${options.url}" is no wss or ws address`);
  // `redact` is applied below, because transcripts arrive later than the speech.
  const { redact, fallback, ...others } = options;
  const { url, model, key } = others;
  const rules = { ...rulesOf<D>(others), hasFallback: fallback !== undefined };
  const sessions = new WeakMap<CallFacts, RealtimeSession>();
  const sessionOf = ({ call }: AnyContext): RealtimeSession => {
    const session = sessions.get(call);
    if (session === undefined) throw new TypeError('the bot around a realtimeStep needs `live: step.live`');
    return session;
  };
  const step = stepOf(rules, (context) => spokenAnswering(sessionOf(context), model));
  return {
    ...step,
    // A speech-to-speech model hears the caller itself and needs no early question.
    prepare: (state, event, context) => (isTakenOver(state) ? fallback?.prepare(state, event, context) : undefined),
    live: {
      open({ call, clock, log }) {
        const address = { url, model, ...(key !== undefined && { key }) };
        const session = new RealtimeSession({ address, settings: settingsOf(options, rules), clock, log });
        sessions.set(call, session);
        return session;
      },
      close(session) {
        session.close();
      },
    },
    turn(state, event, context, at) {
      const session = sessionOf(context);
      const known = { ...state, messages: state.messages.map((message) => withTranscript(message, session, redact)) };
      if (fallback !== undefined && isTakenOver(state)) {
        // The fallback has not failed yet.
        const taken = state.isTakenOver === true ? known : { ...known, isTakenOver: true as const, failures: 0 };
        return fallback.turn(taken, event, context, at);
      }
      for (const [item, heardMs] of soundsCut(state.messages, event.heard)) session.truncate(item, heardMs);
      if (event.type !== 'speech_input') return step.turn(known, event, context, at);
      // No recognizer ran, but the model hears the speech itself.
      const item = session.said(event.utterance.mulaw);
      const heard: NamedEvent<(typeof event)['prepared']> = { ...event, text: SPEECH, understood: 'words', item };
      return step.turn(known, heard, context, at);
    },
    resume: (state, outcome, context, at) =>
      (fallback !== undefined && isTakenOver(state) ? fallback : step).resume(state, outcome, context, at),
  };
}

function isTakenOver({ isTakenOver: isTaken, failures }: AssistantState): boolean {
  return isTaken === true || failures >= MOST_FAILURES;
}

function withTranscript(message: Message, session: RealtimeSession, redact: AssistantManners['redact']): Message {
  if (message.by !== 'caller' || message.item === undefined || message.text !== SPEECH) return message;
  const words = session.transcriptOf(message.item);
  return words === undefined || words === '' ? message : { ...message, text: redact?.(words) ?? words };
}

/** The protocol's settings of a session. The audio format is that of the telephone, so no audio is converted. */
function settingsOf<D extends JsonObject>(
  { modelVoice: voice, transcribe, language }: RealtimeOptions<D>,
  { shown }: AssistantRules<D>,
): object {
  const format = { type: 'audio/pcmu' };
  const transcription = { model: transcribe, ...(language !== undefined && { language: language.split('-')[0] }) };
  return {
    ...{ type: 'realtime', output_modalities: ['audio'], tool_choice: 'auto' },
    audio: {
      input: { format, turn_detection: null, ...(transcribe !== undefined && { transcription }) },
      output: { format, ...(voice !== undefined && { voice }) },
    },
    tools: shown.map(({ name, description, inputSchema }) => ({ type: 'function', name, description, parameters: inputSchema })),
  };
}
