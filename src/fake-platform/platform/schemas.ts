// The schemas of data sources, one for each transport. Every valid token may read them.
import type { PlatformProfile } from '../../contract/profile.ts';
import { Refusal } from './refusal.ts';
import type { GuardedRoute } from './route.ts';

export interface SchemaRecord {
  readonly id: string;
  readonly appType: 'serviceApp';
  readonly createdAt: string;
  readonly protocol: 'gRPC' | 'web-socket';
  readonly serviceType: 'webService';
  readonly url: string;
  readonly description: string;
}

export function schemaRecords({ schemas }: PlatformProfile, createdAt: string): readonly SchemaRecord[] {
  const common = { appType: 'serviceApp', createdAt, serviceType: 'webService' } as const;
  return [
    { id: schemas.grpc, protocol: 'gRPC', url: 'https://schemas.example/voice-agent.proto', description: 'Voice agent on gRPC', ...common },
    {
      id: schemas.websocket,
      protocol: 'web-socket',
      url: 'https://schemas.example/voice-agent.json',
      description: 'Voice agent on WebSocket',
      ...common,
    },
  ];
}

/** The routes that list schemas and get one. */
export function schemaRoutes(records: readonly SchemaRecord[]): readonly GuardedRoute[] {
  return [
    { name: 'GET /dataSources/schemas', needs: 'token', answer: () => ({ status: 200, json: { items: records } }) },
    {
      name: 'GET /dataSources/schemas/:id',
      needs: 'token',
      answer: ({ id }) => {
        const found = records.find((record) => record.id === id);
        if (found === undefined) throw new Refusal(404, 'there is no such schema');
        return { status: 200, json: found };
      },
    },
  ];
}
