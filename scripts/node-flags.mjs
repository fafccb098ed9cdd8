// How Node runs what lives for seconds on busy cores: tests, and the servers that they start.
import process from 'node:process';

/**
 * Threads that collect garbage or optimize code cost such a process a third more processor time than they save: a server starts and
 * stops with 1.1 s of a core and not 1.6 s. Room for what is new saves most collections, and 0.1 s of a start. Newer versions
 * lack the second flag, and the third was measured with 20 alone.
 */
export const SHORT_LIFE = [
  '--single-threaded-gc',
  ...(process.version.startsWith('v20.') ? ['--interrupt-budget=1000000', '--min-semi-space-size=16'] : []),
];
