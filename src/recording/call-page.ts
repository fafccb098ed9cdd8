// One call as one HTML file that opens without network and server. The page comes from console/; here it gets its data.
import { consoleFile } from '../base/console-files.ts';
import { AppError } from '../base/errors.ts';
import type { CallView } from '../dialog/call-view.ts';

const PLACE = '<script type="application/json" id="data">null</script>';

/** The file, whole. Sound is in it when the addresses of the view are `data:` ones. @throws AppError `internal` when the installation is incomplete. */
export async function callPage(view: CallView): Promise<string> {
  const page = await consoleFile('call.html');
  if (page?.includes(PLACE) !== true) throw new AppError('internal', 'dist/console/call.html is missing: the installation is incomplete');
  // Nothing in the data closes the element.
  const data = JSON.stringify(view).replaceAll('<', String.raw`\u003c`);
  return page.replace(PLACE, () => PLACE.replace('null', () => data));
}
