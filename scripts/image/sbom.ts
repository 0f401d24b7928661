// The bill of materials (SBOM) of the release image in SPDX 2.3, for vulnerability and licence scanners.
import { createHash } from 'node:crypto';
import type { BundledPackage } from '../bundled-packages.ts';
import type { Architecture, ImageLock } from './parts.ts';

export interface Materials {
  readonly version: string;
  readonly architecture: Architecture;
  readonly lock: ImageLock;
  /** The npm packages in the bundle. */
  readonly packages: readonly BundledPackage[];
}

interface SpdxPackage {
  readonly SPDXID: string;
  readonly name: string;
  readonly versionInfo: string;
  readonly licenseDeclared: string;
  readonly purl: string;
}

const ROOT = 'SPDXRef-offshoot';

/** Makes the document. It is reproducible: it contains no creation time. */
export function spdxDocument({ version, architecture, lock, packages }: Materials): object {
  const parts: SpdxPackage[] = [
    spdxPackage('npm', 'offshoot', version, 'Apache-2.0'),
    spdxPackage('generic', 'node', lock.node.version, 'MIT'),
    ...Object.entries(lock.debian).map(([name, each]) =>
      // Debian describes licences in a file per package, which is in the image, instead of an SPDX expression.
      spdxPackage('deb', name, each.version, 'NOASSERTION', `?arch=${architecture}&distro=debian-12`),
    ),
    ...packages.map(({ name, version: each, license }) => spdxPackage('npm', name, each, license)),
  ];
  const digest = createHash('sha256')
    .update(JSON.stringify([architecture, parts]))
    .digest('hex')
    .slice(0, 32);
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `offshoot-${version}-linux-${architecture}`,
    documentNamespace: `https://spdx.org/spdxdocs/offshoot-${version}-${digest}`,
    creationInfo: { created: '1970-01-01T00:00:00Z', creators: ['Tool: offshoot-image'] },
    documentDescribes: [ROOT],
    packages: parts.map(({ purl, ...each }) => ({
      ...each,
      downloadLocation: 'NOASSERTION',
      filesAnalyzed: false,
      licenseConcluded: 'NOASSERTION',
      copyrightText: 'NOASSERTION',
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
    })),
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: ROOT },
      ...parts.slice(1).map(({ SPDXID }) => ({
        spdxElementId: ROOT,
        relationshipType: 'DEPENDS_ON',
        relatedSpdxElement: SPDXID,
      })),
    ],
  };
}

function spdxPackage(type: string, name: string, version: string, license: string, qualifiers = ''): SpdxPackage {
  const path = type === 'deb' ? `debian/${name}` : name;
  // A bundle can contain two versions of a package.
  const id = type === 'npm' && name !== 'offshoot' ? `npm-${name}-${version}` : name;
  return {
    SPDXID: `SPDXRef-${id.replaceAll(/[^\w.-]+/g, '-')}`,
    name,
    versionInfo: version,
    licenseDeclared: license,
    purl: `pkg:${type}/${encodeURIComponent(path).replaceAll('%2F', '/')}@${encodeURIComponent(version)}${qualifiers}`,
  };
}
