import { ber, integer, octets, sequence } from './ber.ts';

const bytes = (...values: number[]) => Buffer.from(values);
const latin1 = (value: string) => Buffer.from(value, 'latin1');

/** LDAP and CLDAP: the given attributes of the root entry, which needs no login (RFC 4512 section 5.1). */
export function rootEntrySearch(...attributes: string[]): Buffer {
  const search = ber(
    0x63,
    octets(''),
    ber(0x0a, bytes(0)), // base object only
    ber(0x0a, bytes(0)),
    integer(1),
    integer(1),
    ber(0x01, bytes(0)),
    ber(0x87, latin1('objectClass')),
    sequence(...attributes.map(octets)),
  );
  return sequence(integer(1), search);
}

/** A request for an unknown name in an unknown realm: the server responds with an error. RFC 4120 section 5.4.1. */
export function kerberosRequest(): Buffer {
  const named = (tag: number, ...parts: Uint8Array[]) => ber(0xa0 + tag, ...parts);
  const general = (value: string) => ber(0x1b, latin1(value));
  const name = (type: number, ...words: string[]) =>
    sequence(named(0, integer(type)), named(1, sequence(...words.map(general))));
  const realm = 'PORTOLAN.INVALID';
  const body = sequence(
    named(0, ber(0x03, bytes(0, 0, 0, 0, 0))),
    named(1, name(1, 'portolan')),
    named(2, general(realm)),
    named(3, name(2, 'krbtgt', realm)),
    named(5, ber(0x18, latin1('20370913024805Z'))),
    named(7, integer(0x504f52)),
    named(8, sequence(integer(18), integer(17))),
  );
  return ber(0x6a, sequence(named(1, integer(5)), named(2, integer(10)), named(4, body)));
}
