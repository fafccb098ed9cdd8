// The list of all packages that a server runs with (CycloneDX 1.6), from package-lock.json alone: each with its licence, its hash and
// what it depends on. The same lockfile always gives the same list.

/**
 * @typedef {{ name?: string, version: string, license?: string, integrity?: string, dev?: boolean, optional?: boolean,
 *   dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Locked
 */

/** @param {{ readonly packages: Readonly<Record<string, Locked>> }} lockfile */
export function sbom({ packages }) {
  const { '': root, ...installed } = packages;
  if (root === undefined) throw new Error('the lockfile has no package of its own');
  const lockedAt = (/** @type {string} */ place) => packages[place] ?? root;
  const places = Object.keys(installed).filter((place) => installed[place]?.dev !== true);
  // One package may lie in several places.
  const components = new Map(places.map((place) => [purlAt(place), componentAt(place)]));
  /** @type {Map<string, Set<string>>} */
  const graph = new Map();
  for (const place of ['', ...places]) {
    const { dependencies, optionalDependencies } = lockedAt(place);
    const found = Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => placeOf(name, place) ?? []);
    graph.set(purlAt(place), new Set([...(graph.get(purlAt(place)) ?? []), ...found.map(purlAt)]));
  }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...componentAt(''), type: 'application' } },
    components: [...components.values()],
    dependencies: [...graph].map(([ref, others]) => ({ ref, dependsOn: [...others].sort() })),
  };

  /** @param {string} place */
  function componentAt(place) {
    const { version, license, integrity, optional } = lockedAt(place);
    return {
      ...{ type: 'library', 'bom-ref': purlAt(place), name: nameAt(place), version, purl: purlAt(place) },
      scope: optional === true ? 'optional' : 'required',
      ...(license !== undefined && { licenses: [{ expression: license }] }),
      ...(integrity !== undefined && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace(/^sha512-/u, ''), 'base64').toString('hex') }],
      }),
    };
  }

  /** @param {string} place */
  function purlAt(place) {
    return `pkg:npm/${nameAt(place).replace('@', '%40')}@${lockedAt(place).version}`;
  }

  /** @param {string} place */
  function nameAt(place) {
    return lockedAt(place).name ?? place.replace(/^.*node_modules\//u, '');
  }

  /**
   * Where Node finds a package that is imported at a place.
   *
   * @param {string} name
   * @param {string} place
   * @returns {string | undefined}
   */
  function placeOf(name, place) {
    const candidate = `${place === '' ? '' : `${place}/`}node_modules/${name}`;
    if (candidate in installed) return places.includes(candidate) ? candidate : undefined;
    return place === '' ? undefined : placeOf(name, place.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/u, ''));
  }
}
