// The addresses of the administration interface, from the profile or from the operator's settings. Only this file can allow plain http, if
// the profile does.
import { isServiceAddress } from '../base/http-service.ts';
import { AppError } from '../base/errors.ts';
import type { PlatformProfile } from '../contract/profile.ts';

/** The addresses of the administration interface. */
export interface PlatformAddress {
  /** Prefix of every request, without a slash at the end. */
  readonly baseUrl: string;
  /** The address that a login opens in the browser. */
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Name of the header for correlation ids, of requests and responses. */
  readonly trackingHeader: string;
  /** Whether the platform may be on this machine, so that http on loopback is allowed. */
  readonly allowLoopbackHttp: boolean;
}

/**
 * Reads the addresses from the profile.
 *
 * @param baseUrl - replaces the profile's base address.
 * @throws AppError `profile_invalid` for a profile without administration, `config_invalid` for a base address that is not https (or http
 * on loopback if the profile allows that).
 */
export function platformAddress({ name, rest }: PlatformProfile, baseUrl?: string): PlatformAddress {
  if (rest === undefined) {
    throw new AppError('profile_invalid', `the profile "${name}" has no administration interface: give it a section "rest"`);
  }
  const allowLoopbackHttp = rest.allowLoopbackHttp === true;
  const base = (baseUrl ?? rest.baseUrl).replace(/\/+$/u, '');
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url === undefined || !isServiceAddress(url) || (url.protocol === 'http:' && !allowLoopbackHttp)) {
    throw new AppError('config_invalid', 'the address of the administration interface must be https, without user, query or fragment');
  }
  return {
    baseUrl: base,
    authorizeUrl: base + rest.authorizePath,
    tokenUrl: base + rest.tokenPath,
    trackingHeader: rest.trackingHeader,
    allowLoopbackHttp,
  };
}
