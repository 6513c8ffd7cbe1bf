import { describe, expect, it } from 'vitest';
import { pathWithoutTokens, withoutTokens } from './secret-text.ts';

const token = `svc_abc123_${'A1b2-_'.repeat(7)}Z`;

describe('withoutTokens', () => {
  it('leaves the id and takes the secret, also of a token that was cut off', () => {
    expect(withoutTokens(`a ${token} b ${token.slice(0, 40)}`)).toBe(
      'a svc_abc123_[redacted] b svc_abc123_[redacted]',
    );
  });

  it('leaves other text as it is', () => {
    expect(withoutTokens('svc_backup_hosts of svc_ab_cd')).toBe('svc_backup_hosts of svc_ab_cd');
  });
});

describe('pathWithoutTokens', () => {
  it('finds a token that is percent-encoded, once or twice', () => {
    const once = `/x/%73vc%5F${token.slice(4)}`;
    expect(pathWithoutTokens(once)).toBe('/x/svc_abc123_[redacted]');
    expect(pathWithoutTokens(once.replaceAll('%', '%25'))).toBe('/x/svc_abc123_[redacted]');
  });

  it('leaves a path without tokens encoded', () => {
    expect(pathWithoutTokens('/a%0Ab%ff')).toBe('/a%0Ab%ff');
  });
});
