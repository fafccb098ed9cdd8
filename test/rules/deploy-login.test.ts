// The Job of deploy/kubernetes-login: its schema, and that it is what the replicas of deploy/kubernetes are, with another command.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { COMMANDS } from '../../src/cli/commands.ts';
import { schemaFaults } from '../support/kubernetes-schema.ts';
import { ROOT } from '../support/source-tree.ts';

const LOGIN = 'deploy/kubernetes-login';
const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const IMAGES = z.object({ images: z.unknown() });
const REPLICA = z.object({ securityContext: z.unknown(), containers: z.tuple([z.looseObject({ volumeMounts: z.array(z.unknown()) })]) });
const DEPLOYMENT = z.object({ spec: z.object({ template: z.object({ spec: REPLICA }) }) });

describe('the Job in which somebody logs in', () => {
  const text = textOf(`${LOGIN}/job.yaml`);
  const CONTAINER = z.looseObject({ command: z.array(z.string()), volumeMounts: z.array(z.unknown()) });
  const TEMPLATE = z.object({
    metadata: z.object({ labels: z.record(z.string(), z.string()) }),
    spec: z.object({ securityContext: z.unknown(), containers: z.tuple([CONTAINER]) }),
  });
  const JOB = z.object({ spec: z.object({ backoffLimit: z.literal(0), activeDeadlineSeconds: z.number(), template: TEMPLATE }) });

  it('fits its schema, runs as the replicas do with their configuration and secrets, and gets no calls', () => {
    expect(schemaFaults(parse(text))).toEqual([]);
    const { metadata, spec } = JOB.parse(parse(text)).spec.template;
    const [container] = spec.containers;
    const replica = DEPLOYMENT.parse(parse(textOf('deploy/kubernetes/deployment.yaml'))).spec.template.spec;
    const [same] = replica.containers;
    expect(spec.securityContext).toEqual(replica.securityContext);
    for (const key of ['securityContext', 'env', 'image']) expect(container[key]).toEqual(same[key]);
    for (const mount of container.volumeMounts) expect(same.volumeMounts).toContainEqual(mount);
    expect(container['ports']).toBeUndefined();
    expect(metadata.labels['app.kubernetes.io/name']).not.toBe('parley');
    const [own, others] = [LOGIN, 'deploy/kubernetes'].map((folder) => IMAGES.parse(parse(textOf(`${folder}/kustomization.yaml`))).images);
    expect(own).toEqual(others);
  });

  it('runs a command that there is, and is not ended while it waits for somebody', async () => {
    const { spec } = JOB.parse(parse(text));
    const [node, main, group = '', login, ...flags] = spec.template.spec.containers[0].command;
    expect([node, main, login]).toEqual(
      [...textOf('Dockerfile').matchAll(/^CMD \["(node)", (?:"--[^"]+", )+"([^"]+)"/gmu)].flatMap(([, ...words]) => words).concat('login'),
    );
    const command = (await COMMANDS.get(group)?.(() => undefined))?.commands.find((each) => each.name() === login);
    const known = command?.options.flatMap(({ long }) => long ?? []) ?? [];
    expect(known).toEqual(expect.arrayContaining(flags.map((flag) => flag.split('=')[0])));
    const waitS = Number(flags.find((flag) => flag.startsWith('--wait-s='))?.slice(9));
    expect(spec.activeDeadlineSeconds).toBeGreaterThanOrEqual(waitS + 60);
  });
});
