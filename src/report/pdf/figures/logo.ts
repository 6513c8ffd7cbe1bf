import type { TemplateLogo } from '../../template/report-template.ts';
import type { Sheet } from '../sheet/sheet.ts';

/** The box that a logo is fitted into, points. */
const logoBox = { width: 160, height: 32 };

/** Draws the logo of a template into its box, keeping its proportions. */
export function drawLogo(sheet: Sheet, logo: TemplateLogo, x: number, y: number): void {
  const scale = Math.min(logoBox.width / logo.width, logoBox.height / logo.height);
  const width = logo.width * scale;
  const height = logo.height * scale;
  sheet.open('Figure', { alt: 'Logo', bbox: [x, y, x + width, y + height] });
  sheet.content(() => {
    if (logo.kind === 'png') sheet.image(logo, x, y, width, height);
    else
      sheet.clipped(x, y, width, height, () => {
        for (const shape of logo.shapes) {
          sheet.path(
            shape.path,
            { x: x - logo.x * scale, y: y - logo.y * scale, scale, matrix: shape.transform },
            {
              ...(shape.fill === null ? {} : { fill: shape.fill }),
              ...(shape.stroke === null ? {} : { stroke: shape.stroke, lineWidth: shape.strokeWidth }),
              evenOdd: shape.evenOdd,
              opacity: shape.opacity,
            },
          );
        }
      });
  });
  sheet.close();
}
