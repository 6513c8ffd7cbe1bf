import type { DeviceType } from '../../domain/asset.ts';
import { RuleBook, type TraitRule } from './trait-rules.ts';

type KnownDevice = Exclude<DeviceType, 'unknown'>;

type Row = [id: string, device: KnownDevice, weight: number, pattern: string, example: string];

/** Texts in which devices name their make and model, most of them in front of a login. */
const nameplates = [
  'http.title',
  'http.realm',
  'http.header.server',
  'tls.subject',
  'ftp.greeting',
  'telnet.greeting',
  'snmp.sysdescr',
  'sip.server',
  'sip.user-agent',
  'rtsp.server',
  'product',
];

/** A row of one kind of device: id, weight, pattern, example. */
const kind =
  (device: KnownDevice) =>
  (id: string, weight: number, pattern: string, example: string): Row => [
    id,
    device,
    weight,
    pattern,
    example,
  ];

const printer = kind('printer');
const camera = kind('camera');
const nas = kind('nas');
const firewall = kind('firewall');
const loadBalancer = kind('load_balancer');
const router = kind('router');
const networkSwitch = kind('switch');
const phone = kind('phone');
const hypervisor = kind('hypervisor');
const iot = kind('iot');
const server = kind('server');

/** Makes and models anywhere in a text: phrases that a web page would hardly contain by chance. */
const plates: readonly Row[] = [
  printer(
    'hp-printer',
    0.9,
    String.raw`(?i)\b(?:HP|Hewlett-Packard)\b.{0,40}(?:LaserJet|OfficeJet|DeskJet|PageWide|DesignJet|JetDirect)`,
    'HP LaserJet Pro MFP M428fdw',
  ),
  printer(
    'jetdirect',
    0.92,
    '(?i)JETDIRECT|HP ETHERNET MULTI-ENVIRONMENT|HP-ChaiSOE|HP HTTP Server; .*(?:LaserJet|OfficeJet|DeskJet|Photosmart|ENVY)',
    'HP ETHERNET MULTI-ENVIRONMENT,ROM none,JETDIRECT',
  ),
  printer('brother', 0.9, String.raw`(?i)\bBrother (?:HL|MFC|DCP|ADS|QL|NC)-?`, 'Brother HL-L2350DW series'),
  printer(
    'canon',
    0.88,
    String.raw`(?i)\bCanon (?:iR|MF|LBP|MX|TS|PIXMA|imageRUNNER|imageCLASS)|Canon Http Server|\bKS_HTTP/`,
    'Canon LBP226',
  ),
  printer(
    'epson',
    0.85,
    '(?i)^EPSON_Linux|EPSON (?:WF|ET|XP|AL|WorkForce|Stylus)|Epson UPnP',
    'EPSON_Linux UPnP/1.0 Epson UPnP SDK/1.0',
  ),
  printer(
    'kyocera',
    0.88,
    '(?i)KYOCERA (?:Command Center|Print|ECOSYS|TASKalfa|FS-)|^KM-MFP-http',
    'KM-MFP-http/V0.0.1',
  ),
  printer('lexmark', 0.88, String.raw`(?i)\bLexmark [A-Z]{1,3}\d{2,4}|Lexmark_Web_Server`, 'Lexmark MS810'),
  printer(
    'xerox',
    0.88,
    '(?i)Xerox(?:\\(R\\)|\\xae)? (?:WorkCentre|Phaser|VersaLink|AltaLink|ColorQube)|Xerox_MicroServer',
    'Xerox_MicroServer/Xerox11',
  ),
  printer(
    'ricoh',
    0.85,
    '(?i)RICOH (?:Aficio|MP|SP|IM|Pro)|Web Image Monitor|^Web-Server/3\\.0$',
    'RICOH Aficio MP C3003',
  ),
  printer('konica', 0.88, '(?i)KONICA MINOLTA bizhub|bizhub C?\\d', 'KONICA MINOLTA bizhub C364e'),
  printer('zebra', 0.88, '(?i)Zebra Technologies.{0,40}|ZTC Z[DTM]\\d', 'ZTC ZD420-203dpi'),
  printer('cups', 0.3, '^CUPS', 'CUPS 2.4.2'),

  camera('hikvision', 0.92, '(?i)Hikvision|^DVRDVS-Webs|^DNVRS-Webs|^App-webs/', 'DNVRS-Webs'),
  camera('dahua', 0.92, '(?i)\\bDahua|DahuaRtsp|Dahua Rtsp', 'Dahua Rtsp Server'),
  camera(
    'axis',
    0.92,
    '(?i)\\bAXIS [A-Z]?\\d{3,4}.{0,40}(?:Camera|Encoder)|AXIS (?:Network|Video) ',
    'AXIS Q1604 Network Camera',
  ),
  camera(
    'ip-camera',
    0.8,
    '(?i)\\b(?:IP ?Camera|Network Camera|NetCam|IPCam|Netwave IP)\\b|\\b(?:NVR|DVR) (?:Login|Web)|Web ?Camera (?:Login|Server)',
    'Network Camera VB-M40',
  ),
  camera(
    'camera-makes',
    0.88,
    '(?i)\\b(?:Vivotek|Foscam|Reolink|Mobotix|Amcrest|Uniview|Geovision|Hanwha Techwin|Wisenet|Avigilon)\\b',
    'Reolink',
  ),

  nas(
    'synology',
    0.93,
    '(?i)Synology (?:DiskStation|RackStation|NAS|DSM)|^Synology(?: DSM)?$|DiskStation Manager|(?:Disk|Rack)Station',
    'Synology DiskStation',
  ),
  nas('qnap', 0.92, '(?i)\\bQNAP\\b|\\bQTS\\b.{0,20}NAS', 'QNAP Turbo NAS'),
  nas(
    'nas-makes',
    0.92,
    '(?i)\\b(?:TrueNAS|FreeNAS|OpenMediaVault|Unraid|ReadyNAS|My ?Cloud (?:EX|PR|Home|Mirror)|TeraStation|LinkStation|TerraMaster|ASUSTOR|Buffalo NAS)\\b',
    'TrueNAS',
  ),
  nas('netapp', 0.9, '(?i)\\bNetApp Release|Data ONTAP|\\bONTAP\\b', 'NetApp Release 9.8P5'),

  firewall('fortinet', 0.93, '(?i)\\bFortiGate|FortiOS|FortiWeb|^xxxxxxxx-xxxxx$', 'FortiGate'),
  firewall(
    'firewall-makes',
    0.93,
    '(?i)\\b(?:pfSense|OPNsense|SonicWALL|SonicOS|Palo Alto Networks|PAN-OS|GlobalProtect|Check ?Point (?:Software|Gaia|SVN)|WatchGuard|Sophos (?:UTM|Firewall|XG)|IPFire|Smoothwall|Untangle|Stormshield|Barracuda (?:Next|Cloud)|NetScreen|Juniper SRX|Clavister|Endian Firewall)\\b',
    'OPNsense',
  ),
  firewall(
    'cisco-asa',
    0.95,
    '(?i)Cisco Adaptive Security Appliance|Cisco (?:ASA|PIX|Firepower)\\b|\\+CSCOE\\+',
    'Cisco Adaptive Security Appliance Version 9.8(2)',
  ),
  firewall(
    'juniper-srx',
    0.9,
    '(?i)Juniper Networks.{0,30}\\bsrx\\d',
    'Juniper Networks, Inc. srx300 internet router, kernel JUNOS 18.2R3',
  ),

  loadBalancer('bigip', 0.93, '(?i)\\bBIG-?IP\\b', 'BIG-IP&reg;- Redirect'),
  loadBalancer(
    'adc-makes',
    0.92,
    '(?i)\\b(?:NetScaler|Citrix ADC|Citrix Gateway|KEMP (?:LoadMaster|LM)|LoadMaster|A10 Thunder|ACOS|Radware Alteon|Alteon|loadbalancer\\.org|AVI Vantage)\\b',
    'NetScaler',
  ),
  loadBalancer('cloud-balancer', 0.85, '(?i)^(?:awselb/|Amazon Elastic Load|Google Frontend)', 'awselb/2.0'),
  loadBalancer(
    'haproxy',
    0.5,
    '(?i)^HAProxy|HAProxy Statistics|Statistics Report for HAProxy',
    'HAProxy 2.6.12',
  ),
  loadBalancer('proxy-products', 0.3, '^(?:Traefik|Envoy|Varnish)', 'Traefik'),

  router(
    'routeros',
    0.92,
    '(?i)^RouterOS|\\bMikroTik (?:RouterOS|Router)|RouterOS router configuration',
    'RouterOS router configuration page',
  ),
  router(
    'openwrt',
    0.9,
    '(?i)\\bOpenWrt\\b|\\bLuCI\\b|DD-WRT|Tomato Router|AsusWRT|\\bVyOS\\b|\\bGargoyle Router',
    'OpenWrt - LuCI',
  ),
  router(
    'home-routers',
    0.9,
    '(?i)FRITZ!Box|Speedport|Linksys (?:Smart Wi-Fi|WRT|EA\\d)|NETGEAR (?:Router|R\\d{4}|WNR|DGN)|TP-?LINK.{0,20}Router|Archer [ACV]X?\\d|DrayTek|Vigor ?(?:Router|\\d{4})|Zyxel.{0,20}(?:Router|VMG|NBG)|ZTE.{0,10}ZXHN|Huawei (?:HG|EchoLife)|D-Link.{0,12}DIR-|Technicolor|Sagemcom|ASUS Wireless Router|Teltonika|Peplink|ROUTER Manufacturer|Broadband Router|Wireless Router|DSL Router|Cable Modem',
    'FRITZ!Box 7590',
  ),
  router(
    'edge-routers',
    0.88,
    '(?i)\\bEdgeOS\\b|EdgeRouter|UniFi (?:Dream|Security Gateway)|Juniper Networks.{0,30}\\b(?:mx|acx|ptx)\\d|Cisco (?:IOS|Internetwork).{0,40}\\b(?:ISR|ASR|C?[1278]9\\d\\d|C?[12378][68]\\d\\d|C8[0-9]0|C11\\d\\d)\\b|Cisco IOS.{0,40}(?:Virtual XE|IOS-XE Software)|IOS.XR|Cisco-SIPGateway/IOS|ProCurve Secure Router',
    'EdgeOS',
  ),

  networkSwitch(
    'catalyst',
    0.93,
    '(?i)Cisco (?:IOS|Internetwork).{0,60}\\b(?:C?(?:29|35|36|37|38|45|65|93|94|95)\\d\\d\\w*|CAT\\dK\\w*|Catalyst)\\b|Cisco NX-OS|Catalyst (?:\\d|L3)',
    'Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 15.0(2)SE4',
  ),
  networkSwitch(
    'switch-makes',
    0.92,
    '(?i)\\b(?:ProCurve (?:J\\d{4}|Switch|\\d{4})|Aruba (?:\\S{1,12} )?Switch|ExtremeXOS|Arista Networks|PowerConnect|JetStream|ProSafe.{0,30}Switch|Smart Managed|GS\\d{3,4}T\\w*|Managed Switch|Ethernet Switch|Gigabit Switch|Layer ?[23] Switch|Brocade (?:ICX|VDX|FC)|FastIron|EdgeSwitch|UniFi Switch|Hirschmann|OmniSwitch|Juniper Networks.{0,30}\\b(?:ex|qfx)\\d)',
    'ProCurve J9019B Switch 2510-24',
  ),

  phone(
    'voip-phones',
    0.93,
    '(?i)\\b(?:Yealink|Polycom|PolycomVVX|PolycomSoundPoint|Poly(?:com)? (?:VVX|Trio)|Grandstream (?:GXP|GXV|GRP|DP|HT)|snom\\d{0,4}|Aastra|Gigaset|Cisco[ /-](?:SPA|CP-)|Cisco (?:Unified )?IP Phone|Mitel (?:IP|\\d{4})|Fanvil|AudioCodes-?\\d|Panasonic_KX)',
    'Yealink SIP-T46S 66.84.0.15',
  ),

  hypervisor('esxi', 0.95, '(?i)VMware ESXi?|Welcome to VMware ESX|ID_EESX_Welcome', 'VMware ESXi 7.0.3'),
  hypervisor(
    'hypervisor-makes',
    0.93,
    '(?i)\\b(?:Proxmox Virtual Environment|Proxmox VE|XenServer|XCP-ng|oVirt|Nutanix (?:Web Console|AHV)|VMware vSphere|libvirtd?|Hyper-V)\\b',
    'Proxmox VE',
  ),

  iot(
    'iot-makes',
    0.9,
    '(?i)\\b(?:Philips hue|Tasmota|Shelly\\d?|ESPHome|ESP8266|ESP32|Sonos|Chromecast|Roku|Home Assistant|Tuya|WLED|openHAB|Nest|Ring Doorbell|Smart ?TV|Samsung.{0,6}TV|LG WebOS|WebOSTV|Zigbee2MQTT|deCONZ|Homematic|CCU[23])\\b',
    'Tasmota',
  ),
  iot(
    'controllers',
    0.88,
    '(?i)\\b(?:SIMATIC|S7-\\d{3,4}|Schneider Electric.{0,40}|Modicon|WAGO|Beckhoff|Rockwell Automation|Allen-Bradley|Phoenix Contact|Niagara (?:AX|4)|Tridium|BACnet|Moxa|Lantronix|Crestron|Advantech|WebAccess/SCADA|PowerLogic)\\b',
    'Siemens, SIMATIC S7, CPU315-2',
  ),
  iot(
    'power',
    0.88,
    '(?i)\\bAPC (?:Web/SNMP|Management Card|Smart-UPS|\\| Log)|APC Web|Network Management Card|\\bPDU\\b.{0,20}(?:Raritan|Eaton|APC)|UPS Network|Eaton.{0,20}UPS|SmartZone',
    'APC Web/SNMP Management Card',
  ),

  printer(
    'print-servers',
    0.9,
    String.raw`(?i)\bPrint ?Servers?\b|\bLantronix (?:EPS|MPS|LPS)\d|\bDocument Solutions Printing|^Remote UI: `,
    'EPSON External 10Base-T/100Base-TX Print Server',
  ),
  printer(
    'office-printers',
    0.9,
    String.raw`(?i)^(?:NRG|SAVIN|Gestetner|Lanier|Infotec) .{0,40}FTP server|TOSHIBA e-STUDIO|\bSHARP (?:MX|AR|BP)-|\bOKI ?(?:DATA|OkiLAN)|\bDatamax Corporation|\bInfoPrint \d`,
    'NRG MP C2550 FTP server (8.25) ready.',
  ),
  camera(
    'camera-models',
    0.88,
    String.raw`(?i)\bDCS-\d{3,4}|Network Video Recorder|O=Axis Communications|\bIQeye\d|^camera$|myboschcam\.net`,
    'DCS-5222LB1',
  ),
  nas(
    'storage-arrays',
    0.9,
    String.raw`(?i)O=Synology Inc|^Synology/DSM|^NetApp/|\bNASFTPD\b|\bEMC-SNAS|HP StorageWorks|\bEquallogic\b|HP_3PAR|\bwd2go\.com|MyBookLive|\bOneFS\b`,
    'CN=synology.com,O=Synology Inc.,L=Taipei,C=TW',
  ),
  firewall(
    'firewall-models',
    0.92,
    String.raw`O=Fortinet|\bIPSO\b|Symantec Gateway Security|Check Point FireWall|^Cisco AWARE `,
    'CN=FG100D3G13803999,O=Fortinet Ltd.',
  ),
  router(
    'router-models',
    0.88,
    String.raw`\bZXHN |\bZXDSL|EchoLife|(?:Thomson|MediaAccess) TG\d|\bTL-[WR]\w*\d{3}|\bTD-?[WV]?\d{3,4}|\bWNR\d{4}|\bDIR-\d{3}|\bSmartAX MT|\bRT-(?:AC|AX|N)\d|UbiquitiRouterUI|\bNetopia R\d`,
    'MediaAccess TG788vn v2 Build 10.5.2.S.GD',
  ),
  networkSwitch(
    'switch-models',
    0.93,
    String.raw`MikroTik SwOS|\bWS-C\d{4}|Cisco Catalyst |\bSmart Switch\b|\bBayStack \d|\bERS-\d{4}|\bVDX\d{4}|\bEdgeIron\b`,
    'MikroTik SwOS',
  ),
  phone(
    'phone-models',
    0.9,
    String.raw`(?i)\bLinksys/(?:SPA|PAP)|\boptiPoint \d|^Desk_Phone_IP|\bOpenScape Desk|\bSangoma [SP]\d{3}|^Cisco-ATA\d|CN=(?:CP-\d{4}-)?SEP[0-9A-F]{12}`,
    'Linksys/SPA922-6.1.5',
  ),
  iot(
    'power-units',
    0.9,
    String.raw`Sentry Switched (?:DC )?[CP]DU|\bRack PDU\b|\bIntelliSlot\b|ConnectUPS|^APC FTP server|CyberPower Systems`,
    'Sentry Switched CDU',
  ),
  server(
    'lights-out',
    0.85,
    '(?i)\\b(?:HP-iLO|iLO \\d|Integrated Lights-Out|iDRAC\\d?|Integrated Dell Remote Access|Supermicro.{0,20}IPMI|MegaRAC|IBM IMM|XClarity Controller|Cisco Integrated Management)',
    'HP-iLO-Server/1.30',
  ),
];

/** Rules for all other traits. */
const traits: readonly TraitRule<KnownDevice>[] = [
  // The system, as `family distribution version`.
  ...systems([
    ['fortios', 'firewall', 0.93],
    ['cisco asa', 'firewall', 0.95],
    ['screenos', 'firewall', 0.92],
    ['sonicos', 'firewall', 0.9],
    ['pan-os', 'firewall', 0.9],
    ['esxi', 'hypervisor', 0.95],
    ['linux dsm', 'nas', 0.93],
    ['linux qts', 'nas', 0.93],
    ['linux openwrt', 'router', 0.85],
    ['linux routeros', 'router', 0.88],
    ['linux arista eos', 'switch', 0.9],
    ['cisco nx-os', 'switch', 0.93],
    ['extremexos', 'switch', 0.93],
    ['comware', 'switch', 0.6],
    ['vrp', 'switch', 0.4],
    ['cisco ios', 'switch', 0.45],
    ['junos', 'router', 0.5],
    ['ilo', 'server', 0.85],
    ['vxworks', 'iot', 0.4],
    ['windows windows server', 'server', 0.9],
    ['windows windows ', 'workstation', 0.8],
    ['linux ubuntu', 'server', 0.3],
    ['linux debian', 'server', 0.3],
    ['linux rhel', 'server', 0.5],
    ['linux raspbian', 'iot', 0.4],
    ['freebsd', 'server', 0.3],
    ['solaris', 'server', 0.7],
    ['os/400', 'server', 0.9],
    ['z/os', 'server', 0.9],
    ['openvms', 'server', 0.9],
    ['macos', 'workstation', 0.6],
  ]),
  // The protocol.
  ...services([
    ['msrpc', 'workstation', 0.2],
    ['kerberos', 'server', 0.6],
    ['rtsp', 'camera', 0.5],
    ['ipp', 'printer', 0.3],
    ['jetdirect', 'printer', 0.7],
    ['printer', 'printer', 0.5],
    ['modbus', 'iot', 0.7],
    ['bacnet', 'iot', 0.75],
    ['ethernet-ip', 'iot', 0.75],
    ['iec-104', 'iot', 0.7],
    ['dnp3', 'iot', 0.7],
    ['niagara-fox', 'iot', 0.75],
    ['fins', 'iot', 0.75],
    ['iso-tsap', 'iot', 0.5],
    ['coap', 'iot', 0.5],
    ['bgp', 'router', 0.6],
    ['afp', 'nas', 0.4],
    ['iscsi', 'nas', 0.4],
    ['nfs', 'server', 0.3],
    ['docker', 'server', 0.6],
    ['kubernetes', 'server', 0.6],
  ]),
  // SNMP agents that describe the devices they manage.
  ...keyed(
    ['snmp.sysdescr'],
    [
      ['describes-router', 'router', 0.75, String.raw`(?i)\brouter\b`, 'Lab router'],
      ['describes-switch', 'switch', 0.75, String.raw`(?i)\bswitch\b`, '24-port Gigabit switch'],
      ['describes-firewall', 'firewall', 0.6, String.raw`(?i)\bfirewall\b`, 'Edge firewall'],
      ['describes-printer', 'printer', 0.6, String.raw`(?i)\bprinter\b`, 'Network printer'],
      ['describes-ups', 'iot', 0.6, String.raw`\bUPS\b`, 'UPS SNMP agent'],
    ],
  ),
  // SSH servers of devices.
  ...keyed(
    ['ssh.software'],
    [
      ['ssh-ilo', 'server', 0.85, '^mpSSH_', 'mpSSH_0.2.1'],
      ['ssh-romsshell', 'switch', 0.5, '^RomSShell', 'RomSShell_4.62'],
      ['ssh-allegro', 'switch', 0.5, '^(?:Mocana|IPSSH-)', 'Mocana SSH 6.3'],
      ['ssh-netscaler', 'load_balancer', 0.7, '(?i)netscaler', 'OpenSSH_7.2 NetScaler'],
      ['ssh-dropbear', 'iot', 0.25, '^dropbear', 'dropbear_2022.83'],
    ],
  ),
  // Enterprise of the SNMP agent.
  ...keyed(
    ['snmp.vendor'],
    [
      [
        'snmp-maker-printer',
        'printer',
        0.85,
        '^(?:Brother|Canon|Epson|Konica Minolta|Kyocera|Lexmark|OKI|Ricoh|Xerox)$',
        'Brother',
      ],
      [
        'snmp-maker-firewall',
        'firewall',
        0.8,
        '^(?:Fortinet|Check Point|Palo Alto Networks|SonicWall|NetScreen)$',
        'Fortinet',
      ],
      ['snmp-maker-nas', 'nas', 0.85, '^(?:Synology|QNAP|NetApp)$', 'Synology'],
      [
        'snmp-maker-switch',
        'switch',
        0.7,
        '^(?:Arista|Brocade|Enterasys|Extreme Networks|Force10|Foundry|Mellanox)$',
        'Extreme Networks',
      ],
      ['snmp-maker-router', 'router', 0.7, '^MikroTik$', 'MikroTik'],
      ['snmp-maker-camera', 'camera', 0.8, '^Axis$', 'Axis'],
      ['snmp-maker-hypervisor', 'hypervisor', 0.85, '^VMware$', 'VMware'],
      ['snmp-maker-power', 'iot', 0.7, '^(?:APC|CyberPower|Eaton|MGE UPS Systems|Raritan|Vertiv)', 'APC'],
    ],
  ),
  // Announcements on the local network.
  ...keyed(
    ['mdns.services'],
    [
      [
        'mdns-printer',
        'printer',
        0.5,
        String.raw`(?m)^_(?:pdl-datastream|printer|scanner|uscan)\._tcp$`,
        '_pdl-datastream._tcp',
      ],
      ['mdns-camera', 'camera', 0.6, String.raw`(?m)^_(?:axis-video|nvr|rtsp)\._tcp$`, '_axis-video._tcp'],
      [
        'mdns-player',
        'iot',
        0.6,
        String.raw`(?m)^_(?:googlecast|sonos|raop|spotify-connect|hap|hue|amzn-wplay)\._tcp$`,
        '_googlecast._tcp',
      ],
    ],
  ),
  ...keyed(
    ['mdns.text'],
    [
      [
        'mdns-mac',
        'workstation',
        0.7,
        String.raw`(?m)^model=(?:MacBook|iMac|Macmini|MacPro)`,
        'model=MacBookPro18,3',
      ],
    ],
  ),
  ...keyed(
    ['netbios.names'],
    [['netbios-controller', 'server', 0.75, '(?m)^domain_controllers: ', 'domain_controllers: BACKOFFICE']],
  ),
  // Vendor of the network card; never sufficient alone.
  ...keyed(
    ['mac.vendor'],
    [
      [
        'mac-printer',
        'printer',
        0.65,
        '^(?:Brother|Epson|Kyocera|Lexmark|Xerox|Ricoh|Konica Minolta|Zebra)',
        'Brother',
      ],
      ['mac-canon', 'printer', 0.5, '^(?:Canon|Sharp)', 'Canon'],
      ['mac-camera', 'camera', 0.75, '^(?:Axis|Hikvision|Dahua|Hanwha Vision)', 'Hikvision'],
      ['mac-nas', 'nas', 0.8, '^(?:Synology|QNAP)', 'Synology'],
      ['mac-storage', 'nas', 0.55, '^(?:NetApp|Buffalo|Western Digital)', 'NetApp'],
      [
        'mac-firewall',
        'firewall',
        0.8,
        '^(?:Fortinet|Palo Alto|SonicWall|Check Point|WatchGuard|Sophos|Netgate)',
        'Fortinet',
      ],
      ['mac-balancer', 'load_balancer', 0.85, '^F5\\b', 'F5'],
      [
        'mac-router',
        'router',
        0.7,
        '^(?:MikroTik|AVM|DrayTek|LANCOM|Peplink|Teltonika|Sierra Wireless|Cambium)',
        'AVM',
      ],
      [
        'mac-home-router',
        'router',
        0.4,
        '^(?:TP-Link|Linksys|Tenda|D-Link|Netgear|Zyxel|ZTE|Belkin|TRENDnet|Edimax|Juniper)',
        'TP-Link',
      ],
      [
        'mac-switch',
        'switch',
        0.75,
        '^(?:Arista|Extreme|Brocade|Allied Telesis|Hirschmann|Mellanox)',
        'Arista',
      ],
      ['mac-cisco', 'switch', 0.4, '^(?:Cisco|Aruba|Ruckus)', 'Cisco'],
      ['mac-phone', 'phone', 0.8, '^(?:Yealink|Polycom|Grandstream|Snom|Gigaset|Mitel|Avaya)', 'Yealink'],
      ['mac-mobile', 'phone', 0.4, '^(?:OnePlus|Xiaomi|Motorola)', 'OnePlus'],
      [
        'mac-iot',
        'iot',
        0.7,
        '^(?:Espressif|Philips Hue|Sonos|Roku|Nest|Tuya|Nordic|WIZnet|Arduino|Beckhoff|WAGO|Siemens|Schneider|Rockwell|Phoenix Contact|Moxa|Lantronix|Crestron|APC|Eaton|Garmin|Nintendo)',
        'Espressif',
      ],
      ['mac-raspberry', 'iot', 0.35, '^Raspberry Pi', 'Raspberry Pi'],
      ['mac-apple', 'workstation', 0.35, '^Apple', 'Apple'],
      [
        'mac-virtual',
        'server',
        0.3,
        '^(?:VMware|Microsoft Hyper-V|Xen|Oracle VirtualBox|Parallels|Nutanix)',
        'VMware',
      ],
      ['mac-server', 'server', 0.45, '^(?:Supermicro|Dell EMC|Quanta)', 'Supermicro'],
    ],
  ),
];

type NamedKind = [name: string, device: KnownDevice, weight: number];

function systems(list: readonly NamedKind[]): TraitRule<KnownDevice>[] {
  return keyed(
    ['os'],
    list.map(([system, device, weight]): Row => {
      const id = `system-${system.trim().replaceAll(/[ /]/g, '-')}`;
      return system.endsWith(' ')
        ? [id, device, weight, `^${system}[0-9xv]`, `${system}10`]
        : [id, device, weight, `^${system}(?: |$)`, system];
    }),
  );
}

function services(list: readonly NamedKind[]): TraitRule<KnownDevice>[] {
  return keyed(
    ['service'],
    list.map(
      ([service, device, weight]): Row => [`service-${service}`, device, weight, `^${service}$`, service],
    ),
  );
}

function keyed(sources: readonly string[], list: readonly Row[]): TraitRule<KnownDevice>[] {
  return list.map(([id, says, weight, pattern, example]) => ({
    id: `device.${id}`,
    sources,
    pattern,
    weight,
    says,
    example,
  }));
}

/** Which texts are evidence for which kind of device. */
export const deviceRules = new RuleBook<KnownDevice>([...keyed(nameplates, plates), ...traits]);

interface PortRule {
  id: string;
  /** All must be open; UDP ports as `161/udp`. */
  ports: readonly string[];
  says: KnownDevice;
  weight: number;
}

const portRows: readonly [name: string, says: KnownDevice, weight: number, ...ports: string[]][] = [
  ['printer', 'printer', 0.55, '9100/tcp'],
  ['printers', 'printer', 0.8, '515/tcp', '9100/tcp'],
  ['all-printers', 'printer', 0.88, '515/tcp', '631/tcp', '9100/tcp'],
  ['dahua', 'camera', 0.85, '554/tcp', '37777/tcp'],
  ['rtsp', 'camera', 0.45, '80/tcp', '554/tcp'],
  ['winbox', 'router', 0.8, '8291/tcp'],
  ['rip', 'router', 0.4, '520/udp'],
  ['bgp', 'router', 0.5, '179/tcp'],
  ['switch', 'switch', 0.3, '23/tcp', '161/udp'],
  ['esxi', 'hypervisor', 0.55, '443/tcp', '902/tcp'],
  ['proxmox', 'hypervisor', 0.7, '22/tcp', '8006/tcp', '3128/tcp'],
  ['hyper-v', 'hypervisor', 0.75, '135/tcp', '2179/tcp'],
  ['domain-controller', 'server', 0.85, '88/tcp', '389/tcp', '445/tcp'],
  ['iphone', 'phone', 0.8, '62078/tcp'],
  ['modbus', 'iot', 0.5, '502/tcp'],
  ['s7', 'iot', 0.35, '102/tcp'],
  ['bacnet', 'iot', 0.5, '47808/udp'],
  ['ethernet-ip', 'iot', 0.6, '44818/tcp'],
  ['chromecast', 'iot', 0.6, '8008/tcp', '8009/tcp'],
  ['nas', 'nas', 0.6, '445/tcp', '548/tcp', '5000/tcp', '5001/tcp'],
];

/** Kinds of devices recognized by their combination of open ports. */
export const portRules: readonly PortRule[] = portRows.map(([name, says, weight, ...ports]) => ({
  id: `device.ports-${name}`,
  ports,
  says,
  weight,
}));
