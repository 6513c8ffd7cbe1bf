import { products } from './product-names.ts';
import { device, onWindows, rows } from './row.ts';
import type { Signature } from './signature.ts';

/** Network equipment: clocks, tunnels, consoles, announcements. */

const ntp = rows('ntp', 'ntp.variables');
const ike = rows('isakmp', 'ike.vendor-ids', 0.85);
const l2tp = rows('l2tp', 'l2tp.names', 0.85);
const pptp = rows('pptp', 'pptp.names', 0.85);
const stun = rows('stun', 'stun.software');
const ssdp = rows('ssdp', 'ssdp.server', 0.9);
const vncVersion = rows('vnc', 'vnc.version', 0.85);
const vncSecurity = rows('vnc', 'vnc.security', 0.8);
const rdp = rows('rdp', 'rdp.choice', 0.85);
const modbus = rows('modbus', 'modbus.identity', 0.9);
const telnet = rows('telnet', 'banner.raw', 0.9);
const dnsVersion = rows('dns', 'dns.version', 0.95);

/** Vendors of modules that respond to Read Device Identification, as they spell their names. */
const modbusMaker = (id: string, vendor: string, pattern: string, text: string, type = 'iot') =>
  modbus(`modbus.${id}`, `${vendor} Modbus device`, null, `^vendor: ${pattern}`, `vendor: ${text}`, null, {
    flags: 'i',
    hardware: { type, vendor },
  });

export const infrastructureSignatures: readonly Signature[] = [
  ntp(
    'ntp.ntpsec',
    'NTPsec',
    'ntpsec:ntpsec',
    'version="ntpd ntpsec-<v>',
    'version="ntpd ntpsec-1.2.2", processor="x86_64", system="Linux/6.1.0", leap=3',
    '1.2.2',
  ),
  ntp(
    'ntp.ntpd',
    'ntpd',
    'ntp:ntp',
    String.raw`version="ntpd (?P<version>[34]\.\d+\.\d+)(?P<patch>p\d+)?`,
    'version="ntpd 4.2.8p15@1.3728-o Wed Sep 23 11:46:38 UTC 2020 (1)", processor="x86_64"',
    '4.2.8p15',
    {
      version: '{version}{patch}',
      cpe: { part: 'a', vendor: 'ntp', product: 'ntp', version: '{version}', update: '{patch}' },
    },
  ),
  ntp(
    'ntp.xntpd',
    'xntpd',
    'ntp:ntp',
    'version="xntpd <v>',
    'version="xntpd 3.4 (1)", system="SunOS"',
    '3.4',
  ),
  ntp('ntp.cisco', 'Cisco IOS NTP', 'cisco', 'system="cisco"', 'system="cisco", leap=0, stratum=3', null, {
    os: { family: 'ios' },
    certainty: 0.85,
  }),

  ike(
    'ike.strongswan',
    'strongSwan',
    'strongswan:strongswan',
    '(?m)^882fe56d6fd20dbc2251613b2ebe5beb$',
    '882fe56d6fd20dbc2251613b2ebe5beb',
  ),
  ike(
    'ike.libreswan',
    'Libreswan',
    'libreswan:libreswan',
    '(?m)^OE-Libreswan-v?<v>',
    'OE-Libreswan-4.10',
    '4.10',
  ),
  ike(
    'ike.windows',
    'Windows IPsec',
    'microsoft',
    '(?m)^1e2b516905991c7d7c96fcbfb587e461',
    '1e2b516905991c7d7c96fcbfb587e46100000009',
    null,
    onWindows,
  ),
  ike(
    'ike.racoon',
    'racoon',
    'ipsec-tools:ipsec-tools',
    '(?m)^7003cbc1097dbe9c2600ba6983bc8b35$',
    '7003cbc1097dbe9c2600ba6983bc8b35',
    null,
    { certainty: 0.8 },
  ),
  ike(
    'ike.fortigate',
    ...products.fortigate,
    '(?m)^8299031757a36082c6a621de',
    '8299031757a36082c6a621de00050297',
    null,
    { os: { family: 'fortios' }, hardware: { type: 'firewall', vendor: 'Fortinet' } },
  ),
  ike(
    'ike.checkpoint',
    'Check Point VPN-1',
    'checkpoint',
    '(?m)^f4ed19e0c114eb516faaac0ee37daf2807b4381f',
    'f4ed19e0c114eb516faaac0ee37daf2807b4381f000000010000138d',
    null,
    device('firewall', 'Check Point'),
  ),
  ike(
    'ike.cisco',
    'Cisco IKE',
    'cisco',
    '(?m)^(?:CISCO-DELETE-REASON|CISCO\\(COPYRIGHT\\)|FLEXVPN-SUPPORTED|CISCO-DYNAMIC-ROUTE)',
    'CISCO-DELETE-REASON',
    null,
    { hardware: { vendor: 'Cisco' } },
  ),

  l2tp(
    'l2tp.xl2tpd',
    'xl2tpd',
    'xelerance:xl2tpd',
    '(?m)^vendor: xelerance\\.com$',
    'host: gate7\nvendor: xelerance.com\nfirmware: 0690',
  ),
  l2tp(
    'l2tp.windows',
    'Windows L2TP',
    'microsoft',
    '(?m)^vendor: Microsoft',
    'host: ras1\nvendor: Microsoft',
    null,
    onWindows,
  ),
  l2tp(
    'l2tp.cisco',
    'Cisco L2TP',
    'cisco',
    '(?m)^vendor: Cisco Systems',
    'host: lns\nvendor: Cisco Systems, Inc.',
    null,
    device('router', 'Cisco'),
  ),
  l2tp(
    'l2tp.mikrotik',
    'MikroTik L2TP',
    'mikrotik',
    '(?m)^vendor: MikroTik',
    'host: MikroTik\nvendor: MikroTik',
    null,
    { os: { family: 'routeros' }, hardware: { type: 'router', vendor: 'MikroTik' } },
  ),

  pptp(
    'pptp.poptop-linux',
    'pptpd',
    'poptop:pptp_server',
    '(?m)^vendor: linux$',
    'host: local\nvendor: linux\nfirmware: 0001',
    null,
    { os: { family: 'linux' } },
  ),
  pptp(
    'pptp.windows',
    'Windows PPTP',
    'microsoft',
    '(?m)^vendor: Microsoft',
    'vendor: Microsoft\nfirmware: 0ece',
    null,
    onWindows,
  ),
  pptp(
    'pptp.cisco',
    'Cisco PPTP',
    'cisco',
    '(?m)^vendor: Cisco Systems',
    'host: vpn\nvendor: Cisco Systems, Inc.',
    null,
    device('router', 'Cisco'),
  ),
  pptp(
    'pptp.draytek',
    'DrayTek PPTP',
    'draytek',
    '(?m)^vendor: DrayTek',
    'host: Vigor\nvendor: DrayTek',
    null,
    device('router', 'DrayTek'),
  ),

  rows('openvpn', 'openvpn.answer', 0.85)('openvpn.reset', ...products.openvpn, '^hard reset$', [
    { text: 'hard reset', cpe: 'cpe:2.3:a:openvpn:openvpn:*:*:*:*:*:*:*:*' },
  ]),
  rows('openvpn-management', 'banner.raw', 0.97)(
    'openvpn.management-version',
    ...products.openvpn,
    '(?m)^OpenVPN Version: OpenVPN <v>',
    ">INFO:OpenVPN Management Interface Version 5 -- type 'help' for more info\r\nOpenVPN Version: OpenVPN 2.6.14 x86_64-pc-linux-gnu\r\n",
    '2.6.14',
  ),

  stun(
    'stun.returnserver',
    'reTurnServer',
    'resiprocate:resiprocate',
    '^reTURNServer',
    'reTURNServer (RFC5389)',
  ),

  ssdp(
    'ssdp.miniupnpd',
    ...products.miniupnpd,
    'MiniUPnPd/<v>',
    'Debian/6.1 UPnP/1.1 MiniUPnPd/2.3.1',
    '2.3.1',
    { certainty: 0.95 },
  ),
  ssdp(
    'ssdp.minidlna',
    ...products.minidlna,
    'MiniDLNA/<v>',
    'Debian DLNADOC/1.50 UPnP/1.0 MiniDLNA/1.3.0',
    '1.3.0',
    { certainty: 0.95 },
  ),
  ssdp(
    'ssdp.libupnp',
    'Portable SDK for UPnP devices',
    'libupnp_project:libupnp',
    'Portable SDK for UPnP devices ?/<v>',
    'Linux/4.14, UPnP/1.0, Portable SDK for UPnP devices/1.6.19',
    '1.6.19',
  ),
  ssdp('ssdp.gupnp', 'GUPnP', 'gnome:gupnp', '\\bGUPnP/<v>', 'Linux/6.1 UPnP/1.0 GUPnP/1.6.3', '1.6.3'),
  ssdp(
    'ssdp.windows',
    'Windows SSDP',
    'microsoft',
    '^Microsoft-Windows/',
    'Microsoft-Windows/10.0 UPnP/1.0 UPnP-Device-Host/1.0',
    null,
    onWindows,
  ),
  ssdp('ssdp.sonos', 'Sonos', 'sonos', '\\bSonos/', 'Linux UPnP/1.0 Sonos/70.3-35220 (ZPS12)', null, {
    hardware: { type: 'iot', vendor: 'Sonos' },
  }),
  ssdp(
    'ssdp.hue',
    'Philips Hue bridge',
    'philips',
    '\\bIpBridge/',
    'Linux/3.14.0 UPnP/1.0 IpBridge/1.41.0',
    null,
    { hardware: { type: 'iot', vendor: 'Philips', product: 'Hue bridge' } },
  ),
  ssdp('ssdp.roku', 'Roku', 'roku', '^Roku(?: UPnP)?/', 'Roku/9.4.0 UPnP/1.0 Roku/9.4.0', null, {
    hardware: { type: 'iot', vendor: 'Roku' },
  }),
  ssdp(
    'ssdp.fritzbox',
    ...products.fritzBox,
    '^FRITZ!',
    'FRITZ!Box 7590 UPnP/1.0 AVM FRITZ!Box 7590 154.07.29',
    null,
    device('router', 'AVM'),
  ),
  ssdp('ssdp.synology', ...products.synologyDsm, '^Synology/', 'Synology/DSM/192.0.2.5', null, {
    hardware: { type: 'nas', vendor: 'Synology' },
  }),

  rows('mdns', 'mdns.instances', 0.85)(
    'mdns.avahi',
    'Avahi',
    'avahi:avahi',
    String.raw`(?m)^[^ \[\]]{1,63} \[(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\]$`,
    [{ text: 'frontdesk [52:54:00:12:34:56]', product: 'Avahi' }],
  ),
  rows('netbios-ns', 'netbios.names', 0.75)(
    'netbios.samba',
    'Samba nmbd',
    'samba:samba',
    '(?m)^mac: 00:00:00:00:00:00$',
    [{ text: 'computer: ACCOUNTS\ndomain: BACKOFFICE\nmac: 00:00:00:00:00:00', product: 'Samba nmbd' }],
    null,
    { description: 'Only Samba leaves the address of its card empty' },
  ),
  rows('dns', 'dns.zone', 0.85)(
    'dns.bind-zone',
    'BIND',
    'isc:bind',
    '^the text stands in a zone of its own$',
    [{ text: 'the text stands in a zone of its own', product: 'BIND' }],
    null,
    { description: 'BIND answers version.bind out of a zone of that name, also when its text is another' },
  ),
  dnsVersion(
    'dns.technitium',
    'Technitium DNS Server',
    'technitium:dnsserver',
    '^Technitium DNS',
    'Technitium DNS Server',
  ),

  rows('snmp', 'snmp.agent', 0.9)('snmp.engine-net-snmp', ...products.netSnmp, '^(?:Net|UCD)-SNMP$', [
    { text: 'Net-SNMP', product: 'Net-SNMP' },
  ]),
  rows('snmp', 'snmp.vendor', 0.85)(
    'snmp.maker',
    null,
    null,
    '^(?P<vendor>.+)$',
    [{ text: 'Cisco', hardware: 'Cisco' }],
    null,
    { hardware: { vendor: '{vendor}' } },
  ),
  rows('ipmi', 'ipmi.vendor', 0.85)(
    'ipmi.maker',
    null,
    null,
    '^(?P<vendor>.+)$',
    [{ text: 'Dell', hardware: 'Dell' }],
    null,
    { hardware: { vendor: '{vendor}' } },
  ),

  rows('kerberos', 'kerberos.error', 0.85)(
    'kerberos.mit',
    'MIT Kerberos',
    'mit:kerberos_5',
    '^6 (?:CLIENT_NOT_FOUND|LOOKING_UP_CLIENT)$',
    [{ text: '6 CLIENT_NOT_FOUND', product: 'MIT Kerberos' }],
    null,
    { description: 'How MIT names a client that it does not know' },
  ),

  rows('kerberos', 'kerberos.client', 0.6).exact(
    'kerberos.heimdal',
    'Heimdal',
    'heimdal_project:heimdal',
    'named, without a text',
  ),

  rows('x11', 'x11.server').prefix(
    'x11.xorg-release',
    'X.Org X Server',
    'x.org:x_server',
    'The X.Org Foundation 21.1.7',
    '21.1.7',
  ),

  vncVersion.exact('vnc.apple', ...products.appleRemoteDesktop, '3.889', { os: { family: 'macos' } }),
  vncVersion('vnc.realvnc', ...products.realvnc, '^(?:4\\.[01]|5\\.0)$', '5.0'),
  vncSecurity('vnc.realvnc-types', ...products.realvnc, '(?:^| )(?:129|130|133)(?: |$)', '133 129'),
  vncSecurity('vnc.ultravnc', 'UltraVNC', 'uvnc:ultravnc', '(?:^| )17(?: |$)', '17 2'),
  vncSecurity('vnc.apple-types', ...products.appleRemoteDesktop, '(?:^| )(?:35|36)(?: |$)', '30 33 36 35'),

  rows('rdp', 'rdp.build', 0.9)(
    'rdp.windows',
    'Windows Remote Desktop',
    'microsoft',
    String.raw`^(?:10\.0\.\d{5}|6\.[023]\.\d{4}|6\.1\.7600)$`,
    [{ text: '10.0.20348', product: 'Windows Remote Desktop' }],
    null,
    onWindows,
  ),
  rdp('rdp.xrdp', 'xrdp', 'neutrinolabs:xrdp', '^12340002010800(?:01|00)000000$', '1234000201080001000000'),
  rdp(
    'rdp.freerdp',
    'FreeRDP server',
    'freerdp:freerdp',
    '^00000002[0-9a-f]{2}080001000000$',
    '0000000203080001000000',
    null,
    { certainty: 0.7 },
  ),

  rows('tor-orport', 'tls.pair', 0.85)(
    'tor.relay',
    ...products.tor,
    String.raw`^CN=www\.[a-z2-7]{8,20}\.net < CN=www\.[a-z2-7]{8,20}\.com$`,
    [{ text: 'CN=www.a5hwrpmg.net < CN=www.wa6rprv2nlrbcxz2.com', product: 'Tor' }],
    null,
    { description: 'The certificate of a relay: two names made up of base 32, and nothing else' },
  ),
  rows('socks5', 'banner.raw', 0.95)(
    'tor.socks',
    ...products.tor,
    '^HTTP/1\\.0 \\d{3} (?:Tor is not an HTTP Proxy|This is a SOCKS Proxy, Not An HTTP Proxy)',
    'HTTP/1.0 501 Tor is not an HTTP Proxy\r\nContent-Type: text/html; charset=iso-8859-1\r\n',
  ),
  rows('tor-control', 'banner.raw', 0.97)(
    'tor.control-version',
    ...products.tor,
    '(?m)^250-VERSION Tor="<v>',
    '250-PROTOCOLINFO 1\r\n250-AUTH METHODS=HASHEDPASSWORD\r\n250-VERSION Tor="0.4.7.16"\r\n250 OK\r\n',
    '0.4.7.16',
  ),

  rows('conserver', 'banner.raw', 0.9)(
    'conserver.help',
    'conserver',
    'conserver:conserver',
    '^ok\\r\\n(?s:.){0,64}exit {3}disconnect\\r\\n',
    'ok\r\nexit   disconnect\r\nhelp   this help message\r\nlogin  log in\r\n',
  ),
  telnet(
    'telnet.ser2net',
    ...products.ser2net,
    '(?:^|[^ -~])ser2net port ',
    '\xff\xfb\x03\xff\xfb\x01ser2net port 2000 device /dev/ttyS0',
  ),
  telnet(
    'telnet.ser2net-failure',
    ...products.ser2net,
    'Device open failure: (?:OS error|Object was already in use|Value or file not found)',
    '\xff\xfb\x03\xff\xfb\x01Device open failure: OS error, see logs\r\n',
    null,
    { certainty: 0.85 },
  ),
  telnet(
    'vty.frr',
    'FRRouting',
    'frrouting:frrouting',
    'Hello, this is F(?:RR|RRouting) \\(version <v>',
    '\r\nHello, this is FRRouting (version 8.4.4).\r\nCopyright 1996-2005 Kunihiro Ishiguro, et al.\r\n\r\n\r\nUser Access Verification\r\n\r\n\xff\xfb\x01Password: ',
    '8.4.4',
    { certainty: 0.97 },
  ),
  telnet(
    'vty.quagga',
    'Quagga',
    'quagga:quagga',
    'Hello, this is [Qq]uagga \\(version <v>',
    '\r\nHello, this is Quagga (version 1.2.4).\r\nCopyright 1996-2005 Kunihiro Ishiguro, et al.\r\n',
    '1.2.4',
    { certainty: 0.97 },
  ),
  telnet(
    'vty.zebra',
    'Zebra',
    'gnu:zebra',
    'Hello, this is [Zz]ebra \\(version <v>',
    '\r\nHello, this is zebra (version 0.95).\r\nCopyright 1996-2004 Kunihiro Ishiguro.\r\n',
    '0.95',
    { certainty: 0.97 },
  ),
  telnet(
    'telnet.nyancat',
    'nyancat',
    'nyancat',
    'Nyancat Telnet Server',
    '\xff\xfb\x03\x1b[1mNyancat Telnet Server\x1b[0m\r\n',
  ),

  modbusMaker(
    'schneider',
    'Schneider Electric',
    'Schneider Electric',
    'Schneider Electric\nproduct_code: BMX P34 2020\nrevision: v2.6',
    'plc',
  ),
  modbusMaker('wago', 'WAGO', 'WAGO', 'WAGO\nproduct_code: 750-8202', 'plc'),
  modbusMaker('siemens', 'Siemens', 'Siemens', 'Siemens\nproduct_code: 7KM9300', 'plc'),
  modbusMaker('abb', 'ABB', 'ABB\\b', 'ABB\nproduct_code: M4M', 'plc'),
  modbusMaker('phoenix', 'Phoenix Contact', 'Phoenix Contact', 'Phoenix Contact\nproduct_code: AXC', 'plc'),
  modbus(
    'modbus.pymodbus',
    'pymodbus',
    'pymodbus',
    '(?i)^vendor: pymodbus\\n(?:(?s:.)*?\\nrevision: <v>)?',
    'vendor: Pymodbus\nproduct_code: PM\nrevision: 3.0.0',
    '3.0.0',
  ),

  rows('http', 'http.body')(
    'http.bind-statistics',
    ...products.bind,
    String.raw`<statistics version="\d(?s:.){1,600}?<version>(?P<version>9\.\d+(?:\.\d+)?)(?P<patch>-[SP]\d+)?(?:[-_+~ ]?(?P<revision>[^<. ][^<]{0,63}))?</version>`,
    [
      {
        text: '<statistics version="3.13"><server><boot-time>2026-01-01T00:00:00Z</boot-time><version>9.18.49-1~deb12u3-Debian</version>',
        version: '9.18.49',
        revision: '1~deb12u3-Debian',
      },
    ],
    null,
    {
      version: '{version}{patch}',
      revision: '{revision}',
      cpe: { part: 'a', vendor: 'isc', product: 'bind', version: '{version}{patch}' },
    },
  ),
  rows('http', 'http.realm', 0.7).exact('http.dnsdist', ...products.dnsdist, 'PowerDNS'),
];
