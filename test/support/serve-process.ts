// `parley serve` as a process of its own.
import { ParleyProcess } from './parley-process.ts';
import { until } from './until.ts';

/** What the ready line says as JSON. */
export interface ReadyLine {
  readonly event: 'ready';
  readonly address: string;
  readonly port: number;
  readonly opsPort: number;
  readonly hasTokenCheck: boolean;
}

/** One `parley serve`. Whoever starts it kills it. */
export class ServeProcess extends ParleyProcess {
  /**
   * @param flags - after `serve`.
   * @param maxDescriptors - how many files and sockets it may have open.
   * @param before - see {@link ParleyProcess}.
   */
  constructor(flags: readonly string[], maxDescriptors?: number, before?: readonly string[]) {
    super(['serve', ...flags], undefined, maxDescriptors, before);
  }

  /** Waits for the ready line; the process must have been given `--json`. */
  async ready(): Promise<ReadyLine> {
    await this.said('the server is ready', () => this.stdout.includes('\n') || this.exit !== undefined);
    return JSON.parse(this.stdout.split('\n')[0] ?? '') as ReadyLine;
  }

  /** Waits for a line of its log. */
  async logged(text: string): Promise<void> {
    await until(
      () => `"${text}" is in the log: ${this.stderr}`,
      () => this.stderr.includes(text),
    );
  }
}
