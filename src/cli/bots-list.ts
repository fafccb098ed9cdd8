// `parley bots list`: the bots of a folder, and which organizations see them.
import { Command } from 'commander';
import { botsFolder } from '../app/bot-folders.ts';
import { originOf } from '../app/config/describe-settings.ts';
import { openCatalog } from '../app/open-catalog.ts';
import type { Bot } from '../bot/bot.ts';
import type { Catalog } from '../bot/catalog.ts';
import { loadBots } from '../bot/loader.ts';
import { acceptBotSettings, loadBotSettings } from './bot-settings.ts';
import { alignedRows } from '../base/terminal/table.ts';

/** Stands for organizations without a list: no organization has an empty id. */
const OTHERS = '';
/** Most organizations in one line of the table; JSON lists all. */
const MAX_NAMED = 3;

interface BotRow {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  /** Whether this bot answers calls that name no agent, in organizations without a list. */
  readonly isDefault: boolean;
  /** Organizations whose own list makes this bot their default. */
  readonly defaultOf: readonly string[];
  /** Whether organizations without a list see this bot. */
  readonly isForOthers: boolean;
  /** Organizations whose own list contains this bot. */
  readonly organizations: readonly string[];
  /** Events that the bot has handlers for. */
  readonly handlers: readonly string[];
}

/** The command. Exit code 1 when a module cannot be used. */
export function botsListCommand(leave: () => void): Command {
  const command = acceptBotSettings(new Command('list'))
    .description('list the bots and which organization sees which of them (bots.organizations)')
    .option('--json', 'print JSON: one object per bot')
    .addHelpText('after', '\nExample:\n  $ parley bots list --config my.yaml --json');
  return command.action(async (options: { json?: true }) => {
    try {
      const loaded = loadBotSettings(command);
      const { bots: settings } = loaded.settings;
      const catalog = openCatalog(await loadBots(botsFolder(settings)), settings, originOf(loaded));
      const organizations = settings.organizations.map(({ organizationId }) => organizationId);
      const rows = catalog.bots.map((bot) => rowOf(bot, catalog, organizations));
      command.configureOutput().writeOut?.(options.json === true ? `${JSON.stringify(rows, null, 2)}\n` : tableOf(rows));
    } finally {
      leave();
    }
  });
}

function rowOf(bot: Bot, catalog: Catalog, organizations: readonly string[]): BotRow {
  const { id, name, version } = bot;
  const entryOf = (organization: string) => catalog.agents(organization).find((entry) => entry.id === id);
  const seeing = organizations.filter((organization) => entryOf(organization) !== undefined);
  return {
    id,
    name,
    version,
    isDefault: entryOf(OTHERS)?.isDefault === true,
    defaultOf: seeing.filter((organization) => entryOf(organization)?.isDefault),
    isForOthers: entryOf(OTHERS) !== undefined,
    organizations: seeing,
    handlers: bot.handlers,
  };
}

function tableOf(rows: readonly BotRow[]): string {
  const heading = ['ID', 'NAME', 'VERSION', 'DEFAULT', 'ORGANIZATIONS', 'HANDLERS'];
  return alignedRows([
    heading,
    ...rows.map(({ id, name, version, isDefault, defaultOf, isForOthers, organizations, handlers }) => [
      id,
      name,
      String(version),
      namesOf(isDefault, 'yes', defaultOf) || '-',
      isForOthers && organizations.length === 0
        ? 'all without a list'
        : namesOf(isForOthers, 'all without a list', organizations) || 'none',
      handlers.join(', ') || '-',
    ]),
  ]);
}

function namesOf(isForOthers: boolean, others: string, organizations: readonly string[]): string {
  const more = organizations.length - MAX_NAMED;
  const named = organizations.slice(0, MAX_NAMED);
  return [...(isForOthers ? [others] : []), ...named, ...(more > 0 ? [`${String(more)} more`] : [])].join(', ');
}
