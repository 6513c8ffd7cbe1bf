import { products } from './product-names.ts';
import { rows } from './row.ts';
import type { Signature } from './signature.ts';

const ssh = rows('ssh', 'ssh.software');

/** SSH, Telnet and remote desktop servers. */
export const remoteAccessSignatures: readonly Signature[] = [
  ssh(
    'ssh.openssh',
    ...products.openssh,
    String.raw`^OpenSSH_(?P<number>\d+(?:\.\d+)*)(?P<patch>p\d+)?(?:[-_+~A-Za-z][^ ]*)?(?: (?P<revision>.+))?$`,
    [
      {
        text: 'OpenSSH_9.2p1 Debian-2+deb12u3',
        version: '9.2p1',
        revision: 'Debian-2+deb12u3',
        cpe: 'cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*',
      },
      { text: 'OpenSSH_8.9p1 Ubuntu-3ubuntu0.10', version: '8.9p1', revision: 'Ubuntu-3ubuntu0.10' },
      { text: 'OpenSSH_6.6.1_hpn13v11 FreeBSD-20140420', version: '6.6.1', revision: 'FreeBSD-20140420' },
      { text: 'OpenSSH_9.6 FreeBSD-20240806', version: '9.6', revision: 'FreeBSD-20240806' },
      {
        text: 'OpenSSH_8.0',
        version: '8.0',
        revision: null,
        cpe: 'cpe:2.3:a:openbsd:openssh:8.0:*:*:*:*:*:*:*',
      },
    ],
    null,
    {
      version: '{number}{patch}',
      revision: '{revision}',
      cpe: { part: 'a', vendor: 'openbsd', product: 'openssh', version: '{number}', update: '{patch}' },
      certainty: 0.98,
    },
  ),
  ssh(
    'ssh.openssh-windows',
    ...products.openssh,
    String.raw`^OpenSSH_for_Windows_(?P<number>\d+(?:\.\d+)*)(?P<patch>p\d+)?`,
    [{ text: 'OpenSSH_for_Windows_9.5', version: '9.5', revision: 'for Windows', os: 'windows' }],
    null,
    {
      version: '{number}{patch}',
      revision: 'for Windows',
      cpe: { part: 'a', vendor: 'openbsd', product: 'openssh', version: '{number}', update: '{patch}' },
      certainty: 0.98,
      os: { family: 'windows' },
    },
  ),
  ssh(
    'ssh.dropbear',
    'Dropbear',
    'dropbear_ssh_project:dropbear_ssh',
    '^dropbear(?:_<v>(?:-(?P<revision>[^ ]+))?)?',
    [
      {
        text: 'dropbear_2022.83',
        version: '2022.83',
        cpe: 'cpe:2.3:a:dropbear_ssh_project:dropbear_ssh:2022.83:*:*:*:*:*:*:*',
      },
      { text: 'dropbear', version: null, cpe: 'cpe:2.3:a:dropbear_ssh_project:dropbear_ssh:*:*:*:*:*:*:*:*' },
    ],
    null,
    { revision: '{revision}', certainty: 0.98 },
  ),
  ssh(
    'ssh.libssh',
    'libssh',
    'libssh:libssh',
    String.raw`^libssh[_-](?P<version>\d+(?:\.\d+)+)`,
    'libssh_0.9.6',
    '0.9.6',
  ),
  ssh('ssh.mod-sftp', ...products.proftpd, String.raw`^mod_sftp(?:/(?P<module>[\d.]+))?`, 'mod_sftp/1.0.0'),
  ssh.exact('ssh.go', 'Go SSH server', 'golang', 'Go', { certainty: 0.8 }),
  ssh(
    'ssh.paramiko',
    'Paramiko',
    'paramiko:paramiko',
    String.raw`^paramiko_(?P<version>\d+(?:\.\d+)+)`,
    'paramiko_2.8.1',
    '2.8.1',
  ),
  ssh(
    'ssh.cisco',
    'Cisco SSH',
    'cisco',
    String.raw`^Cisco-\d+\.\d+$`,
    [{ text: 'Cisco-1.25', version: null, os: 'ios' }],
    null,
    { os: { family: 'ios' } },
  ),
  ssh(
    'ssh.mikrotik',
    'RouterOS SSH',
    'mikrotik',
    '^ROSSSH$',
    [{ text: 'ROSSSH', version: null, os: 'routeros' }],
    null,
    { os: { family: 'routeros' } },
  ),
  ssh(
    'ssh.apache-sshd',
    'Apache MINA SSHD',
    'apache:sshd',
    String.raw`^(?:APACHE-)?SSHD(?:-(?:CORE|UNKNOWN))?(?:-(?P<version>\d+(?:\.\d+)+))?`,
    [
      { text: 'APACHE-SSHD-2.9.2', version: '2.9.2' },
      { text: 'SSHD-UNKNOWN', version: null },
    ],
    null,
    { certainty: 0.9 },
  ),
  rows('telnet', 'banner.raw', 0.8)(
    'telnet.debian-login',
    null,
    null,
    String.raw`^\xff[\xfb-\xfe](?s:.){1,200}Debian GNU/Linux (?P<release>\d+(?:\.\d+)?)`,
    [{ text: '\xff\xfd\x18\xff\xfd\x20\r\nDebian GNU/Linux 12\r\nhost login: ', os: 'linux debian 12' }],
    null,
    { os: { family: 'linux', distribution: 'debian', version: '{release}' } },
  ),
  rows('telnet', 'banner.raw', 0.8)(
    'telnet.ubuntu-login',
    null,
    null,
    String.raw`^\xff[\xfb-\xfe](?s:.){1,200}Ubuntu (?P<release>\d+(?:\.\d+)?)`,
    [{ text: '\xff\xfd\x18\xff\xfd\x20\r\nUbuntu 22.04\r\nhost login: ', os: 'linux ubuntu 22.04' }],
    null,
    { os: { family: 'linux', distribution: 'ubuntu', version: '{release}' } },
  ),
];
