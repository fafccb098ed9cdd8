// Everything that docs/upgrade.md promises of two neighbouring versions, tried with the packages of both.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CommandResult } from '../command-line.ts';
import { Neighbours } from './calls.ts';
import { administrationFile, bots, configuration, removals } from './kept.ts';
import { Installation, lastRelease, packed } from './last-release.ts';

/** Most characters of why something failed. */
const MAX_REASON = 2000;

/** What came of it. */
export interface UpgradesResult extends CommandResult {
  readonly ok: boolean;
  /** Promises that were kept. */
  readonly upgradesTested: number;
  /** Tag or commit. */
  readonly last?: string;
  /** Promises that were not kept, and why. */
  readonly failed?: readonly string[];
  /** Why nothing was tested. */
  readonly skipped?: string;
}

/** Tries every promise, also after one was broken. @param onProgress - gets a line for people. */
export async function testUpgrades(onProgress: (line: string) => void): Promise<UpgradesResult> {
  const commit = lastRelease();
  if (commit === undefined) return { ok: true, upgradesTested: 0, skipped: 'this copy has no history: the last release is not in it' };
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-upgrade-'));
  try {
    onProgress(`packing ${commit} and today's sources`);
    const lastTarball = await packed(path.join(folder, 'last'), commit);
    const tarball = await packed(path.join(folder, 'today'));
    const last = await Installation.of(lastTarball, path.join(folder, 'last', 'installed'));
    const today = await Installation.of(tarball, path.join(folder, 'today', 'installed'));
    const failed: string[] = [];
    let upgradesTested = 0;
    const promise = async (what: string, keep: () => Promise<void>): Promise<void> => {
      onProgress(what);
      try {
        await keep();
        upgradesTested += 1;
      } catch (error) {
        failed.push(`${what}: ${String(error).slice(0, MAX_REASON)}`);
      }
    };
    await promise('the configuration of the last release is accepted', () => configuration(last, today));
    await promise("the administration's file is kept by both in turn", () => administrationFile(last, today));
    await promise('what is exported no more was announced', () => removals(last, today));
    await promise('bots of the last release compile and pass their tests', () => bots(last, tarball, path.join(folder, 'bots')));
    const neighbours = await Neighbours.open(last, today, folder);
    try {
      for (const [name, home, other] of [
        ['the last release', neighbours.last, neighbours.today],
        ['today', neighbours.today, neighbours.last],
      ] as const) {
        await promise(`calls at home in ${name} are forwarded, and go on in the other when it is killed`, () =>
          neighbours.takenOver(home, other),
        );
        await promise(`calls at home in ${name} go on in the other when it stops`, () => neighbours.released(home, other));
        await promise(`recordings of ${name} are opened by the other`, () => neighbours.recordings(home, other));
      }
    } finally {
      await neighbours.close();
    }
    return { ok: failed.length === 0, upgradesTested, last: commit, ...(failed.length > 0 && { failed }) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
