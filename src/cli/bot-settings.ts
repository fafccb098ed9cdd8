// The settings about bots, for commands that read bots without serving them. Replaces what such a command does not need, so that a
// laptop without certificate and secrets can list and check the bots of a production configuration.
import type { Command } from 'commander';
import { loadSettings, type LoadedSettings } from '../app/config/load-settings.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';

const NOT_NEEDED = [
  ...['--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1', '--auth.data_sources=[]', '--admin.enabled=false'],
  ...['integration.client_secret', 'service_app.client_secret', 'oauth.client_secret', 'oauth.refresh_token'].map(secretLeftOut),
  ...['static_token.access_token', 'store.keys'].map(secretLeftOut),
];

function secretLeftOut(name: string): string {
  return `--admin.${name}=`;
}

/** Adds `--folder` to the flags of the configuration. */
export function acceptBotSettings(command: Command): Command {
  return acceptSettings(command).option(
    '--folder <folder>',
    'folder with the bot modules, the same as --bots.folder (default: the setting)',
  );
}

/** The settings for such a command. @throws AppError `config_invalid`. */
export function loadBotSettings(command: Command): LoadedSettings {
  const folder: unknown = command.getOptionValue('folder');
  const own = typeof folder === 'string' ? [`--bots.folder=${folder}`] : [];
  return loadSettings({ argv: [...settingsArguments(command), ...own, ...NOT_NEEDED] });
}
