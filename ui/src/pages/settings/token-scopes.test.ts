import { expect, it } from 'vitest';
import { roleOf, roles, tokenScopes } from './token-scopes.ts';

it('a role is exactly its scopes, and all of them are known', () => {
  const known = tokenScopes.map(([scope]) => scope);
  for (const { value, scopes } of roles) {
    expect(roleOf([...scopes].reverse())).toBe(value);
    expect(scopes.filter((scope) => !known.includes(scope))).toEqual([]);
  }
  expect(roleOf(['scan:read'])).toBe('own');
  expect(roleOf([])).toBe('own');
});

it('a viewer changes nothing', () => {
  const [viewer] = roles;
  expect(viewer?.scopes.every((scope) => scope.endsWith(':read'))).toBe(true);
});
