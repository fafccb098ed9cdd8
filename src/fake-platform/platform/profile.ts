// Loads a platform profile for the callers and issuers of commands and tests, which may not import the contract.

export { loadProfile } from '../../contract/profile.ts';
