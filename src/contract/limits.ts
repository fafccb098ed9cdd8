// Numbers of the contract that several files use: the platform's requirements and the limits of its input. The
// operator's settings are elsewhere.

/** Smallest piece of prompt audio in CHUNK mode, bytes (G-42). */
export const MIN_CHUNK_BYTES = 100;
/** Largest piece of prompt audio in CHUNK mode, bytes (G-42). */
export const MAX_CHUNK_BYTES = 65_536;
/** Caller audio shorter than this is a probe and is dropped, bytes; exactly 15 is kept (G-34, U-15). */
export const MIN_CALLER_AUDIO_BYTES = 15;

/** A routing hint: 1 to 64 ASCII characters, a letter first (G-79). */
export const ROUTING_HINT = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Most nesting levels of free data (Struct); protobufjs stops decoding near 48, other implementations near 50. */
export const MAX_STRUCT_DEPTH = 32;

/** Smallest piece of prompt audio on a WebSocket, bytes: 40 ms (W-31). */
export const MIN_SOCKET_CHUNK_BYTES = 320;
/** Largest piece of prompt audio on a WebSocket, bytes (W-31). */
export const MAX_SOCKET_CHUNK_BYTES = 32_768;
/** Largest recommended piece, bytes: two seconds (W-31). */
export const SOCKET_CHUNK_BYTES = 16_000;
/** Most caller audio in one message on a WebSocket, bytes (W-34). */
export const MAX_SOCKET_CALLER_AUDIO_BYTES = 65_536;
