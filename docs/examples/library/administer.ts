import { randomUUID } from 'node:crypto';
import { openAdmin, OrgNotRegisteredError, type AdminSettings, type DataSource } from 'parley-voice/admin';

/** Registers this address as a data source of an organization; undefined when the organization has not authorized the app. */
export async function register(settings: AdminSettings | string, organization: string, url: string): Promise<DataSource | undefined> {
  const signal = AbortSignal.timeout(60_000);
  const admin = await openAdmin(settings);
  try {
    const { dataSources, schemas } = admin.organization(organization);
    const [schema] = await schemas.list(signal);
    if (schema === undefined) throw new Error('the platform has no schema');
    const more = { audience: 'bots', subject: 'calls', nonce: randomUUID(), tokenLifetimeMinutes: 60 };
    return await dataSources.create({ ...more, url, schemaId: schema.id }, signal);
  } catch (thrown) {
    if (thrown instanceof OrgNotRegisteredError) return undefined;
    throw thrown;
  } finally {
    await admin.close();
  }
}
