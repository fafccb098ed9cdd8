// The person at an admin command: a browser to open, questions to answer, and input from the terminal or a pipe.
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { AppError, toAppError } from '../../base/errors.ts';

/** The person's interface for admin commands; tests pass their own. */
export interface Person {
  /** Whether somebody can see a question and answer it. */
  readonly isThere: boolean;
  /** Opens a browser at an address; rejects when no browser opens. */
  openBrowser(url: string): Promise<void>;
  /** Asks a yes-or-no question. Every answer but a yes counts as no, and so does the end of the input. */
  confirms(question: string, signal: AbortSignal): Promise<boolean>;
  /** Asks for one line; undefined at the end of the input, and when `signal` aborts. */
  asksFor(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** Reads all of standard input. @throws AppError `config_invalid` for more than `maxBytes`, or when `signal` aborts. */
  readInput(maxBytes: number, signal: AbortSignal): Promise<string>;
}

export interface Terminal {
  readonly input: Readable;
  /** Where questions are printed. */
  readonly output: Writable;
  readonly isInteractive: boolean;
}

/** The person, by default at the terminal of this process. */
export function personAt({ input, output, isInteractive }: Terminal = terminalOfProcess()): Person {
  const asked = async (question: string, signal: AbortSignal): Promise<string | undefined> => {
    const lines = createInterface({ input, output });
    // On a terminal, readline consumes Ctrl-C.
    lines.on('SIGINT', () => {
      process.kill(process.pid, 'SIGINT');
    });
    const ended = new Promise<undefined>((resolve) => {
      lines.once('close', () => {
        resolve(undefined);
      });
    });
    try {
      return await Promise.race([lines.question(question, { signal }), ended]);
    } catch {
      return undefined;
    } finally {
      lines.close();
    }
  };
  return {
    isThere: isInteractive,
    openBrowser: async (url) => {
      const { default: open } = await import('open');
      await open(url);
    },
    confirms: async (question, signal) => /^y(?:es)?$/iu.test((await asked(`${question} [y/N] `, signal))?.trim() ?? ''),
    asksFor: asked,
    readInput: async (maxBytes, signal) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      const giveUp = (): void => {
        input.destroy();
      };
      if (signal.aborted) giveUp();
      else signal.addEventListener('abort', giveUp, { once: true });
      try {
        for await (const piece of input) {
          const buffer = Buffer.from(piece as Uint8Array);
          bytes += buffer.length;
          if (bytes > maxBytes) throw new AppError('config_invalid', `the standard input is longer than ${String(maxBytes)} bytes`);
          pieces.push(buffer);
        }
      } catch (thrown) {
        throw toAppError(thrown, 'config_invalid', 'the standard input did not end in time, or cannot be read');
      } finally {
        signal.removeEventListener('abort', giveUp);
      }
      return Buffer.concat(pieces).toString('utf8');
    },
  };
}

function terminalOfProcess(): Terminal {
  const { stdin, stderr } = process;
  return { input: stdin, output: stderr, isInteractive: stdin.isTTY && stderr.isTTY };
}
