import { cve } from './entry.ts';

const confluence = ['a:atlassian:confluence_server', 'a:atlassian:confluence_data_center'];
const jira = ['a:atlassian:jira', 'a:atlassian:jira_server', 'a:atlassian:jira_data_center'];
const drupal = 'a:drupal:drupal';
const phpmyadmin = 'a:phpmyadmin:phpmyadmin';

const each = (products: readonly string[], ranges: readonly string[]) =>
  Object.fromEntries(products.map((product) => [product, ranges]));

/** Applications served over HTTP. */
export const webApplicationCves = [
  cve(
    'CVE-2019-3396',
    'NLNN/U/HHH',
    'The widget connector reads files and renders templates of strangers',
    each(confluence, ['< 6.6.12', '>= 6.7.0, < 6.12.3', '>= 6.13.0, < 6.13.3', '>= 6.14.0, < 6.14.2']),
  ),
  cve(
    'CVE-2019-3398',
    'NLLN/U/HHH',
    'Downloads of all attachments write files anywhere',
    each(confluence, [
      '>= 2.0.0, < 6.6.13',
      '>= 6.7.0, < 6.12.4',
      '>= 6.13.0, < 6.13.4',
      '>= 6.14.0, < 6.14.3',
      '>= 6.15.0, < 6.15.2',
    ]),
  ),
  cve(
    'CVE-2021-26084',
    'NLNN/U/HHH',
    'Expressions in a request run code of strangers',
    each(confluence, ['< 6.13.23', '>= 6.14.0, < 7.4.11', '>= 7.5.0, < 7.11.6', '>= 7.12.0, < 7.12.5']),
  ),
  cve(
    'CVE-2022-26134',
    'NLNN/U/HHH',
    'Expressions in an address run code of strangers',
    each(confluence, [
      '>= 1.3.0, < 7.4.17',
      '>= 7.13.0, < 7.13.7',
      '>= 7.14.0, < 7.14.3',
      '>= 7.15.0, < 7.15.2',
      '>= 7.16.0, < 7.16.4',
      '>= 7.17.0, < 7.17.4',
      '= 7.18.0',
    ]),
  ),
  cve(
    'CVE-2023-22515',
    'NLNN/U/HHH',
    'Strangers create an administrator',
    each(confluence, ['>= 8.0.0, < 8.3.3', '>= 8.4.0, < 8.4.3', '>= 8.5.0, < 8.5.2']),
  ),
  cve(
    'CVE-2023-22518',
    'NLNN/U/HHH',
    'Strangers reset the installation and become its administrators',
    each(confluence, [
      '>= 1.0.0, < 7.19.16',
      '>= 7.20.0, < 8.3.4',
      '>= 8.4.0, < 8.4.4',
      '>= 8.5.0, < 8.5.3',
      '= 8.6.0',
    ]),
  ),
  cve(
    'CVE-2023-22527',
    'NLNN/U/HHH',
    'A template runs code of strangers',
    each(confluence, ['>= 8.0.0, < 8.5.4']),
  ),
  cve(
    'CVE-2019-11581',
    'NLNN/U/HHH',
    'The contact form renders templates of strangers and runs code',
    each(jira, [
      '>= 4.4.0, < 7.6.14',
      '>= 7.7.0, < 7.13.5',
      '>= 8.0.0, < 8.0.3',
      '>= 8.1.0, < 8.1.2',
      '>= 8.2.0, < 8.2.3',
    ]),
  ),
  cve(
    'CVE-2021-26086',
    'NLNN/U/LNN',
    'A path traversal reads files below WEB-INF',
    each(jira, ['< 8.5.14', '>= 8.6.0, < 8.13.6', '>= 8.14.0, < 8.16.1']),
  ),
  cve('CVE-2019-11580', 'NLNN/U/HHH', 'A development plugin installs plugins of strangers', {
    'a:atlassian:crowd': [
      '>= 2.1.0, < 3.0.5',
      '>= 3.1.0, < 3.1.6',
      '>= 3.2.0, < 3.2.8',
      '>= 3.3.0, < 3.3.5',
      '>= 3.4.0, < 3.4.4',
    ],
  }),
  cve('CVE-2022-36804', 'NLLN/U/HHH', 'Whoever may read a repository runs commands', {
    'a:atlassian:bitbucket': [
      '>= 7.0.0, < 7.6.17',
      '>= 7.7.0, < 7.17.10',
      '>= 7.18.0, < 7.21.4',
      '>= 8.0.0, < 8.0.3',
      '>= 8.1.0, < 8.1.3',
      '>= 8.2.0, < 8.2.2',
      '= 8.3.0',
    ],
  }),
  cve(
    'CVE-2018-7600',
    'NLNN/U/HHH',
    'Form fields with special names run code of strangers (Drupalgeddon 2)',
    { [drupal]: ['< 7.58', '>= 8.0.0, < 8.3.9', '>= 8.4.0, < 8.4.6', '>= 8.5.0, < 8.5.1'] },
  ),
  cve('CVE-2018-7602', 'NLNN/U/HHH', 'Form fields with special names run code (Drupalgeddon 3)', {
    [drupal]: ['>= 7.0, < 7.59', '>= 8.4.0, < 8.4.8', '>= 8.5.0, < 8.5.3'],
  }),
  cve('CVE-2019-6340', 'NHNN/U/HHH', 'REST fields are deserialised and run code', {
    [drupal]: ['>= 8.5.0, < 8.5.11', '>= 8.6.0, < 8.6.10'],
  }),
  cve('CVE-2020-13671', 'NLLN/U/HHH', 'Uploaded files with two extensions are run', {
    [drupal]: ['>= 7.0, < 7.74', '>= 8.8.0, < 8.8.11', '>= 8.9.0, < 8.9.9', '>= 9.0.0, < 9.0.8'],
  }),
  cve('CVE-2017-1001000', 'NLNN/U/NHN', 'The REST interface lets strangers change posts', {
    'a:wordpress:wordpress': ['>= 4.7.0, < 4.7.2'],
  }),
  cve('CVE-2017-8917', 'NLNN/U/HHH', 'SQL injection without a login', {
    'a:joomla:joomla!': ['= 3.7.0'],
  }),
  cve(
    'CVE-2023-23752',
    'NLNN/U/LNN',
    'Web services give the configuration away, passwords of the database among it',
    { 'a:joomla:joomla!': ['>= 4.0.0, < 4.2.8'] },
  ),
  cve('CVE-2009-1151', 'NLNN/U/HHH', 'The setup script writes code of strangers into the configuration', {
    [phpmyadmin]: ['>= 2.11.0, < 2.11.9.5', '>= 3.0.0, < 3.1.3.1'],
  }),
  cve('CVE-2016-5734', 'NLNN/U/HHH', 'A search pattern runs code on old versions of PHP', {
    [phpmyadmin]: ['>= 4.0.0, < 4.0.10.16', '>= 4.4.0, < 4.4.15.7', '>= 4.6.0, < 4.6.3'],
  }),
  cve('CVE-2018-12613', 'NLLN/U/HHH', 'Users include files of the server and run code', {
    [phpmyadmin]: ['>= 4.8.0, < 4.8.2'],
  }),
  cve('CVE-2020-5504', 'NLLN/U/HHH', 'SQL injection on the page of user accounts', {
    [phpmyadmin]: ['>= 4.0.0, < 4.9.4', '= 5.0.0'],
  }),
  cve('CVE-2021-43008', 'NLNN/U/HNN', 'A hostile MySQL server reads files of the host', {
    'a:adminer:adminer': ['>= 1.12.0, <= 4.6.2'],
  }),
  cve('CVE-2019-16759', 'NLNN/U/HHH', 'A widget setting runs code of strangers', {
    'a:vbulletin:vbulletin': ['>= 5.0.0, <= 5.5.4'],
  }),
  cve('CVE-2020-17496', 'NLNN/U/HHH', 'The fix for CVE-2019-16759 can be passed and code run', {
    'a:vbulletin:vbulletin': ['>= 5.5.4, <= 5.6.2'],
  }),
  cve('CVE-2017-9822', 'NLLN/U/HHH', 'A cookie is deserialised and runs code', {
    'a:dnnsoftware:dotnetnuke': ['< 9.1.1'],
  }),
  cve('CVE-2025-24893', 'NLNN/U/HHH', 'The search runs code of strangers', {
    'a:xwiki:xwiki': ['>= 5.3, < 15.10.11', '>= 16.0.0, < 16.4.1'],
  }),
  cve('CVE-2022-30781', 'NLNN/U/NHN', 'Repository addresses reach git without an escape', {
    'a:gitea:gitea': ['< 1.16.7'],
  }),
];
