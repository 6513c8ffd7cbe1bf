import { describe, expect, it } from 'vitest';
import { asked, ip, own, protocols, stranger, unreachable } from '../fixtures/response-trial.ts';
import { readEchoError } from './echo.ts';

const id = 0x1234;

/** What a router says about a request, as a raw socket gets it: of IPv6 without its header. */
function message(
  family: 4 | 6,
  { requestId = id, type = unreachable[family] as number, code = 1 } = {},
): Buffer {
  const request = Buffer.from([family === 4 ? 8 : 128, 0, 0, 0, 0, 0, 0, 7]);
  request.writeUInt16BE(requestId, 4);
  const quote = ip(family, own[family], protocols[family].icmp, request);
  quote.set(asked[family], family === 4 ? 16 : 24);
  const error = Buffer.concat([Buffer.from([type, code, 0, 0, 0, 0, 0, 0]), quote]);
  return family === 4 ? ip(4, stranger[4], protocols[4].icmp, error) : error;
}

describe.each([4, 6] as const)('an ICMP error about a ping over IPv%i', (family) => {
  it('says about which host it came', () => {
    const { address, ...error } = readEchoError(message(family), { family, id }) ?? { address: null };
    expect(error).toEqual({ type: unreachable[family], code: 1, sequence: 7 });
    expect(address).toEqual(asked[family]);
  });

  it('about the request of another program is none', () => {
    expect(readEchoError(message(family, { requestId: 5 }), { family, id })).toBeNull();
  });

  it('of another type is none', () => {
    expect(readEchoError(message(family, { type: family === 4 ? 5 : 2 }), { family, id })).toBeNull();
  });

  it('is read whole or not at all', () => {
    const whole = message(family);
    for (let length = 0; length < whole.length; length++)
      expect(readEchoError(whole.subarray(0, length), { family, id })).toBeNull();
  });
});
