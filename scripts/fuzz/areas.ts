// All areas, by name.
import type { PlatformProfile } from '../../src/contract/profile.ts';
import type { Issuer } from '../../src/fake-platform/platform/issuer.ts';
import type { Area } from './area.ts';
import { configuration } from './areas/configuration.ts';
import { envelopes } from './areas/envelopes.ts';
import { http2Frames } from './areas/http2-frames.ts';
import { peerPort } from './areas/peer-port.ts';
import { protobuf } from './areas/protobuf.ts';
import { recordings } from './areas/recordings.ts';
import { tokens } from './areas/tokens.ts';
import { webhooks } from './areas/webhooks.ts';
import type { Target } from './target.ts';

/** What areas are made with. */
export interface Surroundings {
  readonly issuer: Issuer;
  readonly profile: PlatformProfile;
  /** A good token for WebSocket. */
  readonly socketToken: string;
  /** Undefined: nothing is sent to another process. */
  readonly target: Target | undefined;
}

const AREAS: Readonly<Record<string, (around: Surroundings) => Area | Promise<Area>>> = {
  protobuf: ({ profile, target }) => protobuf(profile, target),
  envelopes: ({ target }) => envelopes(target),
  tokens: ({ issuer, profile, socketToken, target }) => tokens(issuer, profile, socketToken, target),
  'http2-frames': ({ profile, target }) => http2Frames(profile, target),
  'peer-port': () => peerPort(),
  webhooks: () => webhooks(),
  configuration: () => configuration(),
  recordings: () => recordings(),
};

export const AREA_NAMES: readonly string[] = Object.keys(AREAS);

/** @throws Error for a name that no area has. */
export function openAreas(names: readonly string[], around: Surroundings): Promise<readonly Area[]> {
  return Promise.all(
    names.map(async (name) => {
      const open = AREAS[name];
      if (open === undefined) throw new Error(`there is no area ${name}: ${AREA_NAMES.join(', ')}`);
      return open(around);
    }),
  );
}
