import { literalPattern } from '../signatures/row.ts';
import { RuleBook, type TraitRule } from './trait-rules.ts';

/** A system as a rule names it; the pattern's groups fill the `{name}` placeholders. */
export interface SystemName {
  family: string;
  distribution?: string;
  version?: string;
}

const linux = (distribution?: string, version?: string): SystemName => ({
  family: 'linux',
  ...(distribution ? { distribution } : {}),
  ...(version ? { version } : {}),
});

/** A release of a system without distributions. */
const release = (family: string, version: string): SystemName => ({ family, distribution: family, version });

/**
 * Rules for some kinds of evidence.
 *
 * @returns function for a rule: name; pattern; weight; the system, or only its family; a real text
 */
const from =
  (group: string, ...sources: string[]) =>
  (
    name: string,
    pattern: string,
    weight: number,
    says: SystemName | string,
    example: string,
  ): TraitRule<SystemName> => ({
    id: `system.${group}-${name}`,
    sources,
    pattern,
    weight,
    says: typeof says === 'string' ? { family: says } : says,
    example,
  });

const ssh = from('ssh', 'ssh.software');
const web = from('web', 'http.header.server');
/** Devices that name the system in their UPnP or SIP software. */
const stack = from('stack', 'http.header.server', 'rtsp.server', 'sip.server', 'sip.user-agent');
const ftp = from('ftp', 'ftp.system');
const snmp = from('snmp', 'snmp.sysdescr');
const snmpId = from('snmp-id', 'snmp.sysobjectid');
const product = from('product', 'product');
const ntp = from('ntp', 'ntp.variables');
const service = from('service', 'service');
const mac = from('mac', 'mac.vendor');
const tcp = from('tcp', 'tcp.stack');

const rules: readonly TraitRule<SystemName>[] = [
  // SSH servers that run on one system only.
  ssh('windows', '^OpenSSH_for_Windows', 0.95, 'windows', 'OpenSSH_for_Windows_9.5'),
  ssh('cisco', '^Cisco-', 0.85, 'cisco ios', 'Cisco-1.25'),
  ssh('routeros', '^ROSSSH', 0.95, linux('routeros'), 'ROSSSH'),
  ssh('sun', '^Sun_SSH', 0.9, 'solaris', 'Sun_SSH_1.1.5'),
  ssh('huawei', '^HUAWEI-', 0.85, 'vrp', 'HUAWEI-1.5'),
  ssh('comware', '^Comware-', 0.9, 'comware', 'Comware-7.1.045'),
  ssh('screenos', '^NetScreen', 0.9, 'screenos', 'NetScreen'),
  ssh('ilo', '^mpSSH_', 0.9, 'ilo', 'mpSSH_0.2.1'),
  ssh('fortios', '^FortiSSH', 0.9, 'fortios', 'FortiSSH_3.0'),
  ssh('dropbear', '^dropbear', 0.5, 'linux', 'dropbear_2022.83'),
  ssh(
    'el',
    String.raw`[._-]el(?P<release>\d{1,2})(?:[_. -]|$)`,
    0.8,
    linux('rhel', '{release}'),
    'OpenSSH_8.7p1 8.7p1-38.el9_4',
  ),
  // OpenSSH of the FreeBSD base, by version and the date of the last local change.
  ...Object.entries({
    '13.1': 'OpenSSH_8.8 FreeBSD-20211221',
    '13.2': 'OpenSSH_9.2 FreeBSD-20230316',
    '14.0': 'OpenSSH_9.5 FreeBSD-20231004',
  }).map(([version, text]) =>
    ssh(`freebsd-${version}`, `^${literalPattern(text)}`, 0.92, release('freebsd', version), text),
  ),
  // Web servers.
  web('http.sys', '^Microsoft-HTTPAPI/', 0.9, 'windows', 'Microsoft-HTTPAPI/2.0'),
  web(
    'iis-10',
    String.raw`^Microsoft-IIS/10\.0`,
    0.92,
    { family: 'windows', distribution: 'windows server' },
    'Microsoft-IIS/10.0',
  ),
  web('darwin', String.raw`\(Darwin\)`, 0.85, 'macos', 'Apache/2.4.58 (Darwin)'),
  web('amazon', String.raw`\(Amazon(?: Linux)?\)`, 0.85, linux('amazon'), 'Apache/2.4.58 (Amazon Linux)'),
  web('oracle', String.raw`\(Oracle Linux\)`, 0.85, linux('oracle'), 'nginx/1.20.1 (Oracle Linux)'),
  web('alpine', String.raw`\(Alpine\)`, 0.85, linux('alpine'), 'Apache/2.4.58 (Alpine)'),
  web('gentoo', String.raw`\(Gentoo\)`, 0.85, linux('gentoo'), 'Apache/2.4.58 (Gentoo)'),
  web('openeuler', String.raw`\(openEuler\)`, 0.85, linux('openeuler'), 'Apache/2.4.58 (openEuler)'),
  stack(
    'linux',
    '(?i)^Linux(?:/|,| )',
    0.8,
    'linux',
    'Linux/3.10.0, UPnP/1.0, Portable SDK for UPnP devices/1.6.18',
  ),
  stack('vxworks', '(?i)VxWorks', 0.85, 'vxworks', 'VxWorks/5.4.2 UPnP/1.0 iGateway/1.1'),
  stack(
    'windows',
    '^Microsoft-Windows(?:-NT)?/',
    0.85,
    'windows',
    'Microsoft-Windows/10.0 UPnP/1.0 UPnP-Device-Host/1.0',
  ),
  from('asp', 'http.header.x-powered-by')('net', '^ASP\\.NET', 0.6, 'windows', 'ASP.NET'),
  // Mail and file servers.
  ftp('windows', '^Windows_NT', 0.85, 'windows', 'Windows_NT'),
  ftp('vms', String.raw`\bVMS\b`, 0.85, 'openvms', 'VMS MultiNet V4.4'),
  ftp('os400', '^OS/400', 0.9, 'os/400', 'OS/400 is the remote operating system.'),
  ftp('mvs', '^MVS is', 0.9, 'z/os', 'MVS is the operating system of this server.'),
  from('smtp', 'smtp.greeting')(
    'windows',
    'Microsoft ESMTP MAIL Service',
    0.9,
    'windows',
    'mail.example.net Microsoft ESMTP MAIL Service ready',
  ),
  // Descriptions of SNMP agents.
  snmp('linux', '^Linux ', 0.9, 'linux', 'Linux gate 5.10.0-28-amd64 #1 SMP Debian x86_64'),
  snmp(
    'debian',
    '^Linux .* Debian ',
    0.9,
    linux('debian'),
    'Linux gate 5.10.0-28-amd64 #1 SMP Debian 5.10.209-2 x86_64',
  ),
  snmp(
    'ubuntu',
    '^Linux .*-Ubuntu ',
    0.9,
    linux('ubuntu'),
    'Linux gate 5.15.0-91-generic #101-Ubuntu SMP x86_64',
  ),
  snmp(
    'el',
    String.raw`^Linux .*\.el(?P<release>\d{1,2})`,
    0.9,
    linux('rhel', '{release}'),
    'Linux gate 5.14.0-362.el9.x86_64 #1 SMP x86_64',
  ),
  snmp(
    'windows',
    'Software: Windows ',
    0.93,
    'windows',
    'Hardware: Intel64 Family 6 - Software: Windows Version 6.3 (Build 17763 Multiprocessor Free)',
  ),
  snmp(
    'cisco-ios',
    String.raw`Cisco (?:IOS|Internetwork Operating System) Software.*Version (?P<version>[^\s,]+)`,
    0.95,
    release('cisco ios', '{version}'),
    'Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 15.0(2)SE4, RELEASE SOFTWARE',
  ),
  snmp(
    'cisco-nxos',
    String.raw`Cisco NX-OS.*Version (?P<version>[^\s,]+)`,
    0.95,
    release('cisco nx-os', '{version}'),
    'Cisco NX-OS(tm) n5000, Software (n5000-uk9), Version 7.3(2)N1(1), RELEASE SOFTWARE',
  ),
  snmp(
    'cisco-asa',
    String.raw`Cisco Adaptive Security Appliance Version (?P<version>\S+)`,
    0.95,
    release('cisco asa', '{version}'),
    'Cisco Adaptive Security Appliance Version 9.8(2)',
  ),
  snmp(
    'junos',
    String.raw`(?i)\bJUNOS (?P<version>\d\S+)`,
    0.95,
    release('junos', '{version}'),
    'Juniper Networks, Inc. ex2200 internet router, kernel JUNOS 12.3R6.6',
  ),
  snmp('routeros', '^RouterOS ', 0.95, linux('routeros'), 'RouterOS RB750Gr3'),
  snmp(
    'freebsd',
    String.raw`^FreeBSD \S+ (?P<version>\d+\.\d+)-`,
    0.92,
    release('freebsd', '{version}'),
    'FreeBSD gate 13.2-RELEASE FreeBSD 13.2-RELEASE amd64',
  ),
  snmp('openbsd', '^OpenBSD ', 0.92, 'openbsd', 'OpenBSD gate 7.4 GENERIC#1397 amd64'),
  snmp('netbsd', '^NetBSD ', 0.92, 'netbsd', 'NetBSD gate 9.3 (GENERIC) amd64'),
  snmp('solaris', '^SunOS ', 0.92, 'solaris', 'SunOS gate 5.11 11.4.0.15.0 i86pc'),
  snmp('macos', '^Darwin ', 0.9, 'macos', 'Darwin host 23.1.0 Darwin Kernel Version 23.1.0'),
  snmp(
    'esxi',
    String.raw`^VMware ESXi? (?P<version>\d+\.\d+(?:\.\d+)?)`,
    0.95,
    { family: 'esxi', distribution: 'vmware esxi', version: '{version}' },
    'VMware ESXi 7.0.3 build-20328353 VMware, Inc. x86_64',
  ),
  snmp(
    'eos',
    String.raw`Arista Networks EOS version (?P<version>[\d.]+)`,
    0.95,
    linux('arista eos', '{version}'),
    'Arista Networks EOS version 4.28.3M running on an Arista Networks DCS-7050SX',
  ),
  snmp('exos', '^ExtremeXOS', 0.95, 'extremexos', 'ExtremeXOS (X440-24t) version 15.3.1.4'),
  snmp(
    'vrp',
    'Huawei Versatile Routing Platform',
    0.95,
    'vrp',
    'Huawei Versatile Routing Platform Software VRP (R) software',
  ),
  snmp(
    'comware',
    'Comware (?:Platform )?Software',
    0.95,
    'comware',
    'HPE Comware Platform Software, Software Version 7.1.070',
  ),
  // Products that run on one system only.
  product(
    'windows',
    '^Microsoft (?:IIS|HTTPAPI|FTP|Exchange|DNS|Windows|Terminal|WinRM|SharePoint|Active Directory|ESMTP|RPC)',
    0.9,
    'windows',
    'Microsoft IIS 10.0',
  ),
  product('mssql', '^Microsoft SQL Server', 0.75, 'windows', 'Microsoft SQL Server 2019'),
  product('dsm', '^Synology', 0.93, linux('dsm'), 'Synology DSM'),
  product('qts', '^QNAP', 0.93, linux('qts'), 'QNAP QTS'),
  product('openwrt', '(?i)^(?:OpenWrt|LuCI)', 0.9, linux('openwrt'), 'OpenWrt LuCI'),
  product('proxmox', '^Proxmox', 0.85, linux('debian'), 'Proxmox VE'),
  product('routeros', '^(?:MikroTik )?RouterOS', 0.95, linux('routeros'), 'RouterOS SSH'),
  product(
    'esxi',
    String.raw`^VMware ESXi?(?: (?P<version>\d+\.\d+(?:\.\d+)?))?`,
    0.95,
    { family: 'esxi', distribution: 'vmware esxi', version: '{version}' },
    'VMware ESXi 7.0.3',
  ),
  product('fortios', '^Forti(?:Gate|OS)', 0.93, 'fortios', 'FortiGate'),
  product('cisco-ios', '^Cisco (?:IOS|SSH)', 0.85, 'cisco ios', 'Cisco SSH 1.25'),
  product('samba', '^Samba', 0.5, 'linux', 'Samba 4.17.12'),
  product('xrdp', '^xrdp', 0.8, 'linux', 'xrdp'),
  // Clocks, agents and announcements that name their system.
  ntp('linux', 'system="Linux', 0.9, 'linux', 'version="ntpd 4.2.8p15", system="Linux/6.1.0"'),
  ntp(
    'freebsd',
    String.raw`system="FreeBSD/(?:JNPR-)?(?P<version>\d+\.\d+)-RELEASE`,
    0.9,
    release('freebsd', '{version}'),
    'system="FreeBSD/13.2-RELEASE"',
  ),
  ntp('junos', 'system="(?:JUNOS|FreeBSD/JNPR-)', 0.9, 'junos', 'system="JUNOS12.3R6.6"'),
  ntp('cisco', 'system="cisco"', 0.85, 'cisco ios', 'system="cisco", leap=0'),
  ntp('esxi', 'system="VMkernel/', 0.9, 'esxi', 'system="VMkernel/7.0.3"'),
  ntp('solaris', 'system="SunOS', 0.9, 'solaris', 'system="SunOS/5.11"'),
  snmpId('linux', String.raw`^1\.3\.6\.1\.4\.1\.8072\.3\.2\.10$`, 0.85, 'linux', '1.3.6.1.4.1.8072.3.2.10'),
  snmpId('freebsd', String.raw`^1\.3\.6\.1\.4\.1\.8072\.3\.2\.8$`, 0.85, 'freebsd', '1.3.6.1.4.1.8072.3.2.8'),
  snmpId(
    'windows',
    String.raw`^1\.3\.6\.1\.4\.1\.311\.1\.1\.3\.`,
    0.9,
    'windows',
    '1.3.6.1.4.1.311.1.1.3.1.2',
  ),
  from('mdns', 'mdns.hinfo')('linux', '(?i)linux', 0.85, 'linux', 'X86_64 LINUX'),
  from('mdns', 'mdns.text')(
    'macos',
    String.raw`(?m)^model=(?:MacBook|iMac|Macmini|MacPro|Mac\d)`,
    0.85,
    'macos',
    'model=MacBookPro18,3',
  ),
  from('ssdp', 'ssdp.server')(
    'windows',
    '^Microsoft-Windows/',
    0.9,
    'windows',
    'Microsoft-Windows/10.0 UPnP/1.0',
  ),
  from('pptp', 'pptp.names')('linux', '(?m)^vendor: linux$', 0.85, 'linux', 'host: local\nvendor: linux'),
  // Protocols that hardly any other system speaks.
  service('msrpc', '^msrpc$', 0.75, 'windows', 'msrpc'),
  service('winrm', '^winrm$', 0.8, 'windows', 'winrm'),
  service('rdp', '^(?:rdp|ms-wbt-server)$', 0.55, 'windows', 'rdp'),
  // Vendors whose devices run one system; the network card alone is weak evidence.
  mac('routeros', '^MikroTik$', 0.6, linux('routeros'), 'MikroTik'),
  mac('dsm', '^Synology', 0.6, linux('dsm'), 'Synology'),
  mac('qts', '^QNAP', 0.6, linux('qts'), 'QNAP'),
  mac('raspberry', '^Raspberry Pi', 0.5, 'linux', 'Raspberry Pi'),
  mac('fortios', '^Fortinet', 0.6, 'fortios', 'Fortinet'),
  mac('sonicos', '^SonicWall', 0.6, 'sonicos', 'SonicWall'),
  mac('panos', '^Palo Alto', 0.6, 'pan-os', 'Palo Alto Networks'),
  mac('junos', '^Juniper', 0.5, 'junos', 'Juniper'),
  mac('eos', '^Arista', 0.6, linux('arista eos'), 'Arista'),
  // TCP response to a SYN that offers every usual option: each kernel orders its options in its own way
  // (the first eight are kept) and has its own initial TTL.
  tcp(
    'linux',
    '^ttl 64, .*, options mss sack ts nop ws(?:,|$)',
    0.55,
    'linux',
    'ttl 64, 0 routers, window 65160, mss 1460, scale 7, options mss sack ts nop ws, df',
  ),
  tcp(
    'linux-without-some',
    '^ttl 64, .*, options (?:mss nop nop sack nop ws|mss nop nop ts nop ws|mss nop nop sack|mss sack ts)(?:,|$)',
    0.4,
    'linux',
    'ttl 64, 2 routers, window 64240, mss 1460, scale 7, options mss nop nop sack nop ws, df',
  ),
  tcp(
    'windows',
    '^ttl 128, .*, options mss nop ws (?:sack ts|nop nop sack)(?:,|$)',
    0.55,
    'windows',
    'ttl 128, 1 routers, window 65535, mss 1460, scale 8, options mss nop ws sack ts, df',
  ),
  tcp(
    'ttl-128',
    '^ttl 128, ',
    0.4,
    'windows',
    'ttl 128, 4 routers, window 8192, mss 1460, scale none, options mss',
  ),
  tcp(
    'freebsd',
    '^ttl 64, .*, window 65535, .*, options mss nop ws sack ts(?:,|$)',
    0.5,
    'freebsd',
    'ttl 64, 1 routers, window 65535, mss 1460, scale 6, options mss nop ws sack ts, df',
  ),
  tcp(
    'macos',
    '^ttl 64, .*, window 65535, .*, options mss nop ws nop nop ts sack end(?:,|$)',
    0.5,
    'macos',
    'ttl 64, 0 routers, window 65535, mss 1460, scale 6, options mss nop ws nop nop ts sack end, df',
  ),
  tcp(
    'openbsd',
    '^ttl 64, .*, window 16384, .*, options mss nop nop sack nop ws nop nop(?:,|$)',
    0.55,
    'openbsd',
    'ttl 64, 0 routers, window 16384, mss 1460, scale 6, options mss nop nop sack nop ws nop nop, df',
  ),
  tcp(
    'cisco-ios',
    '^ttl 255, .*, window 4128, .*, options mss(?:,|$)',
    0.5,
    'cisco ios',
    'ttl 255, 0 routers, window 4128, mss 1460, scale none, options mss',
  ),
  tcp(
    'lwip',
    '^ttl 255, .*, window (?:2144|5840), mss (?:536|1460), scale none, options mss(?:,|$)',
    0.4,
    'lwip',
    'ttl 255, 0 routers, window 2144, mss 536, scale none, options mss',
  ),
  mac('apple', '^Apple', 0.3, 'macos', 'Apple'),
];

/**
 * Servers that a distribution ships in one release only: words of the header, the distribution's name here, the server,
 * and the releases by version.
 */
const shipped: readonly [words: string, distribution: string, server: string, Record<string, string>][] = [
  ['Debian', 'debian', 'Apache', { '2.4.10': '8', '2.4.25': '9', '2.4.38': '10' }],
  [
    'Ubuntu',
    'ubuntu',
    'Apache',
    {
      '2.4.7': '14.04',
      '2.4.18': '16.04',
      '2.4.29': '18.04',
      '2.4.41': '20.04',
      '2.4.52': '22.04',
      '2.4.58': '24.04',
    },
  ],
  [
    'Ubuntu',
    'ubuntu',
    'nginx',
    { '1.4.6': '14.04', '1.10.3': '16.04', '1.14.0': '18.04', '1.24.0': '24.04' },
  ],
  ['CentOS', 'centos', 'Apache', { '2.2.15': '6', '2.4.6': '7', '2.4.37': '8' }],
  [
    'Red Hat Enterprise Linux',
    'rhel',
    'Apache',
    { '2.4.6': '7', '2.4.37': '8', '2.4.57': '9', '2.4.63': '10' },
  ],
  ['Rocky Linux', 'rocky', 'Apache', { '2.4.37': '8', '2.4.57': '9', '2.4.63': '10' }],
  ['AlmaLinux', 'almalinux', 'Apache', { '2.4.37': '8', '2.4.57': '9', '2.4.63': '10' }],
];

const shippedRules = shipped.flatMap(([words, distribution, server, releases]) =>
  Object.entries(releases).map(([version, release]) =>
    web(
      `${distribution}-${server.toLowerCase()}-${version}`,
      `(?i)^${server}/${literalPattern(version)} \\(${words}\\)`,
      0.8,
      linux(distribution, release),
      `${server}/${version} (${words})`,
    ),
  ),
);

/** Which texts are evidence for which system. Facts that the signature catalog covers are in the catalog. */
export const systemRules = new RuleBook<SystemName>([...rules, ...shippedRules]);

type RevisionRow = [pattern: RegExp, distribution: string, version: number | string | null];

/** Distributions by package revision; a number is the group with the release. */
const revisionRows: readonly RevisionRow[] = [
  // A backport also carries the mark of the release that it was built from.
  [/~bpo(\d{1,2})\+/, 'debian', 1],
  [/raspbian.{0,100}[-+~.]deb(\d{1,2})(?:u\d|$|[^\d])/i, 'raspbian', 1],
  [/[-+~.]deb(\d{1,2})(?:u\d|$|[^\d])/, 'debian', 1],
  [/ubuntu0\.(\d\d\.\d\d)/, 'ubuntu', 1],
  [/[~+.-]ubuntu(\d\d\.\d\d)(?:\.|$)/i, 'ubuntu', 1],
  [/ubuntu/i, 'ubuntu', null],
  [/raspbian|\+rpi\d/i, 'raspbian', null],
  [/debian/i, 'debian', null],
  [/(?:^|[._-])el(\d{1,2})(?:[_.]|$)/, 'rhel', 1],
  [/\.fc(\d\d)(?:\.|$)/, 'fedora', 1],
  [/\.amzn(\d{1,4})(?:\.|$)/, 'amazon', 1],
];

/** The distribution that built a package, by its revision: `Debian-2+deb12u3`, `2.el9_4`; null = unknown. */
export function systemOfRevision(revision: string): SystemName | null {
  const text = revision.slice(0, 128);
  for (const [pattern, distribution, version] of revisionRows) {
    const match = pattern.exec(text);
    if (!match) continue;
    return linux(distribution, typeof version === 'number' ? match[version] : (version ?? undefined));
  }
  return null;
}

/** Builds of Windows NT by number; builds that workstations and servers share have a number and no name. */
const windowsBuilds: Readonly<Record<string, [distribution: string, version: string]>> = {
  '5.1.2600': ['windows', 'xp'],
  '5.2.3790': ['windows server', '2003'],
  '10.0.10240': ['windows', '10'],
  '10.0.10586': ['windows', '10'],
  '10.0.15063': ['windows', '10'],
  '10.0.16299': ['windows', '10'],
  '10.0.17134': ['windows', '10'],
  '10.0.18362': ['windows', '10'],
  '10.0.18363': ['windows', '10'],
  '10.0.19041': ['windows', '10'],
  '10.0.19042': ['windows', '10'],
  '10.0.19043': ['windows', '10'],
  '10.0.19044': ['windows', '10'],
  '10.0.19045': ['windows', '10'],
  '10.0.20348': ['windows server', '2022'],
  '10.0.22000': ['windows', '11'],
  '10.0.22621': ['windows', '11'],
  '10.0.22631': ['windows', '11'],
  '10.0.25398': ['windows server', '23H2'],
};

/** The Windows release of a build number such as `10.0.20348`, as the NTLM challenge of RDP and SMB reports it. */
export function systemOfWindowsBuild(build: string): SystemName | null {
  if (!/^\d{1,2}\.\d{1,2}\.\d{3,5}$/.test(build)) return null;
  const known = windowsBuilds[build];
  if (!known) return { family: 'windows', version: build };
  return { family: 'windows', distribution: known[0], version: known[1] };
}
