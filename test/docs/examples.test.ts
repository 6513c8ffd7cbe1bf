import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { syncSources } from '../../src/actions/catalogs/vulndb-sources.ts';
import type { ApiDocument } from '../api/requests.ts';
import { Home } from '../cli/command.ts';
import { freePort } from '../cli/listeners.ts';
import { blocksOf, readPage } from './page.ts';
import { Shell } from './shell.ts';

const page = readPage('docs/examples.md');
const blocks = blocksOf(page);
const [library, ...pythons] = blocks.filter(({ language }) => language === 'python');

/** Of the output of an example that fails. */
const shownBytes = 2000;

describe('docs/examples.md', () => {
  const home = new Home();
  const folder = home.file('work');
  let shell: Shell;
  let port: number;
  beforeAll(async () => {
    mkdirSync(folder);
    port = await freePort();
    writeFileSync(join(folder, 'portolan_api.py'), library?.text ?? '');
    shell = new Shell(home, {
      cwd: folder,
      env: {
        SERVICE_SERVER__BIND: `127.0.0.1:${port}`,
        SERVICE_LOGGING__AUDIT__ENABLED: 'true',
        // Nothing listens there: no publisher is contacted.
        SERVICE_VULNDB__SOURCES: syncSources.map((name) => `${name}=http://127.0.0.1:1/`).join(','),
        PYTHONDONTWRITEBYTECODE: '1',
      },
    });
  });
  afterAll(async () => {
    await shell.run('portolan server stop');
    await shell.close();
    home.remove();
  });

  it.each(blocks.filter((block) => block !== library))(
    '$language of "$heading" works',
    async ({ language, text, heading }) => {
      const here = text.replaceAll('8080', String(port));
      const file = join(folder, language === 'python' ? 'example.py' : 'example.sh');
      writeFileSync(file, here);
      const command = language === 'python' ? 'python3 example.py' : '. ./example.sh';
      const { output, code } = await shell.run(command);
      const end = output.slice(-shownBytes);
      expect(code, end).toBe(0);
      expect(output).not.toMatch(/Traceback|command not found/);
      const errors = output.match(/\{"error":\{"code":"[^"]*","message":"[^"]*"/g) ?? [];
      expect(errors).toHaveLength(language === 'sh' && heading === 'Errors' ? 1 : 0);
    },
  );

  it('has every operation of the API in both languages', () => {
    const { paths } = JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8')) as ApiDocument;
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path, method: method.toUpperCase() })),
    );
    expect(calls.length).toBeGreaterThan(40);
    const shells = blocks
      .filter(({ language }) => language === 'sh')
      .map(({ text }) => text.replaceAll('\\\n', ' '));
    const missing = calls.flatMap(({ path, method }) => [
      ...(shells.some((text) => hasCurl(text, path, method)) ? [] : [`curl ${method} ${path}`]),
      ...(pythons.some(({ text }) => hasPython(text, path, method)) ? [] : [`python ${method} ${path}`]),
    ]);
    expect(missing).toEqual([]);
  });
});

/** The path with whatever stands for its parameters on the page. */
function patternOf(path: string): string {
  return path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/"?]+');
}

function hasCurl(text: string, path: string, method: string): boolean {
  return text.split('\n').some((line) => {
    if (!new RegExp(`"\\$URL${patternOf(path)}["?]`).test(line)) return false;
    const named = /-X (\w+)/.exec(line)?.[1];
    return method === (named ?? (line.includes('--json') ? 'POST' : 'GET'));
  });
}

/** Also where the path is made of a prefix or of names in a list. */
function hasPython(text: string, path: string, method: string): boolean {
  const last = path.split('/').at(-1) ?? '';
  const spelled = new RegExp(`"${method}", f?"${patternOf(path)}["?]`).test(text);
  const listed =
    method === 'GET' && text.includes(`"${last}"`) && /f"\/api\/v1\/\{name\}|\/\{name\}"/.test(text);
  const behind = new RegExp(
    `"${method}", f"(\\{scan\\}|/api/v1/scans/\\{\\w+\\})/(${last}|\\{action\\})["?]`,
  ).test(text);
  const paged =
    method === 'GET' && new RegExp(`pages\\(f?"(${patternOf(path)}|\\{scan\\}/${last})["?]`).test(text);
  const action = text.includes('{action}') ? text.includes(`"${last}"`) : true;
  return spelled || listed || (behind && action && path.includes('{scan_id}')) || paged;
}
