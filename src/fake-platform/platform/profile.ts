// The profile for callers and issuers of commands and tests, which cannot read the contract itself.

export { loadProfile } from '../../contract/profile.ts';
