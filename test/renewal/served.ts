// A server that looks after the data sources of organizations, plaintext, on a clock whose time runs faster than its processor.
import { createApp, type App } from '../../src/app/app.ts';
import { loadSettings } from '../../src/app/config/load-settings.ts';
import type { Clock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import type { AdminSurroundings } from '../support/open-surroundings.ts';
import { serverFlags, WITH_TEST_BOTS } from '../support/server-flags.ts';

/** How it is started. */
export interface ServedOptions {
  readonly clock: Clock;
  /** Those that have authorized the app, whether events told of it or not. */
  readonly organizations: readonly string[];
  /** They win over those given here. */
  readonly flags: readonly string[];
  /** Takes the lines of its log. */
  readonly write: (line: string) => void;
}

/** Starts it. Whoever starts it closes it. */
export async function startServed(
  { issuer, flags: around }: AdminSurroundings,
  { clock, organizations, flags, write }: ServedOptions,
): Promise<App> {
  const { settings } = loadSettings({
    argv: [
      ...serverFlags(issuer, undefined, []),
      ...WITH_TEST_BOTS,
      ...around,
      `--admin.organizations=${JSON.stringify(organizations)}`,
      // Also in the middle of an outage it begins, as an operator wants it who has calls to take.
      '--admin.fail_startup=false',
      // What is a moment for the processor is a long time here, and must cost no turn.
      ...['--turns.deadline_ms=600000', '--turns.slow_reader_ms=600000'],
      ...flags,
    ],
    env: {},
    cwd: packageRoot(),
  });
  return createApp({ settings, clock, log: createLogger({ level: settings.log.level, destination: { write } }) });
}
