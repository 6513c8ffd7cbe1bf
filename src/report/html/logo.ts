import type { TemplateLogo, VectorShape } from '../template/report-template.ts';
import { htmlText } from './text.ts';

/** The logo of a template: an image as part of the page, or shapes written anew. */
export function logoHtml(logo: TemplateLogo): string {
  if (logo.kind === 'png') {
    const { width, height, data } = logo;
    return `<img src="data:image/png;base64,${htmlText(data)}" width="${Number(width)}" height="${Number(height)}" alt="">`;
  }
  const { x, y, width, height, shapes } = logo;
  const box = [x, y, width, height].map(Number).join(' ');
  // Without a size of its own a drawing would take all of the line.
  const shown = Math.min(40, Number(height));
  return `<svg class="logo" viewBox="${box}" height="${shown}" aria-hidden="true">${shapes.map(shapeHtml).join('')}</svg>`;
}

function shapeHtml({ path, transform, fill, stroke, strokeWidth, evenOdd, opacity }: VectorShape): string {
  const moved = transform === null ? '' : ` transform="matrix(${transform.map(Number).join(' ')})"`;
  const line = stroke === null ? '' : ` stroke="${htmlText(stroke)}" stroke-width="${Number(strokeWidth)}"`;
  const rule = evenOdd ? ' fill-rule="evenodd"' : '';
  const shade = opacity === 1 ? '' : ` opacity="${Number(opacity)}"`;
  return `<path d="${htmlText(path)}" fill="${htmlText(fill ?? 'none')}"${line}${rule}${shade}${moved}/>`;
}
