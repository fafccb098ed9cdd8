// Objects of Kubernetes against the schemas of their kinds, offline. A kind without a schema here is a fault, so that no object goes
// unchecked.
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Namespace, Service, ServiceAccount } from 'kubernetes-models/v1';
import { z } from 'zod';

type Schema = (object: object) => { validate(): void };

const SCHEMAS: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['apps/v1 Deployment', (object) => new Deployment(object)],
  ['autoscaling/v2 HorizontalPodAutoscaler', (object) => new HorizontalPodAutoscaler(object)],
  ['batch/v1 Job', (object) => new Job(object)],
  ['networking.k8s.io/v1 NetworkPolicy', (object) => new NetworkPolicy(object)],
  ['policy/v1 PodDisruptionBudget', (object) => new PodDisruptionBudget(object)],
  ['v1 ConfigMap', (object) => new ConfigMap(object)],
  ['v1 Namespace', (object) => new Namespace(object)],
  ['v1 Service', (object) => new Service(object)],
  ['v1 ServiceAccount', (object) => new ServiceAccount(object)],
]);

/** What is wrong with an object; empty when nothing is. */
export function schemaFaults(object: unknown): readonly string[] {
  const kind = z.looseObject({ apiVersion: z.string(), kind: z.string() }).parse(object);
  const named = `${kind.apiVersion} ${kind.kind}`;
  const schema = SCHEMAS.get(named);
  if (schema === undefined) return [`there is no schema for ${named}`];
  try {
    schema(kind).validate();
    return [];
  } catch (error) {
    return [`${named}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
