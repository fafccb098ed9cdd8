// What every way to serve is given.
import type { LoadedSettings } from '../../app/config/load-settings.ts';

/** The settings, and what the command decides. */
export interface Serving {
  readonly loaded: LoadedSettings;
  /** Reads them anew. @throws AppError `config_invalid`. */
  readonly load: () => LoadedSettings;
  /** Print the ready line as JSON. */
  readonly isJson: boolean;
  /** Ends the process soon, whatever may still keep it busy. */
  readonly leave: () => void;
}
