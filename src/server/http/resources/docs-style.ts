/**
 * CSS of the page about the API. The library has colors for dark pages (class `dark-mode`); where its contrasts are below
 * 4.5, in either theme, they are replaced here.
 */
export const docsStyle = `
:root { color-scheme: light; --ink: #1b2330; --quiet: #4a525d; --page: #fff; --line: #b9c1cc; --link: #0b57b8; --on-link: #fff; --bad: #b3261e;
  --get: #1c5a9e; --post: #126244; --put: #8a4b00; --delete: #a3211a; --on-method: #fff; --stamp: #44620a; --type: #3c3c96; }
:root.dark-mode { color-scheme: dark; --ink: #e4e6e6; --quiet: #b7bcbf; --page: #1c2022; --line: #545d61; --link: #7db4ff; --on-link: #080a0b; --bad: #ff938b;
  --get: #55a1ff; --post: #00b572; --put: #ff7d35; --delete: #ff8b82; --on-method: #080a0b; --stamp: #1d632e; --type: #c9a8ee; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
nav { padding: .8rem 1.25rem; border-bottom: 1px solid var(--line); }
nav a { color: var(--link); font-weight: 600; text-decoration: none; }
nav a:is(:hover, :focus-visible) { text-decoration: underline; }
header { max-width: 34rem; margin: 12vh auto 0; padding: 0 1.25rem; }
header h1 { margin: 0; font-size: 1.6rem; }
/* The library shows the title itself. */
.shown header { position: absolute; width: 1px; height: 1px; margin: 0; padding: 0; overflow: hidden; clip-path: inset(50%); }
#login { max-width: 34rem; margin: 0 auto; padding: 0 1.25rem; }
#login label { display: block; margin-top: 1.5rem; font-weight: 600; }
#login input { box-sizing: border-box; width: 100%; margin: .35rem 0 .8rem; padding: .6rem .7rem; border: 1px solid var(--line);
  border-radius: 8px; background: transparent; color: inherit; font: inherit; }
#login button { padding: .55rem 1.4rem; border: 0; border-radius: 8px; background: var(--link); color: var(--on-link);
  font: inherit; font-weight: 600; cursor: pointer; }
#login :is(input, button):focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
#login code { display: block; overflow-wrap: anywhere; font-size: .85rem; }
#problem { max-width: 34rem; margin: 1rem auto; padding: 0 1.25rem; color: var(--bad); }
#problem:empty { display: none; }

#reference .opblock .opblock-summary-method { color: var(--on-method); text-shadow: none; }
#reference .opblock.opblock-get .opblock-summary-method { background: var(--get); }
#reference .opblock.opblock-post .opblock-summary-method { background: var(--post); }
#reference .opblock.opblock-put .opblock-summary-method { background: var(--put); }
#reference .opblock.opblock-delete .opblock-summary-method { background: var(--delete); }
#reference :is(.info a, .nested-links a, .markdown a, .renderedMarkdown a) { color: var(--link); }
#reference :is(.info .title small, .download-contents) { background: #4a525d; }
#reference .info .title small.version-stamp { background: var(--stamp); }
#reference .btn.execute { border-color: var(--link); background: var(--link); color: var(--on-link); }
#reference :is(.btn.cancel, .btn.cancel:hover) { border-color: var(--bad); color: var(--bad); }
#reference :is(.btn.authorize, .btn.authorize svg) { border-color: var(--post); color: var(--post); }
#reference :is(.parameter__in, .parameter__extension, .response-undocumented, .prop-format, .model .property,
  .model .property.primitive, .model .external-docs, table.model tr.description, table.model tr.extension,
  table.headers .header-example, section.models h5) { color: var(--quiet); }
#reference :is(.json-schema-2020-12-expand-deep-button, .examples-select__section-label) { color: var(--quiet); }
#reference .prop-type { color: var(--type); }
#reference :is(.parameter__deprecated, .parameter__name.required span, .parameter__name.required:after,
  .model .property-row.required .star, table.model tr.property-row .star) { color: var(--bad); }
#reference :is(.response-col_links, .parameters-col_description, .opblock-description-wrapper) { overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  #reference .opblock-summary { flex-wrap: wrap; }
  #reference .opblock-summary-path { max-width: 100%; }
  #reference .wrapper { padding: 0 .6rem; }
}
`;
