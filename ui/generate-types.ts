/**
 * Writes the types of the API that the pages use, from the description that a server makes of itself. Needs the package
 * registry once: the generator requires another version of TypeScript than this program.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentDocument, hashLine } from '../src/server/fixtures/api-document.ts';

const packages = ['openapi-typescript@7.13.0', 'typescript@5.9'];
const target = join(import.meta.dirname, 'src', 'api');

const document = await currentDocument();
const folder = await mkdtemp(join(tmpdir(), 'portolan-types-'));
try {
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
  generate();
  const types = await readFile(join(folder, 'schema.d.ts'), 'utf8');
  await mkdir(target, { recursive: true });
  await writeFile(join(target, 'schema.d.ts'), `${hashLine(document)}\n${types}`);
} finally {
  await rm(folder, { recursive: true });
}

function generate(): void {
  const command = ['openapi-typescript', 'openapi.json', '--output', 'schema.d.ts', '--alphabetize'];
  const args = ['--yes', ...packages.map((name) => `--package=${name}`), '--', ...command];
  const run = spawnSync('npx', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (run.error) throw run.error;
  if (run.status !== 0) throw new Error(`npx ${args.join(' ')} ended with ${run.status}`);
}
