import { RuleBook, type TraitRule } from './trait-rules.ts';

/** A system as a rule names it; the pattern's groups fill the `{name}` placeholders. */
export interface SystemName {
  family: string;
  distribution?: string;
  version?: string;
}

type Row = [
  id: string,
  sources: readonly string[],
  pattern: string,
  weight: number,
  says: SystemName,
  example: string,
];

const linux = (distribution?: string, version?: string): SystemName => ({
  family: 'linux',
  ...(distribution ? { distribution } : {}),
  ...(version ? { version } : {}),
});

const ssh = ['ssh.software'];
const web = ['http.header.server'];
/** Devices that name the system in their UPnP or SIP software. */
const stack = ['http.header.server', 'rtsp.server', 'sip.server', 'sip.user-agent'];
const description = ['snmp.sysdescr'];
const product = ['product'];
const tcpStack = ['tcp.stack'];

const rows: readonly Row[] = [
  // SSH servers that run on one system only.
  ['ssh-windows', ssh, '^OpenSSH_for_Windows', 0.95, { family: 'windows' }, 'OpenSSH_for_Windows_9.5'],
  ['ssh-cisco', ssh, '^Cisco-', 0.85, { family: 'cisco ios' }, 'Cisco-1.25'],
  ['ssh-routeros', ssh, '^ROSSSH', 0.95, linux('routeros'), 'ROSSSH'],
  ['ssh-sun', ssh, '^Sun_SSH', 0.9, { family: 'solaris' }, 'Sun_SSH_1.1.5'],
  ['ssh-huawei', ssh, '^HUAWEI-', 0.85, { family: 'vrp' }, 'HUAWEI-1.5'],
  ['ssh-comware', ssh, '^Comware-', 0.9, { family: 'comware' }, 'Comware-7.1.045'],
  ['ssh-screenos', ssh, '^NetScreen', 0.9, { family: 'screenos' }, 'NetScreen'],
  ['ssh-ilo', ssh, '^mpSSH_', 0.9, { family: 'ilo' }, 'mpSSH_0.2.1'],
  ['ssh-fortios', ssh, '^FortiSSH', 0.9, { family: 'fortios' }, 'FortiSSH_3.0'],
  ['ssh-dropbear', ssh, '^dropbear', 0.5, linux(), 'dropbear_2022.83'],
  [
    'ssh-el',
    ssh,
    String.raw`[._-]el(?P<release>\d{1,2})(?:[_. -]|$)`,
    0.8,
    linux('rhel', '{release}'),
    'OpenSSH_8.7p1 8.7p1-38.el9_4',
  ],
  // OpenSSH of the FreeBSD base, by version and the date of the last local change.
  [
    'ssh-freebsd-13.1',
    ssh,
    String.raw`^OpenSSH_8\.8 FreeBSD-20211221`,
    0.92,
    { family: 'freebsd', distribution: 'freebsd', version: '13.1' },
    'OpenSSH_8.8 FreeBSD-20211221',
  ],
  [
    'ssh-freebsd-13.2',
    ssh,
    String.raw`^OpenSSH_9\.2 FreeBSD-20230316`,
    0.92,
    { family: 'freebsd', distribution: 'freebsd', version: '13.2' },
    'OpenSSH_9.2 FreeBSD-20230316',
  ],
  [
    'ssh-freebsd-14.0',
    ssh,
    String.raw`^OpenSSH_9\.5 FreeBSD-20231004`,
    0.92,
    { family: 'freebsd', distribution: 'freebsd', version: '14.0' },
    'OpenSSH_9.5 FreeBSD-20231004',
  ],
  // Web servers.
  ['web-http.sys', web, '^Microsoft-HTTPAPI/', 0.9, { family: 'windows' }, 'Microsoft-HTTPAPI/2.0'],
  [
    'web-iis-10',
    web,
    String.raw`^Microsoft-IIS/10\.0`,
    0.92,
    { family: 'windows', distribution: 'windows server' },
    'Microsoft-IIS/10.0',
  ],
  ['web-darwin', web, String.raw`\(Darwin\)`, 0.85, { family: 'macos' }, 'Apache/2.4.58 (Darwin)'],
  [
    'web-amazon',
    web,
    String.raw`\(Amazon(?: Linux)?\)`,
    0.85,
    linux('amazon'),
    'Apache/2.4.58 (Amazon Linux)',
  ],
  ['web-oracle', web, String.raw`\(Oracle Linux\)`, 0.85, linux('oracle'), 'nginx/1.20.1 (Oracle Linux)'],
  ['web-alpine', web, String.raw`\(Alpine\)`, 0.85, linux('alpine'), 'Apache/2.4.58 (Alpine)'],
  ['web-gentoo', web, String.raw`\(Gentoo\)`, 0.85, linux('gentoo'), 'Apache/2.4.58 (Gentoo)'],
  ['web-openeuler', web, String.raw`\(openEuler\)`, 0.85, linux('openeuler'), 'Apache/2.4.58 (openEuler)'],
  [
    'stack-linux',
    stack,
    String.raw`(?i)^Linux(?:/|,| )`,
    0.8,
    linux(),
    'Linux/3.10.0, UPnP/1.0, Portable SDK for UPnP devices/1.6.18',
  ],
  ['stack-vxworks', stack, '(?i)VxWorks', 0.85, { family: 'vxworks' }, 'VxWorks/5.4.2 UPnP/1.0 iGateway/1.1'],
  [
    'stack-windows',
    stack,
    String.raw`^Microsoft-Windows(?:-NT)?/`,
    0.85,
    { family: 'windows' },
    'Microsoft-Windows/10.0 UPnP/1.0 UPnP-Device-Host/1.0',
  ],
  ['asp-net', ['http.header.x-powered-by'], '^ASP\\.NET', 0.6, { family: 'windows' }, 'ASP.NET'],
  // Mail and file servers.
  ['ftp-windows', ['ftp.system'], '^Windows_NT', 0.85, { family: 'windows' }, 'Windows_NT'],
  ['ftp-vms', ['ftp.system'], String.raw`\bVMS\b`, 0.85, { family: 'openvms' }, 'VMS MultiNet V4.4'],
  [
    'ftp-os400',
    ['ftp.system'],
    '^OS/400',
    0.9,
    { family: 'os/400' },
    'OS/400 is the remote operating system.',
  ],
  [
    'ftp-mvs',
    ['ftp.system'],
    '^MVS is',
    0.9,
    { family: 'z/os' },
    'MVS is the operating system of this server.',
  ],
  [
    'smtp-windows',
    ['smtp.greeting'],
    'Microsoft ESMTP MAIL Service',
    0.9,
    { family: 'windows' },
    'mail.example.net Microsoft ESMTP MAIL Service ready',
  ],
  // Descriptions of SNMP agents.
  ['snmp-linux', description, '^Linux ', 0.9, linux(), 'Linux gate 5.10.0-28-amd64 #1 SMP Debian x86_64'],
  [
    'snmp-debian',
    description,
    '^Linux .* Debian ',
    0.9,
    linux('debian'),
    'Linux gate 5.10.0-28-amd64 #1 SMP Debian 5.10.209-2 x86_64',
  ],
  [
    'snmp-ubuntu',
    description,
    '^Linux .*-Ubuntu ',
    0.9,
    linux('ubuntu'),
    'Linux gate 5.15.0-91-generic #101-Ubuntu SMP x86_64',
  ],
  [
    'snmp-el',
    description,
    String.raw`^Linux .*\.el(?P<release>\d{1,2})`,
    0.9,
    linux('rhel', '{release}'),
    'Linux gate 5.14.0-362.el9.x86_64 #1 SMP x86_64',
  ],
  [
    'snmp-windows',
    description,
    'Software: Windows ',
    0.93,
    { family: 'windows' },
    'Hardware: Intel64 Family 6 - Software: Windows Version 6.3 (Build 17763 Multiprocessor Free)',
  ],
  [
    'snmp-cisco-ios',
    description,
    String.raw`Cisco (?:IOS|Internetwork Operating System) Software.*Version (?P<version>[^\s,]+)`,
    0.95,
    { family: 'cisco ios', distribution: 'cisco ios', version: '{version}' },
    'Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 15.0(2)SE4, RELEASE SOFTWARE',
  ],
  [
    'snmp-cisco-nxos',
    description,
    String.raw`Cisco NX-OS.*Version (?P<version>[^\s,]+)`,
    0.95,
    { family: 'cisco nx-os', distribution: 'cisco nx-os', version: '{version}' },
    'Cisco NX-OS(tm) n5000, Software (n5000-uk9), Version 7.3(2)N1(1), RELEASE SOFTWARE',
  ],
  [
    'snmp-cisco-asa',
    description,
    String.raw`Cisco Adaptive Security Appliance Version (?P<version>\S+)`,
    0.95,
    { family: 'cisco asa', distribution: 'cisco asa', version: '{version}' },
    'Cisco Adaptive Security Appliance Version 9.8(2)',
  ],
  [
    'snmp-junos',
    description,
    String.raw`(?i)\bJUNOS (?P<version>\d\S+)`,
    0.95,
    { family: 'junos', distribution: 'junos', version: '{version}' },
    'Juniper Networks, Inc. ex2200 internet router, kernel JUNOS 12.3R6.6',
  ],
  ['snmp-routeros', description, '^RouterOS ', 0.95, linux('routeros'), 'RouterOS RB750Gr3'],
  [
    'snmp-freebsd',
    description,
    String.raw`^FreeBSD \S+ (?P<version>\d+\.\d+)-`,
    0.92,
    { family: 'freebsd', distribution: 'freebsd', version: '{version}' },
    'FreeBSD gate 13.2-RELEASE FreeBSD 13.2-RELEASE amd64',
  ],
  [
    'snmp-openbsd',
    description,
    '^OpenBSD ',
    0.92,
    { family: 'openbsd' },
    'OpenBSD gate 7.4 GENERIC#1397 amd64',
  ],
  ['snmp-netbsd', description, '^NetBSD ', 0.92, { family: 'netbsd' }, 'NetBSD gate 9.3 (GENERIC) amd64'],
  ['snmp-solaris', description, '^SunOS ', 0.92, { family: 'solaris' }, 'SunOS gate 5.11 11.4.0.15.0 i86pc'],
  [
    'snmp-macos',
    description,
    '^Darwin ',
    0.9,
    { family: 'macos' },
    'Darwin host 23.1.0 Darwin Kernel Version 23.1.0',
  ],
  [
    'snmp-esxi',
    description,
    String.raw`^VMware ESXi? (?P<version>\d+\.\d+(?:\.\d+)?)`,
    0.95,
    { family: 'esxi', distribution: 'vmware esxi', version: '{version}' },
    'VMware ESXi 7.0.3 build-20328353 VMware, Inc. x86_64',
  ],
  [
    'snmp-eos',
    description,
    String.raw`Arista Networks EOS version (?P<version>[\d.]+)`,
    0.95,
    linux('arista eos', '{version}'),
    'Arista Networks EOS version 4.28.3M running on an Arista Networks DCS-7050SX',
  ],
  [
    'snmp-exos',
    description,
    '^ExtremeXOS',
    0.95,
    { family: 'extremexos' },
    'ExtremeXOS (X440-24t) version 15.3.1.4',
  ],
  [
    'snmp-vrp',
    description,
    'Huawei Versatile Routing Platform',
    0.95,
    { family: 'vrp' },
    'Huawei Versatile Routing Platform Software VRP (R) software',
  ],
  [
    'snmp-comware',
    description,
    'Comware (?:Platform )?Software',
    0.95,
    { family: 'comware' },
    'HPE Comware Platform Software, Software Version 7.1.070',
  ],
  // Products that run on one system only.
  [
    'product-windows',
    product,
    '^Microsoft (?:IIS|HTTPAPI|FTP|Exchange|DNS|Windows|Terminal|WinRM|SharePoint|Active Directory|ESMTP|RPC)',
    0.9,
    { family: 'windows' },
    'Microsoft IIS 10.0',
  ],
  [
    'product-mssql',
    product,
    '^Microsoft SQL Server',
    0.75,
    { family: 'windows' },
    'Microsoft SQL Server 2019',
  ],
  ['product-dsm', product, '^Synology', 0.93, linux('dsm'), 'Synology DSM'],
  ['product-qts', product, '^QNAP', 0.93, linux('qts'), 'QNAP QTS'],
  ['product-openwrt', product, '(?i)^(?:OpenWrt|LuCI)', 0.9, linux('openwrt'), 'OpenWrt LuCI'],
  ['product-proxmox', product, '^Proxmox', 0.85, linux('debian'), 'Proxmox VE'],
  ['product-routeros', product, '^(?:MikroTik )?RouterOS', 0.95, linux('routeros'), 'RouterOS SSH'],
  [
    'product-esxi',
    product,
    String.raw`^VMware ESXi?(?: (?P<version>\d+\.\d+(?:\.\d+)?))?`,
    0.95,
    { family: 'esxi', distribution: 'vmware esxi', version: '{version}' },
    'VMware ESXi 7.0.3',
  ],
  ['product-fortios', product, '^Forti(?:Gate|OS)', 0.93, { family: 'fortios' }, 'FortiGate'],
  ['product-cisco-ios', product, '^Cisco (?:IOS|SSH)', 0.85, { family: 'cisco ios' }, 'Cisco SSH 1.25'],
  ['product-samba', product, '^Samba', 0.5, linux(), 'Samba 4.17.12'],
  ['product-xrdp', product, '^xrdp', 0.8, linux(), 'xrdp'],
  // Clocks, agents and announcements that name their system.
  [
    'ntp-linux',
    ['ntp.variables'],
    'system="Linux',
    0.9,
    linux(),
    'version="ntpd 4.2.8p15", system="Linux/6.1.0"',
  ],
  [
    'ntp-freebsd',
    ['ntp.variables'],
    String.raw`system="FreeBSD/(?:JNPR-)?(?P<version>\d+\.\d+)-RELEASE`,
    0.9,
    { family: 'freebsd', distribution: 'freebsd', version: '{version}' },
    'system="FreeBSD/13.2-RELEASE"',
  ],
  [
    'ntp-junos',
    ['ntp.variables'],
    'system="(?:JUNOS|FreeBSD/JNPR-)',
    0.9,
    { family: 'junos' },
    'system="JUNOS12.3R6.6"',
  ],
  ['ntp-cisco', ['ntp.variables'], 'system="cisco"', 0.85, { family: 'cisco ios' }, 'system="cisco", leap=0'],
  ['ntp-esxi', ['ntp.variables'], 'system="VMkernel/', 0.9, { family: 'esxi' }, 'system="VMkernel/7.0.3"'],
  ['ntp-solaris', ['ntp.variables'], 'system="SunOS', 0.9, { family: 'solaris' }, 'system="SunOS/5.11"'],
  [
    'snmp-id-linux',
    ['snmp.sysobjectid'],
    String.raw`^1\.3\.6\.1\.4\.1\.8072\.3\.2\.10$`,
    0.85,
    linux(),
    '1.3.6.1.4.1.8072.3.2.10',
  ],
  [
    'snmp-id-freebsd',
    ['snmp.sysobjectid'],
    String.raw`^1\.3\.6\.1\.4\.1\.8072\.3\.2\.8$`,
    0.85,
    { family: 'freebsd' },
    '1.3.6.1.4.1.8072.3.2.8',
  ],
  [
    'snmp-id-windows',
    ['snmp.sysobjectid'],
    String.raw`^1\.3\.6\.1\.4\.1\.311\.1\.1\.3\.`,
    0.9,
    { family: 'windows' },
    '1.3.6.1.4.1.311.1.1.3.1.2',
  ],
  ['mdns-linux', ['mdns.hinfo'], '(?i)linux', 0.85, linux(), 'X86_64 LINUX'],
  [
    'mdns-macos',
    ['mdns.text'],
    String.raw`(?m)^model=(?:MacBook|iMac|Macmini|MacPro|Mac\d)`,
    0.85,
    { family: 'macos' },
    'model=MacBookPro18,3',
  ],
  [
    'ssdp-windows',
    ['ssdp.server'],
    '^Microsoft-Windows/',
    0.9,
    { family: 'windows' },
    'Microsoft-Windows/10.0 UPnP/1.0',
  ],
  ['pptp-linux', ['pptp.names'], '(?m)^vendor: linux$', 0.85, linux(), 'host: local\nvendor: linux'],
  // Protocols that hardly any other system speaks.
  ['service-msrpc', ['service'], '^msrpc$', 0.75, { family: 'windows' }, 'msrpc'],
  ['service-winrm', ['service'], '^winrm$', 0.8, { family: 'windows' }, 'winrm'],
  ['service-rdp', ['service'], '^(?:rdp|ms-wbt-server)$', 0.55, { family: 'windows' }, 'rdp'],
  // Vendors whose devices run one system; the network card alone is weak evidence.
  ['mac-routeros', ['mac.vendor'], '^MikroTik$', 0.6, linux('routeros'), 'MikroTik'],
  ['mac-dsm', ['mac.vendor'], '^Synology', 0.6, linux('dsm'), 'Synology'],
  ['mac-qts', ['mac.vendor'], '^QNAP', 0.6, linux('qts'), 'QNAP'],
  ['mac-raspberry', ['mac.vendor'], '^Raspberry Pi', 0.5, linux(), 'Raspberry Pi'],
  ['mac-fortios', ['mac.vendor'], '^Fortinet', 0.6, { family: 'fortios' }, 'Fortinet'],
  ['mac-sonicos', ['mac.vendor'], '^SonicWall', 0.6, { family: 'sonicos' }, 'SonicWall'],
  ['mac-panos', ['mac.vendor'], '^Palo Alto', 0.6, { family: 'pan-os' }, 'Palo Alto Networks'],
  ['mac-junos', ['mac.vendor'], '^Juniper', 0.5, { family: 'junos' }, 'Juniper'],
  ['mac-eos', ['mac.vendor'], '^Arista', 0.6, linux('arista eos'), 'Arista'],
  // TCP response to a SYN that offers every usual option: each kernel orders its options in its own way
  // (the first eight are kept) and has its own initial TTL.
  [
    'tcp-linux',
    tcpStack,
    '^ttl 64, .*, options mss sack ts nop ws(?:,|$)',
    0.55,
    linux(),
    'ttl 64, 0 routers, window 65160, mss 1460, scale 7, options mss sack ts nop ws, df',
  ],
  [
    'tcp-linux-without-some',
    tcpStack,
    '^ttl 64, .*, options (?:mss nop nop sack nop ws|mss nop nop ts nop ws|mss nop nop sack|mss sack ts)(?:,|$)',
    0.4,
    linux(),
    'ttl 64, 2 routers, window 64240, mss 1460, scale 7, options mss nop nop sack nop ws, df',
  ],
  [
    'tcp-windows',
    tcpStack,
    '^ttl 128, .*, options mss nop ws (?:sack ts|nop nop sack)(?:,|$)',
    0.55,
    { family: 'windows' },
    'ttl 128, 1 routers, window 65535, mss 1460, scale 8, options mss nop ws sack ts, df',
  ],
  [
    'tcp-ttl-128',
    tcpStack,
    '^ttl 128, ',
    0.4,
    { family: 'windows' },
    'ttl 128, 4 routers, window 8192, mss 1460, scale none, options mss',
  ],
  [
    'tcp-freebsd',
    tcpStack,
    '^ttl 64, .*, window 65535, .*, options mss nop ws sack ts(?:,|$)',
    0.5,
    { family: 'freebsd' },
    'ttl 64, 1 routers, window 65535, mss 1460, scale 6, options mss nop ws sack ts, df',
  ],
  [
    'tcp-macos',
    tcpStack,
    '^ttl 64, .*, window 65535, .*, options mss nop ws nop nop ts sack end(?:,|$)',
    0.5,
    { family: 'macos' },
    'ttl 64, 0 routers, window 65535, mss 1460, scale 6, options mss nop ws nop nop ts sack end, df',
  ],
  [
    'tcp-openbsd',
    tcpStack,
    '^ttl 64, .*, window 16384, .*, options mss nop nop sack nop ws nop nop(?:,|$)',
    0.55,
    { family: 'openbsd' },
    'ttl 64, 0 routers, window 16384, mss 1460, scale 6, options mss nop nop sack nop ws nop nop, df',
  ],
  [
    'tcp-cisco-ios',
    tcpStack,
    '^ttl 255, .*, window 4128, .*, options mss(?:,|$)',
    0.5,
    { family: 'cisco ios' },
    'ttl 255, 0 routers, window 4128, mss 1460, scale none, options mss',
  ],
  [
    'tcp-lwip',
    tcpStack,
    '^ttl 255, .*, window (?:2144|5840), mss (?:536|1460), scale none, options mss(?:,|$)',
    0.4,
    { family: 'lwip' },
    'ttl 255, 0 routers, window 2144, mss 536, scale none, options mss',
  ],
  ['mac-apple', ['mac.vendor'], '^Apple', 0.3, { family: 'macos' }, 'Apple'],
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

const shippedRows: readonly Row[] = shipped.flatMap(([words, distribution, server, releases]) =>
  Object.entries(releases).map(([version, release]): Row => {
    const pattern = `(?i)^${server}/${version.replaceAll('.', '\\.')} \\(${words}\\)`;
    const example = `${server}/${version} (${words})`;
    const id = `web-${distribution}-${server.toLowerCase()}-${version}`;
    return [id, web, pattern, 0.8, linux(distribution, release), example];
  }),
);

/** Which texts are evidence for which system. Facts that the signature catalog covers are in the catalog. */
export const systemRules = new RuleBook<SystemName>(
  [...rows, ...shippedRows].map(
    ([id, sources, pattern, weight, says, example]): TraitRule<SystemName> => ({
      id: `system.${id}`,
      sources,
      pattern,
      weight,
      says,
      example,
    }),
  ),
);

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
