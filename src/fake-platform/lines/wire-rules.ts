// Where the two interfaces of the platform differ in the checks of a server's answers: forms of audio, sizes, and the rule that a breach
// breaks. Knows no wire and no call.
import { MAX_CHUNK_BYTES, MAX_SOCKET_CHUNK_BYTES, MIN_CHUNK_BYTES, MIN_SOCKET_CHUNK_BYTES } from '../../contract/limits.ts';
import type { FindingCode } from '../caller/finding.ts';

/** The platform's own silence before no-input where a server names no time, ms (W-14). */
export const PLATFORM_NO_INPUT_MS = 5000;

/** A breach of the contract: its name, the broken rule, and a sentence. */
export interface Breach {
  readonly code: FindingCode;
  readonly rule: string;
  readonly message: string;
}

export interface WireRules {
  /** Whether each turn has an RPC of its own, which can be opened again. Otherwise a lost turn ends the call. */
  readonly hasOwnRpcs: boolean;
  /** Smallest and largest piece of a streamed prompt, bytes. */
  readonly minChunkBytes: number;
  readonly maxChunkBytes: number;
  /** Whether replies may come as one WAV, so that a call has to keep to one form (G-40, G-41). Otherwise audio has no headers. */
  readonly hasWavMode: boolean;
  /** Whether the FINAL of a streamed reply has to carry a prompt, even an empty one (W-25). */
  readonly finalNeedsPrompt: boolean;
  /** The rule behind each check, where the interfaces differ. */
  readonly rules: {
    readonly header: string;
    readonly chunkSize: string;
    readonly finalAudio: string;
    readonly partial: string;
    readonly keyPress: string;
    readonly hangUp: string;
    readonly secondFinal: string;
    readonly welcomeFinal: string;
    readonly replyFinal: string;
  };
  /** The rule that a turn of this kind breaks if it is not completed; undefined for a turn that nothing completes. */
  readonly incomplete: (kind: string) => string | undefined;
}

/** gRPC: one RPC for each interaction. */
export const GRPC_RULES: WireRules = {
  hasOwnRpcs: true,
  minChunkBytes: MIN_CHUNK_BYTES,
  maxChunkBytes: MAX_CHUNK_BYTES,
  hasWavMode: true,
  finalNeedsPrompt: false,
  rules: {
    header: 'G-42',
    chunkSize: 'G-42',
    finalAudio: 'G-43',
    partial: 'G-45',
    keyPress: 'G-61',
    hangUp: 'G-75',
    secondFinal: 'G-14',
    welcomeFinal: 'G-21',
    replyFinal: 'G-43',
  },
  incomplete: (kind) => (kind === 'dtmf_start' ? 'G-61' : 'G-13'),
};

/** WebSocket: one socket for each call, streamed audio without headers. */
export const SOCKET_RULES: WireRules = {
  hasOwnRpcs: false,
  minChunkBytes: MIN_SOCKET_CHUNK_BYTES,
  maxChunkBytes: MAX_SOCKET_CHUNK_BYTES,
  hasWavMode: false,
  finalNeedsPrompt: true,
  rules: {
    header: 'W-30',
    chunkSize: 'W-31',
    finalAudio: 'W-25',
    partial: 'W-24',
    keyPress: 'W-26',
    hangUp: 'W-28',
    secondFinal: 'W-24',
    welcomeFinal: 'W-24',
    replyFinal: 'W-24',
  },
  // A custom event may get a reply or none; the contract does not say which (G-72).
  incomplete: (kind) => (kind === 'session_end' ? 'W-28' : undefined),
};
