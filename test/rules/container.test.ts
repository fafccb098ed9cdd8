// The Dockerfile's own words: what its comment tells an operator to run fits the configuration it speaks of, and the image
// sets nothing that would win over the operator's file.
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { instructionsOf } from '../support/image-build.ts';
import { filesUnder } from '../support/source-tree.ts';

const textOf = (file: string): string => filesUnder([file])[0]?.text ?? '';
const DOCKERFILE = textOf('Dockerfile');

const SECRET_FILE = z.object({ file: z.string() });
const EXAMPLE = z
  .object({
    grpc: z.object({ port: z.number() }),
    tls: z.object({ certificate_file: z.string(), key_file: z.string() }),
    admin: z.object({
      integration: z.object({ client_secret: SECRET_FILE }),
      service_app: z.object({ client_secret: SECRET_FILE }),
      store: z.object({ file: z.undefined().optional(), keys: z.array(SECRET_FILE) }),
      webhooks: z.object({ port: z.number() }),
    }),
    synthesizer: z.object({ cache_folder: z.string() }).optional(),
  })
  .parse(parse(textOf('config/example.production.yaml')));

describe('the image', () => {
  const instructions = instructionsOf(DOCKERFILE);

  it('sets no setting by a variable: it would win over the file of the operator', () => {
    const variables = instructions.filter(({ word }) => word === 'ENV').map(({ rest }) => rest);
    expect(variables.length).toBeGreaterThan(0);
    expect(variables.filter((rest) => rest.includes('PARLEY_'))).toEqual([]);
  });

  it('has its volumes where spoken prompts and the sealed store are kept by default', () => {
    const workdir = instructions.findLast(({ word }) => word === 'WORKDIR')?.rest ?? '';
    const defaults = z
      .object({ synthesizer: z.object({ cache_folder: z.string() }), admin: z.object({ store: SECRET_FILE }) })
      .parse(parse(textOf('config/default.yaml')));
    expect(instructions.filter(({ word }) => word === 'VOLUME').map(({ rest }) => rest)).toEqual([
      `${workdir}/${defaults.synthesizer.cache_folder}`,
      `${workdir}/${path.dirname(defaults.admin.store.file)}`,
    ]);
    expect(EXAMPLE.synthesizer).toBeUndefined();
  });
});

describe('the command in its comment', () => {
  const command = /docker run [^\n]*\\\n(?:# [^\n]*\\\n)*# [^\n]*/u.exec(DOCKERFILE)?.[0] ?? '';
  const mounts = [...command.matchAll(/--volume \S+?:(?<place>[^\s:]+)/gu)].map(({ groups }) => groups?.['place'] ?? '');
  const isMounted = (file: string): boolean => mounts.some((place) => file.startsWith(`${place}/`));

  it('publishes the ports that the platform reaches', () => {
    for (const port of [EXAMPLE.grpc.port, EXAMPLE.admin.webhooks.port]) {
      expect(command).toContain(`--publish ${String(port)}:${String(port)}`);
    }
  });

  it('mounts everything that the example reads: configuration, certificate, key and secrets', () => {
    const configuration = /PARLEY_CONFIG=(?<file>\S+)/u.exec(command)?.groups?.['file'] ?? '';
    const files = [configuration, EXAMPLE.tls.certificate_file, EXAMPLE.tls.key_file];
    const { integration, service_app: serviceApp, store } = EXAMPLE.admin;
    files.push(...[integration.client_secret, serviceApp.client_secret, ...store.keys].map(({ file }) => file));
    expect(files.filter((file) => !isMounted(file))).toEqual([]);
  });

  it('mounts every volume, because the rest is read-only', () => {
    expect(command).toContain('--read-only');
    const volumes = instructionsOf(DOCKERFILE).flatMap(({ word, rest }) => (word === 'VOLUME' ? [rest] : []));
    expect(mounts).toEqual(expect.arrayContaining(volumes));
  });
});
