// An id as a part of a path.
import { AppError } from '../../base/errors.ts';

/**
 * Escapes an id so that it stays one segment of a path.
 *
 * @throws AppError `config_invalid` for one that is empty, too long, or would lead to another path.
 */
export function pathSegment(id: string): string {
  if (id === '' || id.length > 512 || id === '.' || id === '..') {
    throw new AppError('config_invalid', 'an id of the platform is a text of 1 to 512 characters and no dots alone');
  }
  return encodeURIComponent(id);
}
