/** Paths that browsers use, behind whatever proxy `server.public_url` describes. */
export interface PublicPaths {
  /** Of the UI, with a slash at its end. */
  ui: string;
  /** In front of `/v1`. */
  api: string;
}

/** @param publicUrl `server.public_url` @param uiPath `server.ui.path` */
export function publicPaths(publicUrl: string | null, uiPath: string): PublicPaths {
  const prefix = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/(?<!\/)\/+$/, '');
  return { ui: `${prefix}${uiPath}/`, api: `${prefix}/api` };
}

/**
 * The built index.html for any path of the UI: its relative addresses become absolute, since a page may lie several levels
 * below, and two `meta` elements carry both paths to the scripts.
 */
export function startPage(built: string, { ui, api }: PublicPaths): string {
  return built
    .replace(/(<meta name="portolan-ui" content=")[^"]*/, (_, before) => before + attribute(ui))
    .replace(/(<meta name="portolan-api" content=")[^"]*/, (_, before) => before + attribute(api))
    .replaceAll(/(\s(?:src|href)=")\.\//g, (_, before) => before + attribute(ui));
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
