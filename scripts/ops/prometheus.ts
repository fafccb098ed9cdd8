// Debian's Prometheus with the configuration of deploy/prometheus, asked as Grafana asks it.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { Child } from '../../test/fleet/child.ts';
import { freePort } from '../../test/support/free-port.ts';
import { RULE_FILES } from '../../test/support/promtool.ts';
import { ROOT } from '../../test/support/source-tree.ts';
import { until } from '../../test/support/until.ts';
import { fasterRules } from './faster-rules.ts';

const SHIPPED = path.join(ROOT, 'deploy', 'prometheus', 'prometheus.yaml');
const CONFIG = z.object({ scrape_configs: z.tuple([z.object({ job_name: z.string() })]) });
/** In place of the intervals that are shipped. */
const OFTEN = '1s';
const ANSWER_LIMIT_MS = 30_000;

const ANSWER = z.object({
  status: z.literal('success'),
  data: z.object({ resultType: z.string(), result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});
const RULES = z.object({
  data: z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ name: z.string(), health: z.string(), lastError: z.string().optional() })) })),
  }),
});

/** One Prometheus. Whoever starts it stops it. */
export class Prometheus {
  readonly #child: Child;
  readonly #folder: string;
  readonly #origin: string;
  #settledMs = performance.now();

  private constructor(child: Child, folder: string, origin: string) {
    this.#child = child;
    this.#folder = folder;
    this.#origin = origin;
  }

  /**
   * Starts it, and waits until it has scraped every port: for its first seconds it knows no target, and ParleyDown fires.
   *
   * @param ports - of 127.0.0.1, which it scrapes every second.
   * @param times - how many times as fast the rules are; default 1: as they are shipped.
   */
  static async start(ports: readonly number[], times = 1): Promise<Prometheus> {
    const folder = await mkdtemp(path.join(tmpdir(), 'parley-prometheus-'));
    const {
      scrape_configs: [job],
    } = CONFIG.parse(parse(await readFile(SHIPPED, 'utf8')));
    const config = path.join(folder, 'prometheus.yaml');
    for (const file of RULE_FILES)
      await writeFile(path.join(folder, path.basename(file)), fasterRules(await readFile(file, 'utf8'), times));
    const targets = ports.map((port) => `127.0.0.1:${String(port)}`);
    await writeFile(
      config,
      stringify({
        global: { scrape_interval: OFTEN, evaluation_interval: OFTEN },
        rule_files: RULE_FILES.map((file) => path.basename(file)),
        scrape_configs: [{ job_name: job.job_name, static_configs: [{ targets }] }],
      }),
    );
    const address = `127.0.0.1:${String(await freePort())}`;
    const args = [`--config.file=${config}`, `--storage.tsdb.path=${path.join(folder, 'data')}`, `--web.listen-address=${address}`];
    const child = new Child({ command: 'prometheus', args: [...args, '--log.level=warn'], cwd: folder });
    const prometheus = new Prometheus(child, folder, `http://${address}`);
    await until(
      () => `prometheus is ready; it said: ${child.said}`,
      async () => {
        if (child.isOver) throw new Error(`prometheus has ended; it said: ${child.said}`);
        return fetch(`${prometheus.#origin}/-/ready`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }).then(
          ({ ok }) => ok,
          () => false,
        );
      },
    );
    const scraped = `count(up == 1) == ${String(ports.length)}`;
    await until(
      'prometheus has scraped every server and nothing fires',
      async () => (await prometheus.hasData(scraped)) && !(await prometheus.hasData('ALERTS{alertstate="firing"}')),
    );
    prometheus.#settledMs = performance.now();
    return prometheus;
  }

  /** Whether a query has a value now that is a number. @throws Error when it cannot be asked. */
  async hasData(query: string): Promise<boolean> {
    const { data } = ANSWER.parse(await this.#asked(`query?query=${encodeURIComponent(query)}`));
    return data.result.some(({ value: [, value] }) => !Number.isNaN(Number(value)));
  }

  /** Whether a series has had a value since the start. @throws Error when it cannot be asked. */
  async hasHadData(series: string): Promise<boolean> {
    const seconds = Math.max(1, Math.floor((performance.now() - this.#settledMs) / 1000));
    return this.hasData(`max_over_time(${series}[${String(seconds)}s])`);
  }

  /** The rules that it could not compute, with the reason. */
  async brokenRules(): Promise<readonly string[]> {
    const { data } = RULES.parse(await this.#asked('rules'));
    const rules = data.groups.flatMap((group) => group.rules);
    return rules.flatMap(({ name, health, lastError = '' }) => (health === 'err' ? [`${name}: ${lastError}`] : []));
  }

  /** Ends it and removes what it kept. */
  async stop(): Promise<void> {
    await this.#child.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #asked(what: string): Promise<unknown> {
    const response = await fetch(`${this.#origin}/api/v1/${what}`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    const text = await response.text();
    if (!response.ok) throw new Error(`prometheus says ${String(response.status)} to ${what}: ${text}`);
    return JSON.parse(text);
  }
}
