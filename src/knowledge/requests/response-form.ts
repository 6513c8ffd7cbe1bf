/** How to find the end of a response, by protocol. */
export type ResponseForm =
  /** One line. */
  | 'line'
  /** The line `SSH-...` after any lines before it (RFC 4253 section 4.2). */
  | 'ssh-version'
  /** One binary packet of SSH (RFC 4253 section 6). */
  | 'ssh-packet'
  /** A three-digit reply, possibly of many lines (RFC 5321 section 4.2.1, RFC 959 section 4.2). */
  | 'reply'
  /** The line `a1 OK|NO|BAD ...` of IMAP (RFC 9051 section 7.1), tag in lower case. */
  | 'tagged'
  /** `-ERR` line, or lines up to a single dot (RFC 1939 section 3). */
  | 'dotted'
  /** One line, or with the code 101 lines up to a single dot (RFC 3977 section 5.2). */
  | 'capabilities'
  /** IRC lines up to the one with the version, a PING or a rejection (RFC 2812 section 5). */
  | 'irc'
  /** Packet lines of git up to a flush or an error (gitprotocol-common). */
  | 'packet-lines'
  /** STUN: 16 bits of length after two bytes, 20 bytes of header (RFC 8489 section 5). */
  | 'stun'
  /** Data Stream Interface of AFP: 32 bits of length after 8 bytes, 16 bytes of header. */
  | 'dsi'
  /** Headers and body of HTTP (RFC 9112 section 6). */
  | 'http'
  /** One value of the Redis protocol: a line, or `$n` and n bytes. */
  | 'redis'
  /** One packet of the MySQL protocol: 24-bit length, sequence number. */
  | 'mysql'
  /** Messages of PostgreSQL (type, 32-bit length) up to the first that is neither "authenticated" nor a notice. */
  | 'postgresql'
  /** 16-bit length before the message: DNS over TCP (RFC 7766 section 8). */
  | 'dns'
  /** Security types of RFB: their number and one byte each, or 32 bits (RFC 6143 section 7.1.2). */
  | 'rfb-security'
  /** TPKT, RFC 2126: version, a zero, the total length in 16 bits. */
  | 'tpkt'
  /** Response of an X server: its length in 32-bit words after 8 bytes. */
  | 'x11'
  /** A zero and 24 bits of length before the message (MS-SMB2 section 2.1). */
  | 'framed'
  /** A record of ONC RPC over TCP: 31 bits of length (RFC 5531 section 11). */
  | 'rpc'
  /** A message of MongoDB: total length in the first 32 bits, little-endian. */
  | 'mongodb'
  /** A TDS packet: total length in 16 bits after two bytes (MS-TDS section 2.2.3.1). */
  | 'tds'
  /** Total length in the first 16 bits: TNS of Oracle, PPTP (RFC 2637 section 2). */
  | 'tns'
  /** 32 bits of length before the message: Kafka, Kerberos over TCP (RFC 4120 section 7.2.2). */
  | 'counted'
  /** A frame of Cassandra's native protocol: 9 bytes, the length in the last 4 of them. */
  | 'cassandra'
  /** LDAP messages up to the one that ends a search (RFC 4511 section 4.5.2). */
  | 'ldap'
  /** A fragment of DCE/RPC: its length, little-endian, after 8 bytes (C706 section 12.6.3.1). */
  | 'dcerpc'
  /** One control packet of MQTT: a variable length after the first byte. */
  | 'mqtt'
  /** Control packets of MQTT up to the first publication. */
  | 'mqtt-publish'
  /** A frame of AMQP 0-9-1: type, channel, 32 bits of length, the payload and an end mark. */
  | 'amqp'
  /** Modbus over TCP: 6 bytes, the last two of them the length of the rest. */
  | 'modbus'
  /** EtherNet/IP: 24 bytes, with the length of the rest, little-endian, after two of them. */
  | 'enip'
  /** IEC 60870-5-104: a start byte, then the length of the rest. */
  | 'apci'
  /** Niagara Fox: lines up to `};;`. */
  | 'fox'
  /** FINS/TCP: four letters, then 32 bits of length. */
  | 'fins'
  /** One BER element (X.690). */
  | 'ber'
  /** 32 bits with the total length before the message: libvirt. */
  | 'whole'
  /** 24 bytes, with the length of the rest after eight of them: memcached's binary protocol, Groonga. */
  | 'binary-head'
  /** An iSCSI PDU: 48 bytes, then data with its length after five bytes (RFC 7143 section 11.2.1). */
  | 'iscsi'
  /** 32 bits of length after a 16-bit type: corosync-qnetd. */
  | 'qnetd'
  /** Packets of the Apache JServ Protocol up to the end of a response: 16 bits of length after two bytes. */
  | 'ajp'
  /** Status of a connection between Erlang nodes, and the challenge if it is `ok`. */
  | 'erlang'
  /** Lines up to an empty one: SIP, RTSP. */
  | 'head'
  /**
   * XML up to the end of a stream or of its features, or to the response about TLS (RFC 6120 sections 4.3.2 and
   * 5.4.2).
   */
  | 'xml-stream'
  /** Fixed length: one byte, two, four, five, eight, ten. */
  | 'byte'
  | 'two'
  | 'word'
  | 'five'
  | 'eight'
  | 'ten'
  /** Lines up to `END`: Liquidsoap. */
  | 'closed-list'
  /** Lines up to the end mark of Festival. */
  | 'festival'
  /** Lines of an ADC hub up to its description, or to the reason for a rejection. */
  | 'adc'
  /** One packet of the remote protocol of GDB, up to its checksum. */
  | 'gdb'
  /** Text of a telnet server up to a prompt: a colon, or a prompt character. */
  | 'telnet'
  /** Up to the byte 3. */
  | 'end-of-text'
  /** The first two messages of an RTMP server: a byte, then 1536. */
  | 'rtmp'
  /** 24 bytes, with the length of the rest after four of them: owserver. */
  | 'owserver'
  /** 26 bytes, the last four of them the length of the rest, little-endian: Snapcast. */
  | 'snapcast'
  /** Total length in 32 bits after four bytes: RPKI to router (RFC 8210 section 5.1). */
  | 'rtr'
  /** A 32-bit type, then 32 bits of length: MooseFS. */
  | 'moosefs'
  /** A byte, 32 bits of length, the message: Deluge. */
  | 'deluge'
  /** Everything until the peer is silent or closes. */
  | 'all';

/** Reads one response as it arrives. Reads each byte once, however it is split. */
export interface ResponseReader {
  /** Length of the complete response, or 0 while it is incomplete. `bytes` starts with the same bytes at every call. */
  end(bytes: Buffer): number;
  /** The response was truncated at a limit of lines, header or body bytes. */
  readonly capped: boolean;
}
