import { createServer, type Server } from 'parley-voice/server';
import menu from '../menu.ts';

/** Serves calls beside whatever else this program does. */
export function serveCalls(configuration: string): Promise<Server> {
  return createServer(configuration, {
    bots: [menu],
    onCallEnded: ({ call, by }) => {
      process.stdout.write(`call ${call.conversationId} was ended: ${by}\n`);
    },
    onAuthorized: ({ organizationId }) => {
      process.stdout.write(`organization ${organizationId} is a customer now\n`);
    },
  });
}
