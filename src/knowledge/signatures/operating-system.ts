import { literalPattern, rows } from './row.ts';
import type { Signature } from './signature.ts';

type System = NonNullable<Signature['os']>;

const linux = (distribution: string, version?: string): System => ({
  family: 'linux',
  distribution,
  ...(version === undefined ? {} : { version }),
});

/**
 * Texts that reveal the operating system and nothing about the product.
 *
 * @returns function for a row: id; pattern; a real text; the system, with the version `{release}` if the pattern reads
 *   it; the release expected from the text then
 */
function systems(source: string, certainty: number) {
  const row = rows(null, source, certainty);
  return (id: string, pattern: string, text: string, os: System, release = '') => {
    const expected = Object.values(os).join(' ').replace('{release}', release);
    return row(`os.${id}`, null, null, pattern, [{ text, os: expected }], null, { os });
  };
}

const ssh = (certainty: number) => systems('ssh.software', certainty);
const server = (certainty: number) => systems('http.header.server', certainty);
const mysql = (certainty: number) => systems('mysql.greeting', certainty);
const dns = (certainty: number) => systems('dns.version', certainty);
const redis = systems('redis.info', 0.82);

/** Releases of a distribution with a unique OpenSSH version; `rest` is the pattern of what follows its name. */
const openSsh = (distribution: string, comment: string, rest: string, releases: Record<string, string>) =>
  Object.entries(releases).map(([version, release]) =>
    ssh(0.92)(
      `ssh-${distribution}-${version}`,
      `^OpenSSH_${literalPattern(version)} ${comment.split('-', 1).join()}${rest}`,
      `OpenSSH_${version} ${comment}`,
      linux(distribution, release),
    ),
  );

/** Releases of a distribution with a unique version of Apache httpd. */
const apache = (distribution: string, name: string, releases: Record<string, string>) =>
  Object.entries(releases).map(([version, release]) => {
    const text = `Apache/${version} (${name})`;
    return server(0.87)(
      `http-${distribution}-${version}`,
      `^${literalPattern(text)}`,
      text,
      linux(distribution, release),
    );
  });

const greeting = (protocol: string, distribution: string, name: string, comment = name) =>
  systems(`${protocol}.greeting`, 0.8)(
    `${protocol}-${distribution}`,
    String.raw`\(${name}(?:/GNU)?\)`,
    `Product (${comment}) ready`,
    linux(distribution),
  );

/** What greetings reveal about the operating system: build names, package revisions, releases by version. */
export const operatingSystemSignatures: readonly Signature[] = [
  ...openSsh('raspbian', 'Raspbian-5', '[^~]*$', {
    '6.7p1': '8',
    '7.4p1': '9',
    '7.9p1': '10',
    '8.4p1': '11',
    '9.2p1': '12',
    '10.0p1': '13',
    '10.0p2': '13',
  }),
  ...openSsh('ubuntu', 'Ubuntu-5', '[^~]*$', {
    '7.5p1': '17.10',
    '7.7p1': '18.10',
    '7.9p1': '19.04',
    '8.0p1': '19.10',
    '8.3p1': '20.10',
    '9.3p1': '23.10',
    '9.7p1': '24.10',
    '10.2p1': '26.04',
  }),
  ...openSsh('debian', 'Debian-2', '[^~]*$', {
    '6.0p1': '7',
    '6.7p1': '8',
    '7.4p1': '9',
    '7.9p1': '10',
    '8.4p1': '11',
    '9.2p1': '12',
    '10.0p1': '13',
    '10.0p2': '13',
  }),
  ...openSsh('ubuntu', 'Ubuntu-3ubuntu0.10', '', {
    '6.6.1p1': '14.04',
    '7.2p2': '16.04',
    '7.6p1': '18.04',
    '8.2p1': '20.04',
    '8.9p1': '22.04',
    '9.6p1': '24.04',
    '9.9p1': '25.04',
    '10.0p1': '25.10',
  }),
  ssh(0.9)('ssh-debian', ' Debian-', 'OpenSSH_9.7p1 Debian-5', linux('debian')),
  ssh(0.95)(
    'ssh-debian-update',
    String.raw` Debian-[^ ~]*[+~]deb(?P<release>\d+)u\d+(?:[^~\d]|$)`,
    'OpenSSH_9.2p1 Debian-2+deb12u3',
    linux('debian', '{release}'),
    '12',
  ),
  ssh(0.95)(
    'ssh-debian-backport',
    String.raw` Debian-[^ ]*~bpo(?P<release>\d+)\+`,
    'OpenSSH_9.2p1 Debian-2+deb12u2~bpo11+1',
    linux('debian', '{release}'),
    '11',
  ),
  ssh(0.9)('ssh-ubuntu', ' Ubuntu-', 'OpenSSH_9.7p1 Ubuntu-7ubuntu4', linux('ubuntu')),
  ssh(0.9)('ssh-raspbian', ' Raspbian-', 'OpenSSH_8.4p1 Raspbian-5', linux('raspbian')),
  ssh(0.92)('ssh-freebsd', String.raw`\bFreeBSD-`, 'OpenSSH_9.6 FreeBSD-20240806', { family: 'freebsd' }),
  ssh(0.92)('ssh-netbsd', String.raw`\bNetBSD_`, 'OpenSSH_9.6 NetBSD_Secure_Shell-20231220-hpn13v14-lpk', {
    family: 'netbsd',
  }),
  ssh(0.95)('ssh-windows-port', 'Microsoft_Win32_port', 'OpenSSH_7.7p1 Microsoft_Win32_port_with_VS', {
    family: 'windows',
  }),
  ...Object.entries({
    debian: 'Debian',
    ubuntu: 'Ubuntu',
    centos: 'CentOS',
    fedora: 'Fedora',
    raspbian: 'Raspbian',
    rocky: 'Rocky Linux',
    almalinux: 'AlmaLinux',
    rhel: 'Red Hat Enterprise Linux',
    opensuse: 'Linux/SUSE',
  }).map(([distribution, name]) =>
    server(0.85)(
      `http-${distribution}`,
      String.raw`\(${name}(?: Linux)?\)`,
      `Apache/2.4.57 (${name})`,
      linux(distribution),
    ),
  ),
  server(0.85)('http-freebsd', String.raw`\(FreeBSD\)`, 'Apache/2.4.57 (FreeBSD) OpenSSL/1.1.1', {
    family: 'freebsd',
  }),
  server(0.85)('http-windows', String.raw`\(Win(?:32|64)\)`, 'Apache/2.4.57 (Win64) OpenSSL/3.1.1', {
    family: 'windows',
  }),
  ...apache('ubuntu', 'Ubuntu', {
    '2.4.7': '14.04',
    '2.4.18': '16.04',
    '2.4.29': '18.04',
    '2.4.41': '20.04',
    '2.4.52': '22.04',
    '2.4.58': '24.04',
  }),
  ...apache('debian', 'Debian', { '2.4.10': '8', '2.4.25': '9', '2.4.38': '10' }),
  ...Object.entries({ '7.5': '2008 R2', '8.0': '2012', '8.5': '2012 R2' }).map(([version, release]) => {
    const text = `Microsoft-IIS/${version}`;
    const os = { family: 'windows', distribution: 'windows server', version: release };
    return server(0.8)(`http-iis-${version}`, `^${literalPattern(text)}$`, text, os);
  }),
  greeting('smtp', 'debian', 'Debian', 'Debian/GNU'),
  greeting('smtp', 'ubuntu', 'Ubuntu'),
  ...['imap', 'pop3', 'ftp'].flatMap((protocol) => [
    greeting(protocol, 'debian', 'Debian'),
    greeting(protocol, 'ubuntu', 'Ubuntu'),
  ]),
  mysql(0.92)(
    'mysql-debian',
    String.raw`[-+~]deb(?P<release>\d+)u\d`,
    '5.5.5-10.11.6-MariaDB-0+deb12u1',
    linux('debian', '{release}'),
    '12',
  ),
  dns(0.92)(
    'dns-debian',
    String.raw`[-+~]deb(?P<release>\d+)u\d`,
    '9.18.28-1~deb12u2-Debian',
    linux('debian', '{release}'),
    '12',
  ),
  mysql(0.92)(
    'mysql-ubuntu',
    String.raw`ubuntu0\.(?P<release>\d\d\.\d\d)`,
    '8.0.36-0ubuntu0.22.04.1',
    linux('ubuntu', '{release}'),
    '22.04',
  ),
  mysql(0.9)(
    'mysql-mariadb-debian',
    String.raw`[+~]deb(?P<release>\d+)$`,
    '5.5.5-10.11.8-MariaDB-1:10.11.8+maria~deb12',
    linux('debian', '{release}'),
    '12',
  ),
  dns(0.85)('dns-ubuntu', '-Ubuntu$', '9.16.1-Ubuntu', linux('ubuntu')),
  dns(0.85)('dns-debian-build', '-Debian$', '9.18.1-1-Debian', linux('debian')),
  dns(0.85)(
    'dns-redhat',
    String.raw`RedHat.*\.el(?P<release>\d+)`,
    '9.16.23-RedHat-9.16.23-18.el9',
    linux('rhel', '{release}'),
    '9',
  ),
  systems('redis.info', 0.8)('redis-linux', '(?m)^os:Linux ', 'os:Linux 6.1.0-18-amd64 x86_64\r\n', {
    family: 'linux',
  }),
  redis(
    'redis-el',
    String.raw`(?m)^os:Linux [^ ]*\.el(?P<release>\d+)`,
    'os:Linux 5.14.0-362.el9.x86_64 x86_64\r\n',
    linux('rhel', '{release}'),
    '9',
  ),
  // The kernels of Debian's releases.
  ...Object.entries({ '4.19.0': '10', '5.10.0': '11', '6.1.0': '12' }).map(([kernel, release]) =>
    redis(
      `redis-debian-${release}`,
      String.raw`(?m)^os:Linux ${literalPattern(kernel)}-\d+-(?:cloud-)?(?:amd64|arm64) `,
      `os:Linux ${kernel}-18-amd64 x86_64\r\n`,
      linux('debian', release),
    ),
  ),
  systems('banner.raw', 0.8)(
    'dict-linux',
    '^220 [^ ]+ dictd [^ ]+ on Linux ',
    '220 host dictd 1.13.1/rf on Linux 6.1.0 <auth.mime>\r\n',
    { family: 'linux' },
  ),
];
