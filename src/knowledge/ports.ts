import type { Protocol } from '../domain/host.ts';
import type { PortCatalog } from '../domain/port.ts';
import { commonUdpPorts } from './requests/udp-payloads.ts';

/**
 * TCP ports worth probing, and the service that usually listens on each. Our own selection, made from the public
 * registrations (IANA service names and port numbers) and the documented default ports of widely used products.
 */

/** Ports of most networks, most probable first: the first 100 are the list `common`. */
const common: readonly (readonly number[])[] = [
  [443, 80, 22, 445, 3389, 8080, 21, 25, 53, 135],
  [139, 23, 3306, 8443, 5432, 110, 143, 993, 587, 995],
  [111, 5900, 389, 1433, 6379, 8000, 465, 631, 2049, 27017],
  [88, 636, 3000, 8888, 9200, 5985, 8081, 9090, 9000, 5000],
  [1521, 11211, 10000, 5060, 554, 9100, 179, 2375, 6443, 10250],
  [1883, 5672, 9092, 2379, 2181, 5601, 15672, 8008, 8009, 8090],
  [5986, 49152, 49153, 49154, 464, 593, 3268, 2222, 515, 548],
  [873, 1723, 3128, 1080, 5001, 5984, 9042, 8086, 5901, 8291],
  [7001, 7547, 8883, 5222, 1099, 2376, 4443, 9443, 8082, 81],
  [113, 514, 161, 119, 5357, 5061, 6000, 6667, 50000, 32400],
];

/** Default ports of products that are common somewhere, one list per kind of service. */
const frequent: readonly (readonly number[])[] = [
  // Web servers and web applications
  [
    8001, 8002, 8003, 8083, 8084, 8085, 8087, 8088, 8089, 8180, 8181, 8280, 8444, 8800, 8880, 8889, 9001,
    9080, 9091, 82, 83, 84, 85, 90, 591, 888, 2082, 2083, 2086, 2087, 2095, 2096, 3001, 3002, 4000, 4200,
    5443, 7080, 7443, 9999, 10443, 18080, 5080, 7000, 7070, 7777, 8010, 8100, 9002, 9003, 1443, 2443, 3443,
    6080, 8445, 8500, 9444, 4444,
  ],
  // Remote access
  [
    5902, 5903, 5800, 3390, 992, 2022, 2200, 22222, 2323, 222, 8022, 10022, 4899, 5631, 1494, 2598, 5938, 512,
    513,
  ],
  // Mail
  [2525, 26, 24, 4190, 106, 109, 209, 220, 366, 2000],
  // Files and storage
  [20, 990, 989, 2121, 3260, 9418, 3690, 427, 137, 138, 20048, 4045, 6789, 6690, 5005, 5006, 2100, 69],
  // Directories, names, logins
  [3269, 749, 853, 9389, 49, 43, 42, 5355, 5353, 1812, 1813, 750, 543, 544],
  // Windows and its remote procedure calls
  [
    49155, 49156, 49157, 49158, 49664, 49665, 49666, 49667, 49668, 49669, 49670, 47001, 1025, 1026, 1027,
    1028, 1801, 2103, 2105, 2107, 808, 2179, 5722, 1688, 8530, 8531, 6516, 3343, 2382, 2383, 5022, 1434, 5504,
  ],
  // Databases, caches, search
  [
    5433, 3307, 33060, 1522, 1526, 2483, 2484, 27018, 27019, 28017, 6380, 16379, 26379, 7474, 7473, 7687,
    8123, 9300, 50001, 523, 3050, 1583, 2638, 7199, 9160, 8529, 8983, 26257, 28015, 6432, 5434, 8091, 8092,
    8093, 11210, 30015,
  ],
  // Containers, orchestration, service discovery
  [
    2377, 2380, 7946, 10249, 10255, 10256, 10257, 10259, 16443, 4194, 8200, 8300, 8301, 8302, 8501, 8600,
    4646, 4647, 4648, 9099, 9345, 30000, 30001, 32000, 5002, 8201, 8502, 6444, 10248, 10251, 10252,
  ],
  // Messages and chat
  [
    4222, 8222, 6222, 4369, 25672, 5671, 61616, 61613, 61614, 8161, 1414, 6650, 5269, 5280, 5281, 6697, 9093,
    9094, 6666, 6668, 6669, 194, 8065, 2888, 3888, 15671, 15674, 15675,
  ],
  // Monitoring and logs
  [
    10050, 10051, 5666, 5665, 6556, 199, 4949, 3100, 5044, 9115, 9116, 9121, 9187, 9216, 9411, 16686, 4317,
    4318, 9997, 12201, 19999, 24224, 2003, 2004, 8125, 8126, 1984, 5140, 6514, 1514, 1515, 55000, 14268,
    14250, 8834, 9390, 9392,
  ],
  // Management of servers and virtual machines
  [
    623, 664, 16992, 16993, 902, 903, 5988, 5989, 1311, 2381, 2301, 17988, 8006, 8007, 16509, 16514, 8140,
    4505, 4506, 20000, 6082, 8005, 4730, 5555, 5723, 2701, 1270, 5480, 9875, 280,
  ],
  // Proxies, tunnels, private networks
  [3129, 8118, 9050, 9051, 9150, 1194, 943, 8388, 1081, 4145, 7890, 8899, 10808, 1701, 500, 4500, 541, 10001],
  // Voice and media
  [
    1720, 5062, 5038, 8554, 1935, 3478, 5349, 8021, 10554, 1755, 8096, 8920, 32469, 3689, 6600, 1400, 8060,
    2427,
  ],
  // Printers
  [9101, 9102, 9103, 9104, 9105, 9106, 9107, 9220, 9290, 9500, 721, 35, 170, 3910, 3911, 50443, 5358],
  // Routers, cameras, IoT devices
  [8728, 8729, 37777, 34567, 37215, 52869, 49000, 1900, 2869, 3702, 62078, 8843, 30005, 5431, 58080, 8266],
  // Industry and buildings
  [
    502, 102, 44818, 47808, 4840, 2404, 1911, 4911, 789, 9600, 1962, 20547, 18245, 1089, 1090, 1091, 5007,
    4712,
  ],
];

/** Default ports of less common products, and secondary ports of common ones. */
const occasional: readonly (readonly number[])[] = [
  // Development servers and debuggers
  [
    5173, 5174, 4173, 1313, 4321, 8787, 6006, 35729, 9229, 5858, 9009, 8050, 7860, 11434, 1234, 4040, 54321,
    5500, 3003, 3004, 3005, 3006, 3007, 3008, 3009, 3010, 3030, 3333, 9876, 8265, 2345, 24678, 5004, 5010,
    4567, 4001,
  ],
  // Application servers
  [
    7002, 7003, 7004, 5556, 4848, 3700, 7676, 8686, 9043, 9060, 9990, 9993, 4445, 4446, 4447, 1098, 1100,
    11099, 9010, 9011, 9012, 8453, 4713, 1199, 3820, 3920, 8943, 8243, 9763, 9764,
  ],
  // Builds, repositories, tickets
  [29418, 7990, 7999, 8153, 8154, 8111, 8929, 50022, 2401, 1666, 3632, 8324, 5050],
  // Large data and machine learning
  [
    9870, 9864, 9866, 9867, 9868, 8020, 8030, 8031, 8032, 8033, 8040, 8042, 50070, 50075, 50010, 50020, 50090,
    8188, 16000, 16010, 16020, 16030, 60010, 60030, 7077, 7180, 7183, 8440, 8441, 8998, 18081, 21000, 21050,
    25000, 25010, 9083, 10002, 19888, 10020, 11000, 14000, 8047, 31010, 6066, 9995, 8480, 8485, 50030, 50060,
    60000, 60020, 9820,
  ],
  // Backup
  [
    10080, 10081, 10082, 13724, 13782, 1556, 1500, 497, 6101, 6106, 9394, 9395, 9396, 9398, 9401, 8400, 7937,
    7938, 9419,
  ],
  // Business software, licenses
  [
    3200, 3201, 3299, 3300, 3600, 50013, 50014, 44300, 1352, 27000, 27001, 27009, 1947, 5093, 6200, 1972,
    8224, 7788,
  ],
  // Medicine
  [104, 11112, 2575, 2761, 2762, 4242],
  // Downloads, home media, synchronization
  [6881, 6969, 8112, 8989, 7878, 9117, 9696, 58846, 51413, 22000, 8384, 21025, 4711, 4662, 6346, 1214],
  // Games and voice chat
  [
    25565, 25575, 27015, 27016, 27036, 19132, 3724, 6112, 28960, 30120, 64738, 9987, 10011, 30033, 7778, 2302,
    26000,
  ],
  // Ledgers and peers
  [8332, 8333, 18332, 18333, 8545, 8546, 30303, 9735, 26656, 26657, 9944, 30333, 4002],
  // Displays and consoles
  [
    6001, 6002, 6003, 6004, 6005, 6007, 5904, 5905, 5906, 5907, 5910, 5801, 5802, 5803, 177, 7100, 3283, 3350,
    5632, 6566, 9535, 24800, 3031, 311, 625, 660, 5100, 2005, 2001, 2002, 2006, 2007, 4005, 7005, 9998,
  ],
  // Messages of earlier years
  [1863, 5190, 5298, 5223, 5220, 5221, 5275, 5276, 6660, 6661, 6662, 6663, 6664, 6665, 7029, 7325, 8074],
];

/** Services of the early registry; still found on old and embedded systems. */
const historic: readonly (readonly number[])[] = [
  [
    7, 9, 13, 19, 37, 79, 70, 17, 11, 1, 105, 107, 115, 123, 144, 162, 163, 191, 201, 210, 256, 257, 258, 259,
    264, 318, 371, 383, 406, 416, 425, 444, 458, 481, 510, 520, 524, 530, 531, 532, 540, 546, 547, 556, 563,
    585, 601, 646, 647, 648, 666, 674, 691, 694, 700, 705, 711, 765, 860, 898, 900, 901, 953, 981, 987, 991,
    996, 999, 1000, 1010, 15, 18, 98, 99, 117, 174, 213, 434, 447, 475, 525, 744, 767, 773, 774, 801, 847,
    911, 912, 997, 998, 1021, 1109, 1200, 1300, 2065, 1022, 1023, 1024, 1110, 1111, 1241, 1344, 1503, 1512,
    1604, 1645, 1998, 2010, 2020, 2604, 2605, 2628, 2809,
  ],
];

/** Ports that services are often moved to: next to their default, doubled, prefixed. */
const moved: readonly (readonly number[])[] = [
  // Web
  [
    86, 87, 89, 180, 800, 880, 4080, 4430, 4433, 5081, 6081, 7081, 7090, 8004, 8011, 8012, 8015, 8018, 8099,
    8101, 8182, 8282, 8383, 8446, 8484, 8585, 8765, 8808, 8881, 8882, 8887, 8890, 8999, 9004, 9082, 9445,
    9943, 10008, 10088, 11443, 12345, 13443, 14443, 16080, 18443, 20443, 28080, 30080, 30443, 44443, 50080,
    60443, 65000,
  ],
  // Remote access
  [2220, 2221, 2223, 2224, 20022, 22022, 30022, 3388, 3391, 3399, 13389, 23389, 33389, 33890, 15900],
  // Mail and databases
  [
    1587, 2465, 2587, 3308, 13306, 33061, 5435, 15432, 1523, 1525, 1527, 1529, 11433, 14333, 6381, 27020,
    27117, 9201,
  ],
  // Messages, orchestration
  [1884, 8884, 19092, 29092, 5673, 2182, 2378, 30002, 30003, 31000, 32443],
  // Ports of remote procedure calls
  [
    49159, 49160, 49161, 49163, 49165, 49167, 32768, 32769, 32770, 32771, 32772, 32773, 32774, 1029, 1030,
    1031,
  ],
];

type Transport = Protocol | 'both';

/**
 * Names, ports, protocol. A port is shown with the first name, IANA's where it is in use; the others are aliases. A
 * port in several rows is shown with the name of the first.
 */
const services: readonly (readonly [names: string, ports: readonly number[], transport: Transport])[] = [
  // Web
  ['http www', [80], 'tcp'],
  ['https', [443], 'both'],
  ['http-alt http-proxy', [8080, 8000, 8008], 'tcp'],
  ['https-alt', [8443], 'tcp'],
  ['ajp', [8009], 'tcp'],
  ['squid', [3128], 'tcp'],
  ['socks', [1080], 'tcp'],
  ['webmin', [10000], 'tcp'],
  ['cpanel', [2082, 2083], 'tcp'],
  ['gopher', [70], 'tcp'],
  // Remote access
  ['ssh', [22], 'tcp'],
  ['telnet', [23], 'tcp'],
  ['telnets', [992], 'tcp'],
  ['ms-wbt-server rdp', [3389], 'both'],
  ['vnc rfb', [5900, 5901, 5902, 5903], 'tcp'],
  ['vnc-http', [5800], 'tcp'],
  ['x11', [6000, 6001, 6002, 6003], 'tcp'],
  ['wsman winrm', [5985], 'tcp'],
  ['wsmans winrms', [5986], 'tcp'],
  ['exec rexec', [512], 'tcp'],
  ['login rlogin', [513], 'tcp'],
  ['shell rsh', [514], 'tcp'],
  ['radmin', [4899], 'tcp'],
  ['teamviewer', [5938], 'both'],
  ['pcanywhere', [5631], 'tcp'],
  ['citrix-ica ica', [1494], 'tcp'],
  ['net-assistant ard', [3283], 'both'],
  ['adb', [5555], 'tcp'],
  // Mail
  ['smtp', [25], 'tcp'],
  ['submission', [587], 'tcp'],
  ['submissions smtps', [465], 'tcp'],
  ['pop3', [110], 'tcp'],
  ['pop3s', [995], 'tcp'],
  ['imap imap2', [143], 'tcp'],
  ['imaps', [993], 'tcp'],
  ['sieve managesieve', [4190], 'tcp'],
  ['lmtp', [24], 'tcp'],
  ['nntp', [119], 'tcp'],
  ['nntps', [563], 'tcp'],
  // Files and storage
  ['ftp', [21], 'tcp'],
  ['ftp-data', [20], 'tcp'],
  ['ftps', [990], 'tcp'],
  ['tftp', [69], 'udp'],
  ['microsoft-ds smb cifs', [445], 'tcp'],
  ['netbios-ssn', [139], 'tcp'],
  ['netbios-ns', [137], 'udp'],
  ['netbios-dgm', [138], 'udp'],
  ['nfs', [2049], 'both'],
  ['mountd', [20048], 'both'],
  ['afp afpovertcp', [548], 'tcp'],
  ['rsync', [873], 'tcp'],
  ['iscsi-target iscsi', [3260], 'tcp'],
  ['git', [9418], 'tcp'],
  ['svn', [3690], 'tcp'],
  ['cvspserver cvs', [2401], 'tcp'],
  ['svrloc slp', [427], 'both'],
  ['amanda', [10080], 'both'],
  ['bacula-dir', [9101], 'tcp'],
  // Names, directories, logins, time
  ['domain dns', [53], 'both'],
  ['domain-s dot', [853], 'both'],
  ['mdns', [5353], 'udp'],
  ['llmnr', [5355], 'both'],
  ['whois', [43], 'tcp'],
  ['finger', [79], 'tcp'],
  ['ident auth', [113], 'tcp'],
  ['ldap', [389], 'both'],
  ['ldaps', [636], 'tcp'],
  ['msft-gc globalcatalog', [3268], 'tcp'],
  ['msft-gc-ssl', [3269], 'tcp'],
  ['kerberos', [88], 'both'],
  ['kpasswd', [464], 'both'],
  ['kerberos-adm', [749], 'tcp'],
  ['tacacs', [49], 'both'],
  ['radius', [1812], 'udp'],
  ['radius-acct', [1813], 'udp'],
  ['radsec', [2083], 'tcp'],
  ['adws', [9389], 'tcp'],
  ['ntp', [123], 'udp'],
  ['time', [37], 'both'],
  ['daytime', [13], 'both'],
  ['bootps dhcp', [67], 'udp'],
  ['bootpc', [68], 'udp'],
  ['dhcpv6-server', [547], 'udp'],
  // Remote procedure calls
  ['sunrpc rpcbind portmapper', [111], 'both'],
  ['msrpc epmap', [135], 'tcp'],
  ['http-rpc-epmap', [593], 'tcp'],
  ['rmiregistry java-rmi', [1099], 'tcp'],
  ['msmq', [1801], 'tcp'],
  ['epmd', [4369], 'tcp'],
  // Databases, caches, search
  ['mysql mariadb', [3306], 'tcp'],
  ['mysqlx', [33060], 'tcp'],
  ['postgresql postgres', [5432], 'tcp'],
  ['pgbouncer', [6432], 'tcp'],
  ['ms-sql-s mssql', [1433], 'tcp'],
  ['ms-sql-m', [1434], 'udp'],
  ['oracle oracle-tns', [1521], 'tcp'],
  ['db2', [50000], 'tcp'],
  ['firebird gds-db', [3050], 'tcp'],
  ['redis', [6379], 'tcp'],
  ['redis-sentinel', [26379], 'tcp'],
  ['memcache memcached', [11211], 'both'],
  ['mongodb', [27017, 27018, 27019], 'tcp'],
  ['couchdb', [5984], 'tcp'],
  ['cassandra', [9042], 'tcp'],
  ['elasticsearch', [9200], 'tcp'],
  ['elasticsearch-transport', [9300], 'tcp'],
  ['kibana', [5601], 'tcp'],
  ['solr', [8983], 'tcp'],
  ['influxdb', [8086], 'tcp'],
  ['neo4j bolt', [7687, 7474], 'tcp'],
  ['clickhouse', [8123], 'tcp'],
  ['cockroachdb', [26257], 'tcp'],
  ['rethinkdb', [28015], 'tcp'],
  ['arangodb', [8529], 'tcp'],
  // Messages and chat
  ['mqtt', [1883], 'tcp'],
  ['secure-mqtt mqtts', [8883], 'tcp'],
  ['amqp', [5672], 'tcp'],
  ['amqps', [5671], 'tcp'],
  ['rabbitmq-management', [15672], 'tcp'],
  ['kafka', [9092], 'tcp'],
  ['zookeeper', [2181], 'tcp'],
  ['nats', [4222], 'tcp'],
  ['activemq openwire', [61616], 'tcp'],
  ['stomp', [61613], 'tcp'],
  ['ibm-mqseries', [1414], 'tcp'],
  ['xmpp-client xmpp', [5222], 'tcp'],
  ['xmpp-server', [5269], 'tcp'],
  ['irc', [6667, 6666, 6668, 6669], 'tcp'],
  ['ircs ircs-u', [6697], 'tcp'],
  // Containers, orchestration, service discovery
  ['docker', [2375], 'tcp'],
  ['docker-s', [2376], 'tcp'],
  ['swarm', [2377], 'tcp'],
  ['etcd', [2379], 'tcp'],
  ['etcd-server', [2380], 'tcp'],
  ['kubernetes kube-apiserver', [6443], 'tcp'],
  ['kubelet', [10250, 10255], 'tcp'],
  ['consul', [8500], 'tcp'],
  ['vault', [8200], 'tcp'],
  ['nomad', [4646], 'tcp'],
  // Monitoring and management
  ['snmp', [161], 'both'],
  ['snmptrap', [162], 'both'],
  ['syslog', [514], 'udp'],
  ['syslog-tls', [6514], 'tcp'],
  ['ipmi asf-rmcp', [623], 'udp'],
  ['prometheus', [9090], 'tcp'],
  ['zabbix-agent', [10050], 'tcp'],
  ['zabbix-trapper', [10051], 'tcp'],
  ['nrpe', [5666], 'tcp'],
  ['checkmk-agent', [6556], 'tcp'],
  ['munin', [4949], 'tcp'],
  ['smux', [199], 'tcp'],
  ['amt-soap-http amt', [16992], 'tcp'],
  ['vmware-auth', [902], 'tcp'],
  ['libvirt', [16509], 'tcp'],
  ['puppet', [8140], 'tcp'],
  ['salt', [4505, 4506], 'tcp'],
  ['cwmp tr-069', [7547], 'tcp'],
  ['winbox', [8291], 'tcp'],
  // Printers
  ['jetdirect pdl-datastream', [9100], 'tcp'],
  ['ipp cups', [631], 'both'],
  ['printer lpd', [515], 'tcp'],
  // Voice, media, games
  ['sip', [5060], 'both'],
  ['sips', [5061], 'tcp'],
  ['h323hostcall h323', [1720], 'tcp'],
  ['rtsp', [554, 8554], 'tcp'],
  ['rtmp', [1935], 'tcp'],
  ['stun turn', [3478], 'both'],
  ['turns', [5349], 'tcp'],
  ['asterisk-ami', [5038], 'tcp'],
  ['plex', [32400], 'tcp'],
  ['daap', [3689], 'tcp'],
  ['minecraft', [25565], 'tcp'],
  ['teamspeak', [10011], 'tcp'],
  ['murmur mumble', [64738], 'both'],
  // Networks, tunnels, discovery
  ['bgp', [179], 'tcp'],
  ['ldp', [646], 'both'],
  ['isakmp ike', [500], 'udp'],
  ['ipsec-nat-t', [4500], 'udp'],
  ['l2tp', [1701], 'udp'],
  ['pptp', [1723], 'tcp'],
  ['openvpn', [1194], 'both'],
  ['wireguard', [51820], 'udp'],
  ['tor-socks', [9050], 'tcp'],
  ['ssdp upnp', [1900], 'udp'],
  ['ws-discovery', [3702], 'udp'],
  ['wsdapi', [5357], 'tcp'],
  ['coap', [5683], 'udp'],
  // Industry, buildings, medicine
  ['modbus mbap', [502], 'tcp'],
  ['iso-tsap s7', [102], 'tcp'],
  ['ethernet-ip enip', [44818], 'both'],
  ['bacnet', [47808], 'udp'],
  ['opcua-tcp opcua', [4840], 'tcp'],
  ['iec-104', [2404], 'tcp'],
  ['dnp dnp3', [20000], 'tcp'],
  ['dicom acr-nema', [104, 11112], 'tcp'],
  ['hl7', [2575], 'tcp'],
  // The early registry
  ['tcpmux', [1], 'tcp'],
  ['echo', [7], 'both'],
  ['discard', [9], 'both'],
  ['systat', [11], 'tcp'],
  ['netstat', [15], 'tcp'],
  ['qotd', [17], 'both'],
  ['chargen', [19], 'both'],
  ['uucp', [540], 'tcp'],
];

function transports(transport: Transport): readonly Protocol[] {
  return transport === 'both' ? ['tcp', 'udp'] : [transport];
}

function portsByName(): Map<string, readonly number[]> {
  return new Map(
    services.flatMap(([names, ports]) => names.split(' ').map((name) => [name, ports] as const)),
  );
}

function namesByPort(): Map<string, string> {
  const names = new Map<string, string>();
  for (const [spellings, ports, transport] of services) {
    const shown = spellings.split(' ', 1)[0] as string;
    for (const key of ports.flatMap((port) =>
      transports(transport).map((protocol) => `${port}/${protocol}`),
    )) {
      if (!names.has(key)) names.set(key, shown);
    }
  }
  return names;
}

const nameOfPort = namesByPort();

const ranked = [common, frequent, occasional, historic, moved].flat(2);

function withService(protocol: Protocol): number[] {
  return services.flatMap(([, ports, transport]) => (transports(transport).includes(protocol) ? ports : []));
}

/** Keywords of the port grammar. */
export const portCatalog: PortCatalog = {
  ranked,
  services: portsByName(),
  known: {
    tcp: new Set([...ranked, ...withService('tcp')]),
    udp: new Set([...commonUdpPorts, ...withService('udp')]),
  },
};

/** The service that usually listens on a port: a hint for the first probe, never evidence. Null when there is none. */
export function serviceNameOf(port: number, protocol: Protocol): string | null {
  return nameOfPort.get(`${port}/${protocol}`) ?? null;
}
