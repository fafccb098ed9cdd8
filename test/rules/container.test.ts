// The Dockerfile's own words: what its comment tells an operator to run fits the configuration it speaks of, and the image
// sets nothing that would win over the operator's file.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { instructionsOf } from '../support/image-build.ts';
import { filesUnder } from '../support/source-tree.ts';

const textOf = (file: string): string => filesUnder([file])[0]?.text ?? '';
const DOCKERFILE = textOf('Dockerfile');

const EXAMPLE = z
  .object({
    grpc: z.object({ port: z.number() }),
    tls: z.object({ certificate_file: z.string(), key_file: z.string() }),
    auth: z.object({ data_sources: z.array(z.object({ nonce: z.object({ file: z.string() }) })) }),
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

  it('has its volume where spoken prompts are kept by default', () => {
    const workdir = instructions.findLast(({ word }) => word === 'WORKDIR')?.rest ?? '';
    const defaults = z.object({ synthesizer: z.object({ cache_folder: z.string() }) }).parse(parse(textOf('config/default.yaml')));
    expect(instructions.filter(({ word }) => word === 'VOLUME').map(({ rest }) => rest)).toEqual([
      `${workdir}/${defaults.synthesizer.cache_folder}`,
    ]);
    expect(EXAMPLE.synthesizer).toBeUndefined();
  });
});

describe('the command in its comment', () => {
  const command = /docker run [^\n]*\\\n(?:# [^\n]*\\\n)*# [^\n]*/u.exec(DOCKERFILE)?.[0] ?? '';
  const mounts = [...command.matchAll(/--volume \S+?:(?<place>[^\s:]+)/gu)].map(({ groups }) => groups?.['place'] ?? '');
  const isMounted = (file: string): boolean => mounts.some((place) => file.startsWith(`${place}/`));

  it('publishes the port that the example listens on', () => {
    expect(command).toContain(`--publish ${String(EXAMPLE.grpc.port)}:${String(EXAMPLE.grpc.port)}`);
  });

  it('mounts everything that the example reads: configuration, certificate, key and secrets', () => {
    const configuration = /PARLEY_CONFIG=(?<file>\S+)/u.exec(command)?.groups?.['file'] ?? '';
    const files = [configuration, EXAMPLE.tls.certificate_file, EXAMPLE.tls.key_file];
    files.push(...EXAMPLE.auth.data_sources.map(({ nonce }) => nonce.file));
    expect(files.filter((file) => !isMounted(file))).toEqual([]);
  });

  it('mounts a volume for spoken prompts, because the rest is read-only', () => {
    expect(command).toContain('--read-only');
    const [volume = ''] = instructionsOf(DOCKERFILE).flatMap(({ word, rest }) => (word === 'VOLUME' ? [rest] : []));
    expect(mounts).toContain(volume);
  });
});
