import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../program.ts';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';

const home = new Home();
const folder = home.file('ui');
mkdirSync(folder);
writeFileSync(home.file('ui/index.html'), '<title>here</title>');
symlinkSync('/', home.file('ui/root'));
afterAll(() => home.remove());

const start = async (env: NodeJS.ProcessEnv, ...flags: string[]) => {
  const workspace = ['--workspace-dir', home.file('ws'), '--bind', '127.0.0.1:0'];
  return await home.run(['server', 'start', ...workspace, ...flags], { env });
};

describe('files of the UI', () => {
  it.each([
    ['/api', /must not equal or contain \/api/],
    ['/API', /must not equal or contain \/api/],
    ['/api/v1/ui', /must not equal or contain \/api/],
    ['/ui/api', /must not equal or contain \/api/],
    ['/health', /must not equal or contain \/health/],
    ['/metrics', /must not equal or contain \/metrics/],
    ['/readyz', /must not equal or contain \/readyz/],
    ['/', /a URL path/],
    ['/ui/', /a URL path/],
    ['ui', /a URL path/],
    ['/ui/*', /a URL path/],
    ['/:ui', /a URL path/],
  ])('the path %s is refused at the start', async (path, reason) => {
    const ended = await start({ SERVICE_SERVER__UI__PATH: path });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('server.ui.path');
    expect(ended.stderr).toMatch(reason);
    expect(await readdir(home.path)).not.toContain('ws');
  });

  it.each([
    ['a folder that does not exist', 'nowhere', 'does not exist'],
    ['a file', 'ui/index.html', 'is not a directory'],
    ['a folder that has the workspace in it', '.', 'contains the workspace'],
  ])('%s is refused at the start', async (_what, name, reason) => {
    const ended = await start({ SERVICE_SERVER__UI__STATIC_DIR: home.file(name) });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('SERVICE_SERVER__UI__STATIC_DIR server.ui.static_dir: ');
    expect(ended.stderr).toContain(reason);
    expect(await readdir(home.path)).not.toContain('ws');
  });

  it('are served from the folder alone, and not at all with --no-ui', async () => {
    const env = { SERVICE_SERVER__UI__STATIC_DIR: folder };
    for (const [server, status] of [
      [new InProcessServer({ env }), 200],
      [new ServerProcess({ args: ['--no-ui'], env }), 404],
    ] as const) {
      try {
        await server.start();
        expect((await server.request('/ui/')).status).toBe(status);
        for (const path of ['/ui/..%2f..%2fetc/passwd', '/ui/root/etc/passwd', '/ui/root/etc/hostname']) {
          const answer = await server.request(path);
          expect([path, answer.status]).toEqual([path, 404]);
        }
        expect((await server.request('/health')).status).toBe(200);
      } finally {
        await server.dispose();
      }
    }
  });
});
