// How Node runs what lives for seconds on busy cores: tests, and the servers that they start.
import process from 'node:process';

/**
 * Threads that collect garbage or optimize code cost such a process a third more processor time than they save: a server starts and
 * stops with 1.1 s of a core and not 1.6 s. Node 22 no longer has the second flag.
 */
export const SHORT_LIFE = ['--single-threaded-gc', ...(process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : [])];
