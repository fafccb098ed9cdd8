// Maps the operator's settings to the options of the rooms, once at the start.
import type { AdmissionLimits } from '../session/admission.ts';
import { AppError } from '../base/errors.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { inLanguage, LANGUAGES } from '../dialog/languages.ts';
import type { GivenLines, Lines } from '../dialog/languages/language.ts';
import type { EngineSettings, WordSilences } from '../session/settings.ts';
import type { ListenerSecurity } from '../transport/socket-listener.ts';
import type { MediaServerSettings } from '../transport/grpc/server.ts';
import type { SocketServerSettings } from '../transport/ws/settings.ts';
import type { RecognizerChoice } from '../voice/recognizers/find-recognizer.ts';
import type { VoiceSettings } from '../voice/prompt-voice.ts';
import type { SynthesizerChoice } from '../voice/synthesizers/find-synthesizer.ts';
import type { Settings } from './config/settings.ts';
import { isDevelopment } from './development.ts';

/** Share of a snapshot that the bot's state may have; the rest is for the last reply, the transcript and the facts. */
const STATE_PART = 1 / 4;

/** Options of the session engine. */
export function engineSettings(settings: Omit<Settings, 'tls'>): EngineSettings {
  const { sessions, turns, media, listen, prompts, speech } = settings;
  return {
    ...{ ...sessions, ...turns, ...media },
    maxSessions: sessions.max,
    maxStateBytes: Math.floor(sessions.maxSnapshotBytes * STATE_PART),
    turnDeadlineMs: turns.deadlineMs,
    resumesPrompts: speech.resumePrompt,
    keepsTranscript: media.transcript,
    logsWords: isDevelopment(settings),
    patience: speech,
    digitSilenceMs: speech.digitSilenceMs,
    words: wordSilences(settings),
    listen: { ...listen, sensitive: false },
    language: prompts.language,
    lines: linesIn(prompts.language, prompts),
    linesByLanguage: new Map([
      ...[...LANGUAGES].map(([tag, { lines }]) => [tag, lines] as const),
      ...[...prompts.languages, prompts].map((lines) => [lines.language.toLowerCase(), linesIn(lines.language, lines)] as const),
    ]),
  };
}

function wordSilences({ speech, recognizer: { stream } }: Omit<Settings, 'tls'>): WordSilences | undefined {
  if (stream.url === undefined) return undefined;
  return { pauseMs: stream.pauseMs, finishedMs: speech.finishedSilenceMs, unfinishedMs: speech.unfinishedSilenceMs };
}

/** The operator's lines; those that are missing are replaced by our own lines in this language. */
function linesIn(language: string, { filler, apology, transfer }: GivenLines): Lines {
  const known = inLanguage(LANGUAGES, language)?.lines;
  return {
    filler: required(filler ?? known?.filler),
    apology: required(apology ?? known?.apology),
    transfer: required(transfer ?? known?.transfer),
  };
}

/** Limits for accepting calls. */
export function admissionLimits({ sessions, turns, overload }: Settings): AdmissionLimits {
  const own = { maxSessions: sessions.maxPerOrganization, maxNewPerSecond: sessions.maxNewPerSPerOrganization, weight: 1 };
  return {
    ...overload,
    maxSessions: sessions.max,
    reservedPercent: sessions.reservedPercent,
    perOrganization: own,
    organizations: new Map(
      sessions.organizations.map(({ organizationId, max = own.maxSessions, maxNewPerS = own.maxNewPerSecond, weight = own.weight }) => [
        organizationId,
        { maxSessions: max, maxNewPerSecond: maxNewPerS, weight },
      ]),
    ),
    maxStreams: turns.maxOpen,
  };
}

/**
 * The organization of callers that have no token and name no organization (G-08): the configured one when there is exactly one, '' when
 * there is none, undefined when there are several.
 */
export function soleOrganization({ auth, admin, bots }: Settings): string | undefined {
  const listed = [...auth.dataSources, ...bots.organizations].map(({ organizationId }) => organizationId);
  const [first = '', ...others] = new Set([...listed, ...admin.organizations]);
  return others.length === 0 ? first : undefined;
}

/** Options of the media server. */
export function mediaServerSettings({ grpc, turns, media }: Settings, security: ListenerSecurity): MediaServerSettings {
  const { reflection: hasReflection, ...limits } = grpc;
  return { ...limits, security, maxQueuedBytes: turns.maxQueuedBytes, hasReflection, isRevealingText: media.revealPromptText };
}

/**
 * The paths of both WebSocket channels (W-01).
 *
 * @throws AppError `config_invalid` when the profile has none, because its platform does not call over WebSocket.
 */
export function socketPaths({ websocket, name }: PlatformProfile): NonNullable<PlatformProfile['websocket']> {
  if (websocket !== undefined) return websocket;
  throw new AppError('config_invalid', `the platform "${name}" does not call over WebSocket: set websocket.enabled to false`);
}

/** Options of the WebSocket server. */
export function socketServerSettings({ websocket, turns, media }: Settings, security: ListenerSecurity): SocketServerSettings {
  const { pathPrefix = '', sendNoInputTimeout: sendsNoInputTimeout, ...limits } = websocket;
  const { maxQueuedBytes } = turns;
  return { ...limits, security, pathPrefix, maxQueuedBytes, sendsNoInputTimeout, isRevealingText: media.revealPromptText };
}

/** Options of the voice. */
export function voiceSettings(settings: Settings, promptsFolder: string): VoiceSettings {
  const { cacheFolder, cacheMaxBytes } = settings.synthesizer;
  return { synthesizer: synthesizerChoice(settings), cacheFolder, cacheMaxBytes, promptsFolder };
}

/** The configured synthesizer. */
export function synthesizerChoice({
  synthesizer: { engine, voice, voices: listed, timeoutMs, http },
}: Pick<Settings, 'synthesizer'>): SynthesizerChoice {
  const voices = new Map(listed.map((of) => [of.language.toLowerCase(), of.voice]));
  switch (engine) {
    case 'none':
      return { engine };
    case 'flite':
      return { engine, timeoutMs, voice, voices };
    case 'http':
      return { engine, timeoutMs, voice, voices, ...http, url: required(http.url), model: required(http.model) };
  }
}

/** The configured recognizer. */
export function recognizerChoice({ recognizer }: Pick<Settings, 'recognizer'>): RecognizerChoice {
  const { stream, http } = recognizer;
  const whole = wholeChoice(recognizer);
  if (stream.url === undefined) return whole;
  const { url, key, model } = stream;
  return { ...whole, stream: { url, key, model: required(model), language: http.language, prompt: http.prompt } };
}

function wholeChoice({ engine, command, timeoutMs, http }: Settings['recognizer']): RecognizerChoice {
  switch (engine) {
    case 'none':
      return { engine };
    case 'command': {
      const [program, ...args] = command;
      return { engine, timeoutMs, command: [required(program), ...args] };
    }
    case 'http':
      return { engine, timeoutMs, ...http, url: required(http.url), model: required(http.model) };
  }
}

/** Narrows a value that a rule between settings guarantees. */
function required<T>(value: T | undefined): T {
  if (value === undefined) throw new AppError('internal', 'something was chosen without what it needs');
  return value;
}
