// `parley platform token`: writes the token that the platform presents for an organization now into a file, for `parley call`.
// Prints the token only on request.
import path from 'node:path';
import { Command, Option } from 'commander';
import { AppError } from '../../../base/errors.ts';
import { isFileError } from '../../../base/terminal/surroundings.ts';
import { controlCommand, controlWork } from './control-command.ts';
import { writeSecret } from './server-config.ts';

interface Flags {
  readonly transport?: 'grpc' | 'websocket';
  readonly out: string;
  readonly print?: true;
}

export function tokenCommand(): Command {
  const command = new Command('token')
    .description('write the current data-source token of an organization to a file')
    .argument('<organization>', 'its id')
    .addOption(new Option('--transport <name>', 'of which data source (default: grpc where there is one)').choices(['grpc', 'websocket']))
    .option('--out <file>', 'where to', 'token.jws')
    .option('--print', 'print it instead');
  return controlCommand(command, 'token 5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11 --out token.jws').action(
    async (organizationId: string, { transport, out, print }: Flags) => {
      const { ask, show } = controlWork(command);
      const { token, ...about } = await ask('token', { organizationId, transport });
      if (print === true) {
        show({ ...about, token }, token);
        return;
      }
      const file = path.resolve(out);
      try {
        await writeSecret(file, `${token}\n`);
      } catch (thrown) {
        if (isFileError(thrown)) throw new AppError('config_invalid', `the token cannot be written: ${thrown.message}`, { cause: thrown });
        throw thrown;
      }
      show({ ...about, file }, `${out} holds the token of organization ${about.organizationId}, good until ${about.tokenExpiryTime}`);
    },
  );
}
