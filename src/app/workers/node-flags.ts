// How Node runs a server. Image, systemd unit and template name the same flags; tests compare them.

/**
 * Flags of Node for a server (docs/performance.md). A server has one core: where other threads collected its garbage, callers waited three
 * times as long. The heap may grow to three times what is in use before Node collects all of it: at 500 calls every 8 s instead of every
 * 1.2 s, which saves an eighth of the processor time and costs some 20 MB.
 */
export const SERVER_FLAGS = ['--single-threaded-gc', '--heap-growing-percent=200'] as const;
