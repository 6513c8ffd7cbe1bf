import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// package.json is above src/ and, compiled, above dist/: both at the same depth.
const manifest = fileURLToPath(new URL('../../../package.json', import.meta.url));
const { name, version, homepage } = JSON.parse(readFileSync(manifest, 'utf8')) as {
  name: string;
  version: string;
  homepage?: string;
};

/** Program name and version for reports; without a home page the URI of the package (ECMA-427). */
export const generator = {
  name: 'Portolan',
  version,
  informationUri: homepage ?? `pkg:npm/${name}@${version}`,
};
