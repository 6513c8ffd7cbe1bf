import {
  hostHeader,
  httpRequestFor,
  malformedRequest,
  malformedRequestName,
} from '../requests/http-request.ts';
import { pageProbe } from '../requests/redirect.ts';
import { type Probe, requestProbe } from './probe.ts';

/** Pages that identify a web server or application, requested if its first response matches; none needs a login. */

function page(name: string, path: string, answer: RegExp): Probe {
  return { ...pageProbe(name, path), after: { answer } };
}

/** Name of the probe that accepts compressed pages. */
export const compressedPageName = 'compressed-page';

/** Transmission RPC requires the session id that its first response, a rejection, contains. */
const transmissionSession: Probe = {
  name: 'transmission-session',
  service: 'http',
  ports: [],
  greeting: null,
  steps: [
    {
      send: (host, _said, port) =>
        `GET /transmission/rpc HTTP/1.1\r\nHost: ${hostHeader(host, port)}\r\n\r\n`,
      answer: 'http',
      proceed: /^HTTP\/1\.1 409 [^]*?\r\nX-Transmission-Session-Id: /i,
    },
    {
      send: (host, said, port) => {
        const id = /\r\nX-Transmission-Session-Id: ([\w+/=-]{1,128})\r\n/i.exec(said.toString('latin1'))?.[1];
        const body = '{"method":"session-get","arguments":{"fields":["version"]}}';
        const head = `POST /transmission/rpc HTTP/1.1\r\nHost: ${hostHeader(host, port)}\r\nX-Transmission-Session-Id: ${id}\r\n`;
        return `${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      },
      answer: 'http',
    },
  ],
  after: { answer: /^HTTP\/[^]*?\r\nServer: Transmission\r\n/i },
};

/** No Server header names the server: it is missing, or contains an address or a generic word. */
const nameless = String.raw`(?![^]*\r\nServer: (?!(?:[\d.:]{1,64}|localhost|unknown|none|server|web-?server|https?d?) *\r\n))`;

const unknownPage = /^HTTP\/1\.[01] 404 /;
const noRootOfGo = /^HTTP\/1\.[01] 404 [^]*\r\n\r\n404 page not found\n?$/;
const noRoot = new RegExp(
  String.raw`${noRootOfGo.source}|^HTTP\/1\.1 404 (?=[^]*\r\nserver: Cowboy\r\n)[^]*\{"error":"Object Not Found"`,
);

/** Servers that do not name themselves in a header often do so on an error page. */
const unnamed = new RegExp(String.raw`^HTTP\/1\.[01] (?:[1235]\d\d|40[0-3]) ?${nameless}`, 'i');

export const webProbes: readonly Probe[] = [
  page('missing-page', '/portolan-no-such-page', unnamed),
  page(
    'version-page',
    '/version',
    /^HTTP\/1\.[01] (?:404 [^]*\r\n\r\n404 page not found\n?$|40[13] [^]*"kind": ?"Status")/,
  ),
  page('nats-varz', '/varz', /href="?https?:\/\/nats\.io\/(?:favicon\.ico|img\/)/),
  page('prometheus-build', '/api/v1/status/buildinfo', /<a href="\/(?:classic\/)?(?:graph|query)">Found</),
  page('alertmanager-status', '/api/v2/status', /<title>Alertmanager</),
  page('grafana-health', '/api/health', /<title>Grafana<|\r\nSet-Cookie: (?:grafana_session|redirect_to)=/i),
  page('consul-agent', '/v1/agent/self', /\r\nLocation: \/ui\/\r\n/i),
  page('vault-health', '/v1/sys/health', /\r\nLocation: \/ui\/\r\n/i),
  page('couchbase-pools', '/pools', /\r\n(?:Server: Couchbase Server|Location: [^\r\n]*\/ui\/index\.html)/i),
  page('solr-system', '/solr/admin/info/system?wt=json', /\r\nLocation: [^\r\n]*\/solr\/?\r\n/i),
  page(
    'gitea-version',
    '/api/v1/version',
    /<title>[^<]{0,80}(?:Gitea|Forgejo)|\r\nSet-Cookie: i_like_(?:gitea|forgejo)=/i,
  ),
  // Its root redirects or rejects, with a request id.
  page('portolan-version', '/api/v1/version', /\r\nX-Request-Id: req_[0-9a-f]{12}\r\n/i),
  page('sonarqube-version', '/api/server/version', /<title>SonarQube</),
  page('cloud-status', '/status.php', /<title>[^<]{0,80}(?:Nextcloud|ownCloud)|\r\nSet-Cookie: __Host-nc_/i),
  page(
    'jellyfin-information',
    '/System/Info/Public',
    /<title>(?:Jellyfin|Emby)|\r\nLocation: (?:\/?web\/(?:index\.html)?|\/web)\r\n/i,
  ),
  page('plex-identity', '/identity', /\r\nX-Plex-Protocol: /i),
  page(
    'jupyter-version',
    '/api',
    /<title>(?:Jupyter|JupyterLab|Home)|\r\nServer: TornadoServer\/[^]{0,600}\r\nLocation: \/(?:tree|lab|login)/i,
  ),
  page('portainer-status', '/api/status', /<title>Portainer</),
  page('netdata-information', '/api/v1/info', /\r\nServer: NetData|<title>netdata/i),
  page('cockpit-ping', '/ping', /\r\nSet-Cookie: cockpit=/i),
  page('apt-cacher-report', '/acng-report.html', /Apt-Cacher NG Usage Information/),
  // Its root shows only CORS headers.
  page(
    'janus-information',
    '/janus/info',
    /^HTTP\/1\.1 404 (?=[^]*\r\nAccess-Control-Max-Age: 86400\r\n)[^]*\r\nContent-Length: 0\r\n/i,
  ),
  page('monero-information', '/get_info', /\r\nServer: Epee-based\r\n/i),
  // Usual location of a UPnP device description.
  page('upnp-description', '/rootDesc.xml', /\r\nServer: [^\r\n]*(?:UPnP\/1|DLNADOC\/)/i),
  page('metrics-page', '/metrics', /<a href=["']?\/?metrics["']?>|<title>[^<]{1,60} Exporter</i),
  // A server without a root page may have metrics or a page about itself.
  page('metrics-beside', '/metrics', noRoot),
  page('status-page', '/status', noRootOfGo),
  page('api-version', '/api/version', /^HTTP\/1\.1 404 [^]*\r\n\r\n404 page not found$/),
  page('tang-advertisement', '/adv', /^HTTP\/1\.1 404 Not Found\r\nContent-Length: 0\r\n\r\n$/),
  page('inspector-version', '/json/version', /^HTTP\/1\.0 400 [^]*\r\n\r\nWebSockets request was expected/),
  {
    ...page('inspector-page', '/json/version', unknownPage),
    after: { answer: unknownPage, ports: [9222, 9223] },
  },
  {
    ...page('caddy-settings', '/config/admin', /^HTTP\/1\.1 404 [^]*\r\n\r\n404 page not found\n$/),
    after: { answer: /^HTTP\/1\.1 404 [^]*\r\n\r\n404 page not found\n$/, ports: [2019] },
  },
  // The rejection of a malformed request identifies servers that hide their name.
  requestProbe(malformedRequestName, [], malformedRequest, 'http', {
    service: 'http',
    after: { answer: new RegExp(String.raw`^HTTP\/1\.[01] \d{3}${nameless}`, 'i') },
  }),
  requestProbe(compressedPageName, [], httpRequestFor('/', undefined, 'gzip, deflate, br, zstd'), 'http', {
    service: 'http',
    after: { answer: /^HTTP\/1\.[01] (?:2|4)\d\d /, secure: true },
    thorough: true,
  }),
  // The version of aria2, available unless a secret is set; its other pages are empty.
  requestProbe(
    'aria2-version',
    [],
    httpRequestFor('/jsonrpc', '{"jsonrpc":"2.0","id":"portolan","method":"aria2.getVersion"}'),
    'http',
    {
      service: 'http',
      after: {
        answer:
          /^HTTP\/1\.1 404 Not Found\r\nDate: [^\r\n]+\r\nContent-Length: 0\r\nExpires: [^\r\n]+\r\nCache-Control: no-cache\r\n/,
      },
    },
  ),
  transmissionSession,
  // A proxy responds to its own internal name without forwarding the request.
  requestProbe(
    'privoxy-status',
    [],
    () =>
      'GET http://config.privoxy.org/show-status HTTP/1.1\r\nHost: config.privoxy.org\r\nConnection: close\r\n\r\n',
    'http',
    { service: 'http', after: { answer: /^HTTP\/1\.[01] 400 Invalid header received from client/ } },
  ),
];
