// `parley admin scopes`: the scopes to enter on the platform's pages for the integration and the service app. The names come from
// the profile; no request is sent.
import { Command } from 'commander';
import { AppError } from '../../base/errors.ts';
import { adminCommand, runAsConfigured } from './run.ts';

export function scopesCommand(): Command {
  const command = adminCommand(new Command('scopes'), 'scopes --config my.yaml').description(
    'list the scopes that the integration and the service app need, as they are written on the platform; asks nobody',
  );
  return command.action(async () => {
    await runAsConfigured(command, ({ profile, output }) => {
      const { oauth, name } = profile;
      if (oauth === undefined) throw new AppError('profile_invalid', `the profile "${name}" names no scopes: give it the section "oauth"`);
      const { integrationScopes: integration, serviceAppScopes: serviceApp } = oauth;
      const rows = [...integration.map((scope) => ['integration', scope]), ...serviceApp.map((scope) => ['service app', scope])];
      output.table({ integration, serviceApp }, ['APP', 'SCOPE'], rows, '');
      return Promise.resolve();
    });
  });
}
