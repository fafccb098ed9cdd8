// The operator's settings in the words of the rooms they are for, compiled once at the start.
import type { EngineSettings } from '../session/settings.ts';
import type { MediaServerSettings } from '../transport/grpc/server.ts';
import type { Settings } from './config/settings.ts';

/** Settings of the engine. */
export function engineSettings({ sessions, turns, media, listen, prompts }: Settings): EngineSettings {
  return {
    maxSessions: sessions.max,
    idleTimeoutMs: sessions.idleTimeoutMs,
    maxDurationMs: sessions.maxDurationMs,
    sweepMs: sessions.sweepMs,
    maxRecordBytes: sessions.maxRecordBytes,
    turnDeadlineMs: turns.deadlineMs,
    slowReaderMs: turns.slowReaderMs,
    mode: media.mode,
    welcomeBargeIn: media.welcomeBargeIn,
    listen: { ...listen, sensitive: false },
    apology: prompts.apology,
    handover: prompts.handover,
  };
}

/** Settings of the media server. */
export function mediaServerSettings({ grpc, tls, turns, media }: Settings): MediaServerSettings {
  return {
    host: grpc.host,
    port: grpc.port,
    security: tls,
    maxConnections: grpc.maxConnections,
    handshakeTimeoutMs: grpc.handshakeTimeoutMs,
    maxMessageBytes: grpc.maxMessageBytes,
    maxStreamsPerConnection: grpc.maxStreamsPerConnection,
    keepaliveMs: grpc.keepaliveMs,
    keepaliveTimeoutMs: grpc.keepaliveTimeoutMs,
    firstMessageTimeoutMs: grpc.firstMessageTimeoutMs,
    maxOpenTurns: turns.maxOpen,
    hasReflection: grpc.reflection,
    isRevealingText: media.revealPromptText,
  };
}
