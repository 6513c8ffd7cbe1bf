import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// package.json is above src/ and, compiled, above dist/: both at the same depth.
const manifest = fileURLToPath(new URL('../../../package.json', import.meta.url));
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };

/** Program name and version for reports. */
export const generator = { name: 'Portolan', version };
