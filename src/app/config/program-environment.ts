// What programs of the operator see of our environment: enough to be found and to run, and none of our secrets.
const PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'LD_LIBRARY_PATH'] as const;

/** The variables that are passed on, those that are set. */
export function programEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): Readonly<Record<string, string>> {
  return Object.fromEntries(
    PASSED.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
