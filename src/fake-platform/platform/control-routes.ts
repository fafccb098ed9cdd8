// The commands over HTTP: on the listener of the administration side, under their own prefix, and only for those who
// have the key. A browser page cannot send it across origins, so no page can control the platform.
import type { FastifyInstance } from 'fastify';
import { CONTROL_PREFIX } from './control-wire.ts';
import type { ControlCommands } from './control.ts';
import { Refusal } from './refusal.ts';
import { isSameSecret } from './same-secret.ts';

/** The key, and the commands it unlocks. */
export interface Control {
  /** Secret; long and random. */
  readonly key: string;
  readonly commands: ControlCommands;
}

const BEARER = /^Bearer (?<key>\S{1,500})$/u;

/** Adds the commands to a server that does not listen yet. */
export async function addControl(server: FastifyInstance, { key, commands }: Control): Promise<void> {
  await server.register((scope, _options, done) => {
    scope.addHook('onRequest', (request, _reply, next) => {
      const presented = BEARER.exec(request.headers.authorization ?? '')?.groups?.['key'];
      if (presented === undefined || !isSameSecret(key, presented)) {
        next(new Refusal(401, 'the control key is missing or another'));
        return;
      }
      request.asker = { kind: 'control', organizationId: undefined };
      next();
    });
    for (const [name, command] of Object.entries(commands)) {
      scope.post(`${CONTROL_PREFIX}/${name}`, async (request, reply) =>
        reply.type('application/json; charset=utf-8').send(JSON.stringify(await command(request.body))),
      );
    }
    done();
  });
}
