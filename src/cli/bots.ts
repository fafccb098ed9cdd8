// `parley bots`: lists bots, checks them, and creates new ones.
import { Command } from 'commander';
import { botsCheckCommand } from './bots-check.ts';
import { botsListCommand } from './bots-list.ts';
import { botsNewCommand } from './bots-new.ts';

/** The command. @param leave - ends the process soon, even when a loaded bot keeps a timer or a socket open. */
export function botsCommand(leave: () => void): Command {
  const command = new Command('bots')
    .description('list the bots, check them, or write a new one')
    .addHelpText('after', '\nExample:\n  $ parley bots new night-line\n  $ parley bots check\n  $ parley bots list --config my.yaml');
  for (const part of [botsListCommand(leave), botsCheckCommand(leave), botsNewCommand()]) command.addCommand(part.exitOverride());
  return command;
}
