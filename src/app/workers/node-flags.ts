// How Node runs a server. Image, systemd unit and template name the same flags; tests compare them.

/**
 * Flags of Node for a server. A server has one core, where threads that collect garbage made callers wait three times as long. The heap
 * may grow to three times what is in use before Node collects all of it: full collections are rarer by half and more, which saves an
 * eighth of the processor time and costs some 20 MB (docs/performance.md).
 */
export const SERVER_FLAGS = ['--single-threaded-gc', '--heap-growing-percent=200'] as const;
