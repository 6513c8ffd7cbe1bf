import { cve, cvesOf } from './entry.ts';

const tomcat = cvesOf('a:apache:tomcat');
const weblogic = cvesOf('a:oracle:weblogic_server');
const jetty = cvesOf('a:eclipse:jetty');
const activemq = cvesOf('a:apache:activemq');
const solr = cvesOf('a:apache:solr');
const ofbiz = cvesOf('a:apache:ofbiz');
const airflow = cvesOf('a:apache:airflow');
const windows = 'o:microsoft:windows';

/** Java and other application servers. */
export const applicationServerCves = [
  cve(
    'CVE-2021-44228',
    'NLNN/C/HHH',
    {
      'a:apache:log4j': ['>= 2.0.1, < 2.3.1', '>= 2.4.0, < 2.12.2', '>= 2.13.0, < 2.15.0'],
      'a:apache:solr': ['>= 7.4.0, < 7.7.4', '>= 8.0.0, < 8.11.1'],
      'a:apache:druid': ['< 0.22.1'],
      'a:ui:unifi_network_application': ['< 6.5.54'],
    },
    {
      title: 'A text that is logged loads and runs code of a remote server (Log4Shell)',
      remedy:
        'Also replace log4j-core in every program of the host; removing JndiLookup from it closes the hole until then.',
    },
  ),
  tomcat('CVE-2020-1938', 'NLNN/U/HHH', ['>= 6.0.0, < 7.0.100', '>= 8.5.0, < 8.5.51', '>= 9.0.0, < 9.0.31'], {
    title: 'The AJP connector lets strangers read files of web applications and run uploaded ones (Ghostcat)',
    remedy: 'Switch the AJP connector off, or bind it to loopback with a secret.',
  }),
  tomcat('CVE-2017-12615', 'NHNN/U/HHH', ['>= 7.0.0, <= 7.0.79'], {
    title: 'PUT uploads JSP files and runs them where the default servlet may write, on Windows',
    on: windows,
  }),
  tomcat(
    'CVE-2017-12617',
    'NHNN/U/HHH',
    ['>= 7.0.0, < 7.0.82', '>= 8.0.0, < 8.0.47', '>= 8.5.0, < 8.5.23', '>= 9.0.0, < 9.0.1'],
    { title: 'PUT uploads JSP files and runs them where the default servlet may write' },
  ),
  tomcat(
    'CVE-2016-8735',
    'NLNN/U/HHH',
    ['< 6.0.48', '>= 7.0.0, < 7.0.73', '>= 8.0.0, < 8.0.39', '>= 8.5.0, < 8.5.8'],
    { title: 'The remote JMX listener deserialises objects of strangers and runs code' },
  ),
  tomcat(
    'CVE-2019-0232',
    'NHNN/U/HHH',
    ['>= 7.0.0, <= 7.0.93', '>= 8.5.0, <= 8.5.39', '>= 9.0.0, <= 9.0.17'],
    { title: 'CGI arguments run commands on Windows', on: windows },
  ),
  tomcat('CVE-2020-9484', 'LHLN/U/HHH', ['>= 7.0.0, < 7.0.104', '>= 8.5.0, < 8.5.55', '>= 9.0.0, < 9.0.35'], {
    title: "Session files of the attacker's making are deserialised where persistent sessions are on",
  }),
  tomcat('CVE-2021-25122', 'NLNN/U/HNN', ['>= 8.5.0, <= 8.5.61', '>= 9.0.0, <= 9.0.41', '= 10.0.0'], {
    title: 'An upgrade to clear text HTTP/2 mixes requests of different users',
  }),
  tomcat(
    'CVE-2022-42252',
    'NLNN/U/NHN',
    ['>= 8.5.0, <= 8.5.82', '>= 9.0.0, <= 9.0.67', '>= 10.0.0, <= 10.0.26', '= 10.1.0'],
    { title: 'An invalid Content-Length is accepted where checks are off, which allows request smuggling' },
  ),
  tomcat(
    'CVE-2023-46589',
    'NLNN/U/NHN',
    ['>= 8.5.0, < 8.5.96', '>= 9.0.0, < 9.0.83', '>= 10.1.0, < 10.1.16'],
    { title: 'Overlong trailer headers allow request smuggling' },
  ),
  tomcat('CVE-2024-34750', 'NLNN/U/NNH', ['>= 9.0.0, < 9.0.90', '>= 10.1.0, < 10.1.25'], {
    title: 'HTTP/2 streams with too many headers are never closed and exhaust the server',
  }),
  tomcat(
    'CVE-2024-50379',
    'NLNN/U/HHH',
    ['>= 9.0.0, < 9.0.98', '>= 10.1.0, < 10.1.34', '>= 11.0.0, < 11.0.2'],
    {
      title: 'A race between upload and compilation of JSP runs code where the default servlet may write',
      remedy: 'Keep the default servlet read-only, as it is by default.',
    },
  ),
  tomcat(
    'CVE-2025-24813',
    'NLNN/U/HHH',
    ['>= 9.0.0, < 9.0.99', '>= 10.1.0, < 10.1.35', '>= 11.0.0, < 11.0.3'],
    {
      title:
        'Partial PUT requests leave session files that are then deserialised, where the default servlet may write',
      remedy: 'Keep the default servlet read-only, as it is by default.',
    },
  ),
  jetty(
    'CVE-2021-34429',
    'NLNN/U/LNN',
    ['>= 9.4.37, < 9.4.43', '>= 10.0.1, < 10.0.6', '>= 11.0.1, < 11.0.6'],
    { title: 'Encoded characters in a path read files below WEB-INF' },
  ),
  jetty('CVE-2021-28164', 'NLNN/U/LNN', ['>= 9.4.37, < 9.4.39'], {
    title: 'Encoded dots in a path read files below WEB-INF',
  }),
  jetty('CVE-2015-2080', 'NLNN/U/HNN', ['>= 9.2.3, < 9.2.9'], {
    title: 'An illegal header character makes the error page show memory of other requests (JetLeak)',
  }),
  weblogic(
    'CVE-2020-14882',
    'NLNN/U/HHH',
    ['= 10.3.6.0.0', '= 12.1.3.0.0', '= 12.2.1.3.0', '= 12.2.1.4.0', '= 14.1.1.0.0'],
    {
      title: 'The administration console is reached without a login by an encoded path',
      updatesHidden: true,
      remedy: 'Install the critical patch update of October 2020 or later.',
    },
  ),
  weblogic(
    'CVE-2020-14883',
    'NLHN/U/HHH',
    ['= 10.3.6.0.0', '= 12.1.3.0.0', '= 12.2.1.3.0', '= 12.2.1.4.0', '= 14.1.1.0.0'],
    {
      title: 'Administrators of the console run code on the server, after CVE-2020-14882 anybody',
      updatesHidden: true,
      remedy: 'Install the critical patch update of October 2020 or later.',
    },
  ),
  weblogic(
    'CVE-2020-14750',
    'NLNN/U/HHH',
    ['= 10.3.6.0.0', '= 12.1.3.0.0', '= 12.2.1.3.0', '= 12.2.1.4.0', '= 14.1.1.0.0'],
    {
      title: 'The patch for CVE-2020-14882 can be passed and the console reached without a login',
      updatesHidden: true,
      remedy: 'Install the critical patch update that followed October 2020.',
    },
  ),
  weblogic('CVE-2020-2551', 'NLNN/U/HHH', ['= 10.3.6.0.0', '= 12.1.3.0.0', '= 12.2.1.3.0', '= 12.2.1.4.0'], {
    title: 'IIOP deserialises objects of strangers and runs code',
    updatesHidden: true,
    remedy: 'Install the critical patch update of January 2020 or later, or switch IIOP off.',
  }),
  weblogic('CVE-2020-2883', 'NLNN/U/HHH', ['= 10.3.6.0.0', '= 12.1.3.0.0', '= 12.2.1.3.0', '= 12.2.1.4.0'], {
    title: 'IIOP and T3 deserialise objects of strangers and run code',
    updatesHidden: true,
    remedy: 'Install the critical patch update of April 2020 or later, and filter T3 and IIOP.',
  }),
  weblogic('CVE-2019-2725', 'NLNN/U/HHH', ['= 10.3.6.0.0', '= 12.1.3.0.0'], {
    title: 'The asynchronous web service deserialises XML of strangers and runs code',
    updatesHidden: true,
    remedy: 'Install the update of April 2019 or later, or remove the application wls9_async_response.',
  }),
  weblogic('CVE-2018-2628', 'NLNN/U/HHH', ['= 10.3.6.0', '= 12.1.3.0', '= 12.2.1.2', '= 12.2.1.3'], {
    title: 'T3 deserialises objects of strangers and runs code',
    updatesHidden: true,
    remedy: 'Install the critical patch update of April 2018 or later, and filter T3.',
  }),
  weblogic('CVE-2017-10271', 'NLNN/U/NNH', ['= 10.3.6.0.0', '= 12.1.3.0.0', '= 12.2.1.1.0', '= 12.2.1.2.0'], {
    title: 'The WLS security component deserialises XML of strangers and runs code',
    updatesHidden: true,
    remedy: 'Install the critical patch update of October 2017 or later.',
  }),
  weblogic('CVE-2023-21839', 'NLNN/U/HNN', ['= 12.2.1.3.0', '= 12.2.1.4.0', '= 14.1.1.0.0'], {
    title: 'IIOP and T3 look up names for strangers, which leads to code',
    updatesHidden: true,
    remedy: 'Install the critical patch update of January 2023 or later, and filter T3 and IIOP.',
  }),
  weblogic('CVE-2015-4852', 'NLNN/U/HHH', ['= 10.3.6.0', '= 12.1.2.0', '= 12.1.3.0', '= 12.2.1.0'], {
    title: 'T3 deserialises objects of strangers and runs code',
    updatesHidden: true,
    remedy: 'Install the update for this flaw, and filter T3.',
  }),
  cvesOf('a:redhat:jboss_enterprise_application_platform')(
    'CVE-2017-12149',
    'NLNN/U/HHH',
    ['>= 5.0.0, <= 5.2.2'],
    {
      title:
        'The read-only access filter of the HTTP invoker deserialises objects of strangers and runs code',
      remedy: 'Remove http-invoker.sar, and move to a supported release.',
    },
  ),
  activemq(
    'CVE-2023-46604',
    'NLNN/U/HHH',
    ['< 5.15.16', '>= 5.16.0, < 5.16.7', '>= 5.17.0, < 5.17.6', '>= 5.18.0, < 5.18.3'],
    { title: 'OpenWire packets of strangers create objects of any class and run code' },
  ),
  activemq('CVE-2016-3088', 'NLNN/U/HHH', ['>= 5.0.0, < 5.14.0'], {
    title: 'The file server application stores and moves files anywhere and so runs code',
  }),
  activemq('CVE-2015-5254', 'NLNN/U/HHH', ['>= 5.0.0, < 5.13.0'], {
    title: 'Any class may be deserialised from a message, which runs code',
  }),
  cvesOf('a:apache:rocketmq')('CVE-2023-33246', 'NLNN/U/HHH', ['< 4.9.6', '>= 5.0.0, < 5.1.1'], {
    title: 'Strangers change the configuration of a broker and so run commands',
  }),
  solr('CVE-2019-17558', 'NHLN/U/HHH', ['>= 5.0.0, <= 8.3.1'], {
    title: 'Velocity templates of a query run code',
  }),
  solr('CVE-2019-0193', 'NLHN/U/HHH', ['< 8.2.0'], {
    title: 'The data import handler takes its whole configuration from a request and runs scripts in it',
  }),
  solr('CVE-2021-27905', 'NLNN/U/HHH', ['>= 7.0.0, < 8.8.2'], {
    title: 'The replication handler fetches any address for strangers',
  }),
  solr('CVE-2020-13957', 'NLNN/U/HHH', ['>= 6.6.0, <= 6.6.6', '>= 7.0.0, <= 7.7.3', '>= 8.0.0, <= 8.6.2'], {
    title: 'Configuration sets can be uploaded without authentication and used as trusted',
  }),
  ofbiz('CVE-2023-51467', 'NLNN/U/HHH', ['< 18.12.11'], { title: 'The login can be passed and code run' }),
  ofbiz('CVE-2023-49070', 'NLNN/U/HHH', ['< 18.12.10'], { title: 'XML-RPC runs code of strangers' }),
  ofbiz('CVE-2024-32113', 'NLNN/U/HHH', ['< 18.12.13'], { title: 'A path traversal runs code of strangers' }),
  ofbiz('CVE-2024-38856', 'NLNN/U/HHH', ['< 18.12.15'], {
    title: 'Screens that strangers may not see render their code',
  }),
  cvesOf('a:apache:flink')('CVE-2020-17519', 'NLNN/U/HNN', ['>= 1.11.0, < 1.11.3'], {
    title: 'The REST interface of the job manager reads any file',
  }),
  cvesOf('a:apache:spark')(
    'CVE-2022-33891',
    'NLLN/U/HHH',
    ['<= 3.0.3', '>= 3.1.1, <= 3.1.2', '>= 3.2.0, <= 3.2.1'],
    { title: 'User names reach a shell where access control lists are on' },
  ),
  airflow('CVE-2020-13927', 'NLNN/U/HHH', ['< 1.10.11'], {
    title: 'The experimental interface needs no login by default',
  }),
  airflow('CVE-2020-11978', 'NLLN/U/HHH', ['<= 1.10.10'], {
    title: 'An example workflow runs commands of any user',
  }),
  cvesOf('a:apache:apisix')('CVE-2022-24112', 'NLNN/U/HHH', ['>= 1.3, < 2.10.4', '>= 2.11.0, < 2.12.1'], {
    title: 'The batch-requests plugin passes the address check of the administration interface',
  }),
  cvesOf('a:geoserver:geoserver', 'a:osgeo:geoserver')(
    'CVE-2024-36401',
    'NLNN/U/HHH',
    ['< 2.22.6', '>= 2.23.0, < 2.23.6', '>= 2.24.0, < 2.24.4', '>= 2.25.0, < 2.25.2'],
    { title: 'Property names of requests are evaluated and run code' },
  ),
  cvesOf('a:sap:netweaver_application_server_java')(
    'CVE-2020-6287',
    'NLNN/C/HHH',
    ['= 7.30', '= 7.31', '= 7.40', '= 7.50'],
    {
      title: 'The configuration wizard creates administrators for strangers (RECON)',
      updatesHidden: true,
      remedy: 'Install SAP security note 2934135.',
    },
  ),
  cvesOf('a:adobe:coldfusion')('CVE-2010-2861', 'NLNN/U/HHH', ['>= 8.0, <= 9.0.1'], {
    title: 'The locale parameter of the administrator pages reads any file',
  }),
  cvesOf('a:liferay:liferay_portal')('CVE-2020-7961', 'NLNN/U/HHH', ['< 7.2.1'], {
    title: 'JSON web services deserialise objects of strangers and run code',
  }),
  cvesOf('a:alibaba:nacos')('CVE-2021-29441', 'NLNN/U/HHH', ['< 1.4.1'], {
    title: 'A User-Agent header passes the authentication of Nacos',
  }),
];
