import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

const files = {
  style: '@fastify/swagger-ui/static/swagger-ui.css',
  script: '@fastify/swagger-ui/static/swagger-ui-bundle.js',
} as const;

/** Folder of the library beside the compiled form of this file, where its package is not installed. */
export const packedLibraryFolder = 'server/http/resources/docs-library';

/** What the build copies there. */
export const packedLibrary: readonly { source: string; target: string }[] = Object.values(files).map(
  (source) => ({ source, target: basename(source) }),
);

/** Path of a file of Swagger UI, which draws the page of the API. */
export function libraryFile(name: keyof typeof files): string {
  const packed = join(import.meta.dirname, basename(packedLibraryFolder), basename(files[name]));
  return existsSync(packed) ? packed : createRequire(import.meta.url).resolve(files[name]);
}
