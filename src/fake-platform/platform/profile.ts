// Where commands and tests get the profile that callers and issuers need: the contract itself is not visible to them.

export { loadProfile } from '../../contract/profile.ts';
