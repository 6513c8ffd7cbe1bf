import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The package's own file lies above src/ and, compiled, above dist/: both at the same depth.
const manifest = fileURLToPath(new URL('../../../package.json', import.meta.url));
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };

/** The program as reports name it. */
export const generator = { name: 'Portolan', version };
