import { rows } from './row.ts';
import type { Signature } from './signature.ts';

const ssh = (certainty: number) => rows('ssh', 'ssh.software', certainty);
const ftp = rows('ftp', 'ftp.greeting', 0.5);
const smtp = rows('smtp', 'smtp.greeting', 0.5);
const greeting = (certainty: number) => rows(null, 'greeting.line', certainty);

/**
 * Names that no other rule knows, recognized by the form of the text: as spelled there, without a CPE name and never
 * certain.
 */
export const generalSignatures: readonly Signature[] = [
  // RFC 4253 section 4.2: the text consists of the software and its version.
  ssh(0.6)(
    'general.ssh-version',
    '{name}',
    null,
    '^(?P<name>[A-Za-z][A-Za-z+]*(?:[ ._-][A-Za-z][A-Za-z+]*){0,2})[-_/ ]v?<v>',
    'ExampleSSH_4.2.1 build 7',
    '4.2.1',
  ),
  ssh(0.5)(
    'general.ssh-name',
    '{name}',
    null,
    '^(?P<name>[A-Za-z][A-Za-z+]+(?:[ ._-][A-Za-z][A-Za-z+]*){0,2})[/_ -]?$',
    'ExampleSSH',
  ),
  ftp(
    'general.ftp',
    '{name}',
    null,
    '(?i)(?:^|welcome to (?:the )?)(?P<name>[A-Z][\\w+-]+(?: [A-Z][\\w+-]*){0,2} ?ftpd?(?: server| service)?)[ /,]*(?:version |v\\.?)?<v>',
    'Example Turbo FTP Server v2.3.1 ready.',
    '2.3.1',
  ),
  smtp(
    'general.smtp',
    '{name}',
    null,
    '^[\\w.-]+ E?SMTP (?P<name>[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+){0,2})[ /-]v?<v>',
    'mail.example ESMTP ExampleMail 3.1.4 ready',
    '3.1.4',
  ),
  ...(['sip', 'rtsp'] as const).map((protocol) =>
    rows(protocol, 'banner.raw', 0.6)(
      `general.${protocol}`,
      '{name}',
      null,
      `(?mi)^(?:Server|User-Agent): ?(?P<name>[A-Za-z][^\\r\\n/(,;\\d]*?)[ /_-]+[vV(]?<v>`,
      `${protocol.toUpperCase()}/2.0 200 OK\r\nServer: Example Proxy/5.1.2\r\n`,
      '5.1.2',
    ),
  ),
  greeting(0.5)(
    'general.greeting-version',
    '{name}',
    null,
    '^(?:\\d{3}[ -]|[+*] ?)?(?:[Ww]elcome to (?:the )?|OK )?(?P<name>[A-Z][A-Za-z+]+(?:[ -][A-Z][A-Za-z+]*){0,3})(?:(?i: server| daemon| service)?,?(?i: version:?| ver\\.?| release))? ?[ /-]v?<v>',
    'Example Data Server version 3.2.1 ready',
    '3.2.1',
  ),
];
