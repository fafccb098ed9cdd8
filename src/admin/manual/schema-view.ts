// A schema as people may see it: texts of the platform fit for a terminal, and the transport that it stands for here.
import type { TokenTransport } from '../../auth/principal.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { shownText } from '../../base/shown-text.ts';
import type { Schema } from '../records.ts';
import { transportOf } from './data-source-view.ts';

/** What may be shown of a schema. Members that the platform does not tell are missing. */
export interface SchemaView {
  readonly id: string;
  readonly name: string | undefined;
  /** Undefined for one that the profile does not name. */
  readonly transport: TokenTransport | undefined;
  readonly protocol: string | undefined;
  readonly serviceType: string | undefined;
  readonly url: string | undefined;
  readonly appType: string | undefined;
  readonly createdAt: string | undefined;
}

/** The schema as it may be shown. */
export function schemaView(
  { id, protocol, serviceType, description, url, appType, createdAt }: Schema,
  { schemas }: Pick<PlatformProfile, 'schemas'>,
): SchemaView {
  const shown = (text: string | undefined): string | undefined => (text === undefined ? undefined : shownText(text));
  return {
    id: shownText(id),
    name: shown(description),
    transport: transportOf({ schemaId: id }, schemas),
    protocol: shown(protocol),
    serviceType: shown(serviceType),
    url: shown(url),
    appType: shown(appType),
    createdAt: shown(createdAt),
  };
}
