// Creates the catalogue from the loaded bots and their settings, and checks these settings, which is possible only after loading. Used by
// the server and by commands.
import { Catalog } from '../bot/catalog.ts';
import type { Bot } from '../bot/bot.ts';
import { WatchedCatalog } from '../bot/watched-catalog.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { botsFolder } from './bot-folders.ts';
import { closest } from './config/naming.ts';
import { configInvalid, type Problem } from './config/problems.ts';
import type { SettingKey } from './config/schema.ts';
import type { Settings } from './config/settings.ts';
import type { ProcessParts } from './process-parts.ts';
import type { Voices } from './voices.ts';

/** Describes the origin of a setting. */
export type OriginText = (key: SettingKey) => string;

/**
 * Creates the catalogue.
 *
 * @throws AppError `config_invalid` that lists every setting with a missing bot; `bot_invalid` when two bots share an id.
 */
export function openCatalog(bots: readonly Bot[], settings: Settings['bots'], originOf: OriginText): Catalog {
  const problems = botProblems(bots, settings, originOf);
  if (problems.length > 0) throw configInvalid(problems);
  return new Catalog(bots, settings);
}

/** The settings that name a missing bot. */
export function botProblems(
  bots: readonly Bot[],
  { defaultBot, organizations }: Settings['bots'],
  originOf: OriginText,
): readonly Problem[] {
  const known = bots.map(({ id }) => id);
  const isUnknown = (id: string): boolean => !known.includes(id);
  const rule = `must be the id of a loaded bot: ${known.join(', ')}`;
  const problemOf = (key: SettingKey, subject: string, id: string): Problem => {
    const meant = closest(id, known);
    const mend =
      meant === undefined ? 'choose one of them, or add the bot module to the bots folder (`parley bots list`)' : `did you mean ${meant}?`;
    return { subject, shown: id, from: originOf(key), rule, mend };
  };
  const general = defaultBot !== undefined && isUnknown(defaultBot) ? [problemOf('bots.default_bot', 'bots.default_bot', defaultBot)] : [];
  // A rule between settings puts an organization's default into its list, so checking the list is enough.
  const listed = organizations.flatMap(({ bots: ids }, index) =>
    ids
      .map((id, place) => ({ id, subject: `bots.organizations[${String(index)}].bots[${String(place)}]` }))
      .filter(({ id }) => isUnknown(id))
      .map(({ id, subject }) => problemOf('bots.organizations', subject, id)),
  );
  return [...general, ...listed];
}

/** A catalogue that reloads changed bot modules until the server stops. */
export async function followBots(
  first: Catalog,
  open: (bots: readonly Bot[]) => Catalog,
  settings: Settings,
  { metrics, voices, clock, log, lifecycle }: ProcessParts & { readonly metrics: Pick<Metrics, 'botsReloaded'>; readonly voices: Voices },
): Promise<WatchedCatalog> {
  const onReload = (reloaded: Catalog | undefined): void => {
    metrics.botsReloaded(
      reloaded === undefined ? 'failed' : 'loaded',
      reloaded?.bots.map(({ id }) => id),
    );
    if (reloaded !== undefined) void voices.warm(reloaded);
  };
  const watched = await WatchedCatalog.start({ folder: botsFolder(settings.bots), first, open, onReload, clock, log });
  lifecycle.opened('bots watch', () => watched.close());
  return watched;
}
