import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../../../test/program.ts';

/** Nobody. */
const user = '65534';

/** As in the container image: Node.js with a file capability that permits and does not make effective. */
describe('a user without privileges, with a file capability', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-right-'));
  const node = join(folder, 'node');

  beforeAll(() => {
    chmodSync(folder, 0o755);
    copyFileSync(process.execPath, node);
    execFileSync('setcap', ['cap_net_raw+p', node], {
      env: { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
    });
    for (const file of ['rights.ts', 'sys.ts', 'raise-right.ts'])
      copyFileSync(join(import.meta.dirname, file), join(folder, file));
    mkdirSync(join(folder, 'node_modules'));
    const packages = readdirSync(join(root, 'node_modules')).filter((name) => /koffi|koromix/.test(name));
    for (const name of packages)
      cpSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    writeFileSync(
      join(folder, 'ask.ts'),
      "import { rawObstacle } from './rights.ts'; console.log(rawObstacle() ?? 'permitted');",
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const ask = (...more: string[]) =>
    execFileSync(
      'setpriv',
      [
        '--reuid',
        user,
        '--regid',
        user,
        '--clear-groups',
        ...more,
        '--',
        node,
        '--no-warnings',
        join(folder, 'ask.ts'),
      ],
      { encoding: 'utf8' },
    );

  it('may send raw packets', () => {
    expect(ask()).toBe('permitted\n');
  });

  it('starts where the container drops the capability, and says why there are none', () => {
    expect(ask('--bounding-set', '-net_raw')).toMatch(
      /^raw packets are not permitted \(EPERM\); grant CAP_NET_RAW/,
    );
  });
});
