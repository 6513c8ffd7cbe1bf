import { describe, expect, it } from 'vitest';
import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import { describeFailure } from './failure.ts';

describe('describeFailure', () => {
  it('prints message and problems, each once', () => {
    const error = invalidRequest(
      '2 of 3 targets were rejected: "a b": bad',
      [{ field: 'targets', reason: 'invalid' }],
      {
        targets: [
          { index: 0, value: 'a b', reason: 'bad' },
          { index: 2, value: 'x\x1b', reason: 'worse' },
        ],
      },
    );
    expect(describeFailure(error)).toBe(
      'portolan: 2 of 3 targets were rejected: "a b": bad\n  "x\\u001b": worse\n',
    );
  });

  it('prints a target once that is wrong in several places', () => {
    const targets = ['a', 'b', 'b'].map((value, index) => ({ index, value, reason: 'bad' }));
    const error = invalidRequest('3 of 3 targets were rejected: "a": bad', [], { targets });
    expect(describeFailure(error)).toBe('portolan: 3 of 3 targets were rejected: "a": bad\n  "b": bad\n');
  });

  it('does not repeat what the message says', () => {
    const error = invalidRequest('ports: 0 is not a port', [{ field: 'ports', reason: '0 is not a port' }]);
    expect(describeFailure(error)).toBe('portolan: ports: 0 is not a port\n');
    const sentence = invalidRequest('grace must be short', [{ field: 'grace', reason: 'must be short' }]);
    expect(describeFailure(sentence)).toBe('portolan: grace must be short\n');
  });

  it('does not repeat a lone problem, nor the reason code of a target that is explained', () => {
    const lone = invalidRequest('there is no syn scanner', [
      { field: 'options.scan_type', reason: 'there is no syn scanner' },
    ]);
    expect(describeFailure(lone)).toBe('portolan: there is no syn scanner\n');
    const target = invalidRequest('1 of 1 targets: "192.0.2.7": add it to the scope', [], {
      targets: [{ index: 0, value: '192.0.2.7', reason: 'out_of_scope' }],
    });
    expect(describeFailure(target)).toBe('portolan: 1 of 1 targets: "192.0.2.7": add it to the scope\n');
  });

  it('does not repeat what the message says of a scan whose job was rejected', () => {
    const target = invalidRequest(
      'target "a b": bad',
      [{ field: 'params.targets', reason: 'invalid target' }],
      {
        targets: [{ index: 0, value: 'a b', reason: 'bad' }],
      },
    );
    expect(describeFailure(target)).toBe('portolan: target "a b": bad\n');
    const profile = invalidRequest('profile: unknown', [{ field: 'params.profile', reason: 'unknown' }]);
    expect(describeFailure(profile)).toBe('portolan: profile: unknown\n');
  });

  it('shows no control character', () => {
    expect(describeFailure(new PortolanError('network', 'a\x1b[2J\nb\x07'))).toBe(
      'portolan: a\\x1b[2J\nb\\x07\n',
    );
  });

  it('limits long lists', () => {
    const fields = Array.from({ length: 30 }, (_, index) => ({ field: `f${index}`, reason: 'bad' }));
    expect(describeFailure(invalidRequest('many', fields))).toContain('... and 10 more');
  });

  it('marks faults of the program', () => {
    expect(describeFailure(new TypeError('x is undefined'))).toMatch(
      /^portolan: internal error: TypeError: x is/,
    );
  });
});
