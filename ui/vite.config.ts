import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Builds the Web UI into dist/ui. Assets are relative: the server decides under which path they are served. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react(), tailwind()],
  build: {
    outDir: '../dist/ui',
    emptyOutDir: true,
    // Older browsers do not know light-dark(), which a build for them would replace.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    sourcemap: false,
    // data: URLs are not allowed for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: 'es' },
});
