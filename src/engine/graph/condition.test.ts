import { describe, expect, it } from 'vitest';
import { type ConditionVariables, compileCondition } from './condition.ts';

const variables: ConditionVariables = {
  vuln: true,
  profile: 'deep',
  discover: false,
  privileged: false,
  compliance: false,
  intrusive: false,
};

describe('compileCondition', () => {
  it.each([
    ['${vuln}', true],
    ['!${vuln}', false],
    ['not ${discover}', true],
    ['${profile} == "deep"', true],
    ["${profile} != 'deep'", false],
    ['${vuln} and ${discover}', false],
    ['${vuln} and (${discover} or ${profile} == "deep")', true],
    ['${discover} or ${intrusive} or true', true],
    ['!(${vuln} && ${discover})', true],
    ['${profile}', true],
  ])('%s is %s', (text, expected) => {
    expect(compileCondition(text)(variables)).toBe(expected);
  });

  it.each([
    ['${nope}', /unknown variable/],
    ['${vuln} and', /ends too early/],
    ['${vuln} ${discover}', /unexpected/],
    ['(${vuln}', /ends too early/],
    ['process.exit(1)', /cannot read/],
    ['', /ends too early/],
  ])('refuses %s', (text, message) => {
    expect(() => compileCondition(text)).toThrow(message);
  });
});
