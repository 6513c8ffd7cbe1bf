import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const nobody = 65_534;
const script = `
  const { testSandbox } = await import(${JSON.stringify(join(import.meta.dirname, 'self-test.ts'))});
  console.log(JSON.stringify([await testSandbox(), await testSandbox({ landlockAbi: 2 })]));
`;

describe('the sandbox', () => {
  it.each([
    ['root', 0],
    ['nobody', nobody],
  ])('holds as %s', (_, user) => {
    const args = ['--no-warnings', '--input-type=module', '-e', script];
    const text = execFileSync(process.execPath, args, { uid: user, gid: user, cwd: '/', encoding: 'utf8' });
    const held = { failure: null, missing: false, attempts: 10 };
    expect(JSON.parse(text)).toEqual([held, held]);
  });
});
