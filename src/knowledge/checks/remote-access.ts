import { bannerText } from '../../domain/text/banner.ts';
import { parseFtp } from '../protocols/ftp.ts';
import { sentRequests } from '../protocols/probe-session.ts';
import { parseRdp, parseRfb, parseX11 } from '../protocols/remote-screen.ts';
import { parseSmb } from '../protocols/smb.ts';
import { type Check, type CheckResponse, evidence } from './check.ts';

const noSecurity = 1;

/** Remote logins and file access. */
export const remoteAccessChecks: readonly Check[] = [
  {
    id: 'telnet-cleartext',
    title: 'Telnet sends passwords and commands in clear text',
    severity: 'high',
    confidence: 0.95,
    action: 'Turn off Telnet',
    remediation: 'Turn Telnet off and use SSH.',
    references: ['https://cwe.mitre.org/data/definitions/319.html'],
    prove({ banner, bytes, secure, text }) {
      // IAC, then WILL, WONT, DO or DONT (RFC 854).
      const [first = 0, second = 0] = bytes;
      const telnet = first === 0xff && second >= 0xfb && second <= 0xfe;
      return telnet && banner.protocol === 'tcp' && !secure ? text : null;
    },
  },
  {
    id: 'ftp-cleartext',
    title: 'FTP without TLS sends names and passwords in clear text',
    severity: 'medium',
    confidence: 0.9,
    action: 'Require TLS for FTP',
    remediation: 'Require TLS on the FTP server (RFC 4217), or use SFTP.',
    references: ['https://datatracker.ietf.org/doc/html/rfc4217'],
    prove(response) {
      if (response.secure || response.banner.probe !== 'ftp') return null;
      const facts = readFtp(response);
      // Without a response to FEAT it is unknown whether the server offers TLS.
      if (facts?.code !== 220 || facts.auth_tls === true || response.banner.tls) return null;
      const refused = !facts.features && /\n5\d\d[ -]/.test(response.bytes.toString('latin1', 0, 4096));
      if (!facts.features && !refused) return null;
      return evidence(
        `220 ${facts.greeting}\n${facts.features ? `FEAT: ${facts.features.join(', ')}` : 'FEAT was rejected'}`,
      );
    },
  },
  {
    id: 'ftp-anonymous',
    title: 'FTP allows anonymous login',
    severity: 'medium',
    confidence: 0.99,
    action: 'Turn off anonymous FTP logins',
    remediation: 'Turn anonymous logins off, unless the files are meant for everyone.',
    references: ['https://datatracker.ietf.org/doc/html/rfc1635'],
    prove(response) {
      if (readFtp(response)?.anonymous !== true) return null;
      const login = /\n(230[^\r\n]*)/.exec(response.bytes.toString('latin1', 0, 16_384))?.[1] ?? '230';
      return evidence(`USER anonymous: ${bannerText(Buffer.from(login, 'latin1'))}`);
    },
  },
  {
    id: 'vnc-no-auth',
    title: 'VNC shows the screen without a password',
    severity: 'critical',
    confidence: 0.98,
    action: 'Require a password for VNC',
    remediation:
      'Set a password or another security type, and make VNC reachable only through a tunnel (SSH, VPN).',
    references: ['https://datatracker.ietf.org/doc/html/rfc6143#section-7.2.1'],
    prove({ banner, bytes }) {
      const record = banner.protocol === 'tcp' ? parseRfb(bytes) : null;
      if (!record?.securityTypes?.includes(noSecurity)) return null;
      return `RFB ${record.version}, security types ${record.securityTypes.join(', ')} (1 = None)`;
    },
  },
  {
    id: 'x11-open',
    title: 'The X server lets anyone see and control its screen',
    severity: 'critical',
    confidence: 0.98,
    action: 'Turn off network access to X servers',
    remediation: 'Start the X server with "-nolisten tcp", never use "xhost +", and forward X11 through SSH.',
    references: ['https://www.x.org/releases/current/doc/man/man7/Xsecurity.7.xhtml'],
    prove({ banner, bytes }) {
      const record = banner.probe === 'x11' ? parseX11(bytes) : null;
      return record?.admitted
        ? evidence(`connection setup without credentials succeeded: X${record.version}, ${record.text}`)
        : null;
    },
  },
  {
    id: 'rdp-no-nla',
    title: 'Remote Desktop does not require network level authentication',
    severity: 'medium',
    confidence: 0.95,
    action: 'Require network level authentication for Remote Desktop',
    remediation: 'Require network level authentication (NLA) for Remote Desktop connections.',
    references: ['https://learn.microsoft.com/openspecs/windows_protocols/ms-rdpbcgr/'],
    prove({ banner, bytes }) {
      const record = banner.probe === 'rdp' ? parseRdp(bytes) : null;
      return record?.security === 'tls' || record?.security === 'rdp' ? record.proof : null;
    },
  },
  {
    id: 'smb-v1',
    title: 'The file server supports SMB version 1',
    severity: 'high',
    confidence: 0.97,
    action: 'Turn off SMB 1',
    remediation: 'Turn SMB 1 off; every system since Windows Vista and Samba 3.6 supports version 2.',
    references: [
      'https://learn.microsoft.com/windows-server/storage/file-server/troubleshoot/detect-enable-and-disable-smbv1-v2-v3',
    ],
    prove({ banner, bytes }) {
      const record = banner.protocol === 'tcp' ? parseSmb(bytes) : null;
      return record?.dialect === '1' ? 'the dialect NT LM 0.12 was accepted' : null;
    },
  },
  {
    id: 'smb-signing-optional',
    title: 'The file server accepts unsigned SMB messages',
    severity: 'medium',
    confidence: 0.95,
    action: 'Require SMB signing',
    remediation: 'Require SMB signing on the server (server signing = mandatory, RequireSecuritySignature).',
    references: ['https://learn.microsoft.com/windows-server/storage/file-server/smb-signing-overview'],
    prove({ banner, bytes }) {
      const record = banner.protocol === 'tcp' ? parseSmb(bytes) : null;
      if (record?.signingRequired !== false || record.dialect === '1') return null;
      return `SMB ${record.dialect}: the security mode does not require signing`;
    },
  },
];

function readFtp({ banner, bytes }: CheckResponse) {
  return banner.protocol === 'tcp' ? parseFtp(bytes, sentRequests(banner))?.facts : undefined;
}
