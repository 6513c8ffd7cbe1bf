/**
 * CSS of the page: no external images, fonts or scripts; light and dark, screen and print. Marks are drawn by CSS, so
 * that a count is one element. `.c .h .m .l .i` are severities, `.C .L .P` classes, `.n` slots of counts.
 */
export function pageStyle(accent: { light: string; dark: string } | null): string {
  const own =
    accent === null
      ? ''
      : `:root{--link:${accent.light}}@media screen and (prefers-color-scheme:dark){:root{--link:${accent.dark}}}`;
  return [colors, base, marks, layout, lists, charts, middle, phone, print, own].join('');
}

/** Colors of the design: light, then dark. */
const colors = `
:root{color-scheme:light dark;--page:#fff;--frame:#f7f8f8;--hover:#f3f5f5;--inverse:#1b2226;--on-inverse:#fff;
--line:#dfe4e5;--row:#edf0f0;--strong:#c3cbce;--control:#7c878d;--t1:#151a1d;--t2:#434d53;--t3:#616b72;--link:#0a6878;
--c:#740c49;--cm:#921659;--h:#8a2210;--hm:#b93312;--m:#8b6200;--mm:#b07d00;--l:#2b50b8;--lm:#3f68d0;--i:#5b646a;--im:#7d858b;
--new:#b3261e;--new-bg:#fdecea;--fixed:#1f6f43;--fixed-bg:#e6f4ec;--code:#f7f8f8;--match:#cfe9ed;--bar:#b7bfc3}
@media screen and (prefers-color-scheme:dark){:root{--page:#101417;--frame:#0b0e10;--hover:#171c20;--inverse:#e9edee;--on-inverse:#11161a;
--line:#283036;--row:#1c2226;--strong:#3b464d;--control:#6a767e;--t1:#e8ecee;--t2:#aeb8bd;--t3:#8c979d;--link:#6bccd9;
--c:#ea6b94;--cm:#dc4c74;--h:#f28535;--hm:#f4772a;--m:#f5dc80;--mm:#f2d85e;--l:#7aa5fb;--lm:#5b93f5;--i:#bfc8ce;--im:#99a1a6;
--new:#ff8b82;--new-bg:#351513;--fixed:#6cc894;--fixed-bg:#10291c;--code:#0b0e10;--match:#14464f;--bar:#56616a}}
@media (prefers-contrast:more){:root{--row:var(--strong);--line:var(--control);--t3:var(--t2)}}
`;

const base = `
*,::before,::after{box-sizing:border-box}
*{margin:0}
html{scroll-padding-top:16px;-webkit-text-size-adjust:100%}
body{font:13px/1.45 Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;background:var(--page);
color:var(--t1);overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
a{color:var(--link);text-decoration:none}
a:hover,.t2>a{text-decoration:underline;text-underline-offset:2px}
:focus-visible{outline:2px solid var(--link);outline-offset:1px;border-radius:3px}
i{font-style:normal}
b{font-weight:500}td>b{font-weight:600}
code,pre,.a{font-family:"JetBrains Mono",ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:12px;
font-variant-ligatures:none}
h1{font-size:28px;line-height:34px;letter-spacing:-.02em;font-weight:600}
h2{font-size:16px;line-height:24px;font-weight:600}
h3{font-size:13px;line-height:18px;font-weight:600;color:var(--t2)}
h1,td,dd,pre,summary>*{unicode-bidi:plaintext;text-align:left}
bdi,i,code{unicode-bidi:isolate}
small{font-size:12px;color:var(--t3);font-weight:400}
table{border-collapse:collapse;width:100%}
caption{text-align:start;color:var(--t3);padding:6px 0 2px}
th{font-size:11px;font-weight:500;color:var(--t3);text-align:start;padding:8px 12px 6px 0;border-bottom:1px solid var(--line);
vertical-align:bottom;overflow-wrap:normal}
td,tbody th,tfoot th{padding:5px 12px 5px 0;border-bottom:1px solid var(--row);vertical-align:top}
thead td{border-color:var(--line)}
tbody th,tfoot th{font:inherit;color:inherit;font-weight:500;overflow-wrap:anywhere}
tfoot td,tfoot th{font-weight:600;border-bottom:0;border-top:1px solid var(--line)}
tr>:last-child{padding-right:0}
.r{text-align:right}
td.r,th.r{overflow-wrap:normal;white-space:nowrap}
pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:8px 10px;line-height:18px;white-space:pre-wrap;
overflow-wrap:anywhere;margin-bottom:8px}
mark{background:var(--match);color:inherit}
.t2{color:var(--t2)}.t3,.e{color:var(--t3)}
.v{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
`;

/** The triangle, octagon and others of the design, 11 px; full, half and hollow dots of classes, 9 px. */
const marks = `
.c{color:var(--c);--k:var(--cm)}.h{color:var(--h);--k:var(--hm)}.m{color:var(--m);--k:var(--mm)}.l{color:var(--l);--k:var(--lm)}
.i{color:var(--i);--k:var(--im)}.C,.L,.P{color:var(--t2)}
.c::before,.h::before,.m::before,.l::before,.i::before{content:"";display:inline-block;width:11px;height:11px;margin-right:5px;
vertical-align:-1px;background:var(--k);forced-color-adjust:none;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.c::before{content:"!";clip-path:polygon(30% 0,70% 0,100% 30%,100% 70%,70% 100%,30% 100%,0 70%,0 30%);color:var(--page);
font:700 9px/11px sans-serif;text-align:center;vertical-align:1px}
.c::before{content:"!"/""}
.h::before{clip-path:polygon(50% 3%,100% 96%,0 96%)}
.m::before{clip-path:polygon(50% 0,100% 50%,50% 100%,0 50%)}
.l::before{clip-path:polygon(evenodd,0 8%,100% 8%,50% 98%,0 8%,23% 22%,50% 70%,77% 22%,23% 22%)}
.i::before{background:none;border:1.6px solid var(--k);width:9px;height:9px;margin-left:1px;margin-right:6px;vertical-align:0}
.n>.c::before,small>.c::before{content:"!"/"critical "}.n>.h::before,small>.h::before{content:""/"high "}
.n>.m::before,small>.m::before{content:""/"medium "}.n>.l::before,small>.l::before{content:""/"low "}
.n>.i::before,small>.i::before{content:""/"info "}
.C::before,.L::before,.P::before{content:"";display:inline-block;width:9px;height:9px;margin-right:5px;border:1.3px solid currentColor;
border-radius:50%;vertical-align:-.5px;forced-color-adjust:none;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.C::before{background:currentColor}
.L::before{background:linear-gradient(90deg,currentColor 50%,transparent 50%)}
.n>.C::before{content:""/"certain "}.n>.L::before{content:""/"likely "}.n>.P::before{content:""/"possible "}
.w,.n i,small i{white-space:nowrap;font-weight:500}.n .C,.n .L,.n .P,small .C,small .L,small .P{font-weight:400}
.n{display:inline-grid;grid-template-columns:repeat(5,var(--s));color:var(--t3)}
:root{--s:38px}.big{--s:50px}
.n>.c,.n>.C{grid-column:1}.n>.h,.n>.L{grid-column:2}.n>.m,.n>.P{grid-column:3}.n>.l{grid-column:4}.n>.i{grid-column:5}
.x{display:inline-block;background:var(--inverse);color:var(--on-inverse);font-size:11px;line-height:17px;border-radius:4px;padding:0 6px;
font-weight:500;white-space:nowrap;print-color-adjust:exact;-webkit-print-color-adjust:exact}
`;

const layout = `
.lay{display:grid;grid-template-columns:188px minmax(0,1fr);max-width:1280px;margin:0 auto}
.toc{position:sticky;top:0;align-self:start;height:100vh;overflow:auto;padding:28px 16px;border-right:1px solid var(--line);background:var(--frame)}
.toc p,.top{display:flex;gap:8px;align-items:center;font-weight:600;font-size:14px}
.toc p{padding-bottom:20px}
.toc svg,.top svg{width:16px;height:16px;color:var(--link)}
.toc a,.fold a{display:flex;justify-content:space-between;color:var(--t2);padding:0 8px;line-height:28px;border-radius:6px}
.toc a span,.fold a span{color:var(--t3);font-size:11px}
.fold{display:none}
main{padding:28px 32px 40px;min-width:0}
.top{min-height:20px;padding-bottom:16px}
.top .mk{margin-left:auto;font-weight:400;color:var(--t2)}
.top img,.top .logo{height:auto;width:auto;max-width:240px;max-height:56px;color:inherit}
.sub{color:var(--t2);padding-top:2px}
.verdict{font-size:20px;line-height:28px;font-weight:500;letter-spacing:-.01em;padding:24px 0 20px;max-width:760px;text-wrap:pretty}
.part{border:1px solid var(--strong);border-left:4px solid var(--t2);border-radius:4px;padding:10px 14px;margin:20px 0 0;max-width:820px}
.part+.verdict{padding-top:18px}
.strip{display:grid;grid-template-columns:repeat(3,1fr);border:solid var(--line);border-width:1px 0}
.strip>p{padding:14px 16px;border-left:1px solid var(--row)}
.strip>p:first-child{border:0;padding-left:0}
.strip strong,.strip b,.strip small{display:block}
.strip strong{font-size:28px;line-height:32px;font-weight:600;letter-spacing:-.02em;font-variant-numeric:normal}
.strip small{padding-top:3px;color:var(--t2)}
small>i{margin-right:10px}
section{padding-top:32px}
.sh{display:flex;flex-wrap:wrap;gap:0 8px;align-items:baseline;padding-bottom:6px}
.sh span{color:var(--t3)}
h3+table,h3+.sh{margin-top:0}
.g{padding-top:20px}
.txt{max-width:680px;white-space:pre-line;padding-top:12px;color:var(--t2)}
.lead{max-width:680px;color:var(--t2);padding-bottom:8px}
footer{padding:0 32px 40px;color:var(--t3);font-size:12px;max-width:760px}
footer p{padding-top:6px}
`;

/** Lists of actions, findings and hosts: one `details` per entry, its summary in columns. */
const lists = `
details>summary{list-style:none;cursor:default}
summary::-webkit-details-marker{display:none}
.li>summary,.hd{display:grid;align-items:center;gap:0 12px}
.li>summary{border-bottom:1px solid var(--row);padding:7px 0}
.li>summary:hover{background:var(--hover)}
.li>summary::before,pre+details>summary::before,.more>summary::before{content:"";width:6px;height:6px;border:solid var(--t3);border-width:1.5px 1.5px 0 0;
transform:rotate(45deg);margin:0 4px}
.li[open]>summary::before,.more[open]>summary::before{transform:rotate(135deg)}
.hd{overflow-wrap:normal;font-size:11px;font-weight:500;color:var(--t3);padding:8px 0 6px;border-bottom:1px solid var(--line)}
.fx{grid-template-columns:14px 22px minmax(0,1fr) 66px 44px 56px calc(5*var(--s)) calc(3*var(--s))}
.fi{grid-template-columns:14px 78px minmax(0,1fr) 66px 52px 44px 40px}
.ho{grid-template-columns:14px 124px minmax(0,1fr) 130px 96px 40px calc(5*var(--s))}
.fx .n:last-child{grid-template-columns:repeat(3,var(--s))}
.fx>summary,.fi>summary,.ho>summary{grid-template-columns:inherit}
.li.fx,.li.fi,.li.ho{display:block}
.li.fx>summary{grid-template-columns:14px 22px minmax(0,1fr) 66px 44px 56px calc(5*var(--s)) calc(3*var(--s))}
.li.fi>summary{grid-template-columns:14px 78px minmax(0,1fr) 66px 52px 44px 40px}
.li.ho>summary{grid-template-columns:14px 124px minmax(0,1fr) 130px 96px 40px calc(5*var(--s));padding:5px 0}
.q{display:contents}
.q u{display:none}
u{text-decoration:none}
summary small{display:block}
summary b{font-weight:500}
summary .x{justify-self:start}
.in{padding:10px 0 16px 26px;border-bottom:1px solid var(--row);scroll-margin-top:56px}
.in>p,.in>dl,.in>ul{max-width:760px;padding-bottom:6px}
.in>table{margin-bottom:10px}
.in h3,.lb{font-size:11px;line-height:16px;font-weight:400;color:var(--t3);padding:8px 0 3px}
.in h3{font-weight:500}
.do{font-weight:400;color:var(--t3);padding-right:6px}
.note{border-left:2px solid var(--strong);padding:0 0 0 10px!important;color:var(--t2);margin:6px 0 10px}
.pl a,.pl span{margin-right:8px}
.in ul{list-style:none;padding-left:0}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 16px}
dt{color:var(--t3)}
.ho dl{grid-template-columns:max-content minmax(0,1fr) max-content minmax(0,1fr)}
.li.ho{content-visibility:auto;contain-intrinsic-size:auto 30px}
.hl{display:flex;flex-direction:column}
.pt td>small{display:block;white-space:normal;overflow-wrap:anywhere}
.pls,.pt,.ft{table-layout:fixed}
.pls td:nth-child(3),.pls td:nth-child(5),.pt td:first-child,.ft td:nth-child(4){overflow-wrap:normal;white-space:nowrap}
.pls th:nth-child(1){width:15%}.pls th:nth-child(2){width:21%}.pls th:nth-child(3){width:9%}.pls th:nth-child(4){width:13%}
.pls th:nth-child(5){width:10%}.pt th:nth-child(1){width:9%}.pt th:nth-child(2){width:11%}.pt th:nth-child(3){width:22%}
.pt th:nth-child(4){width:6%}.ft th:nth-child(1){width:10%}.ft th:nth-child(3){width:17%}.ft th:nth-child(4){width:11%}.ft th:nth-child(5){width:5%}
.pt pre{margin-top:4px}
.more>summary{display:flex;align-items:baseline;gap:4px}
.more>summary::before{flex:none;margin:0 6px 1px 2px}
.so{position:absolute;opacity:0;width:1px;height:1px}
.sorts{color:var(--t3);font-size:12px}
.sorts label{display:inline-block;padding:0 8px;line-height:24px;border-radius:6px;color:var(--link);cursor:default}
#by-group:checked~.sorts [for=by-group],#by-worst:checked~.sorts [for=by-worst],#by-address:checked~.sorts [for=by-address],
#by-ports:checked~.sorts [for=by-ports]{color:var(--t1);background:var(--hover);font-weight:500}
.so:focus-visible~.sorts{outline:2px solid var(--link);outline-offset:2px;border-radius:6px}
#by-worst:checked~.hl>*{order:var(--w)}
#by-address:checked~.hl>*{order:var(--a)}
#by-ports:checked~.hl>*{order:var(--p)}
.hl>.hd{order:-2147483648!important}
`;

/** The severity chart, neutral bars, and the line of versions. */
const charts = `
.ch{display:block;width:100%;max-width:420px;height:10px;margin-top:4px;overflow:visible;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.f-c{fill:var(--cm)}.f-h{fill:var(--hm)}.f-m{fill:var(--mm)}.f-l{fill:var(--lm)}.f-i{fill:var(--im)}.f-n{fill:var(--bar)}
.s-c{stroke:var(--cm)}.s-h{stroke:var(--hm)}.s-m{stroke:var(--mm)}.s-l{stroke:var(--lm)}.s-i{stroke:var(--im)}.s-n{stroke:var(--bar)}
.o{fill:none}
.defs{position:absolute;width:0;height:0}
.how .bars{width:38%}.sv .bars{width:72%}.cov{width:auto;min-width:min(100%,420px)}
.sg{display:inline-block;width:17px;line-height:17px;text-align:center;border-radius:4px;font-weight:600;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.sg.new{color:var(--new);background:var(--new-bg)}.sg.fixed{color:var(--fixed);background:var(--fixed-bg)}
.in>.vl{display:flex;list-style:none;padding:22px 0 6px;margin:0 0 4px;max-width:none;font-size:11px;color:var(--t3)}
ol.vl::before{content:none}
.vl>li,.vl>li::before{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.st tbody th{white-space:nowrap;overflow-wrap:normal}
.vl>li{position:relative;flex:1;text-align:center;border-top:3px solid var(--k);padding:0 4px;min-width:0}
.vl>li::before{content:"";display:block;width:2px;height:15px;background:var(--t1);margin:-9px auto 0}
.vl>li::after{content:"";position:absolute}
.vl>.se>b{position:absolute;left:0;right:0;top:-26px;font-weight:500;color:var(--t1)}
.vl>.fr,.vl>.to{flex:0 1 auto;max-width:24%}
.vl>.fr{text-align:start}.vl>.to{text-align:end}
.vl>.fr::before,.vl>.to::before{width:9px;height:9px;border-radius:50%;background:var(--k);margin:-6px 0 2px}
.vl>.to::before{background:var(--page);border:2px solid var(--k);margin-left:auto}
.vl>.un::before{visibility:hidden}
`;

/** No room for all columns: contents at the left of a narrow page, or a page without contents. */
const middle = `
@media screen and (max-width:1023px){.lay{display:block}.toc{display:none}.fold{display:block;position:sticky;top:0;z-index:2;
background:var(--frame);border-bottom:1px solid var(--line)}.fold[open]{position:static}.fold summary{display:flex;justify-content:space-between;gap:12px;
line-height:44px;padding:0 16px}.fold summary b{font-weight:600;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.fold nav{padding:0 8px 10px}.fold a{line-height:36px}html{scroll-padding-top:60px}main{padding:20px 16px 40px}footer{padding:0 16px 40px}}
@media screen and (max-width:1179px){.hd.fx,.li.fx>summary{grid-template-columns:14px 22px minmax(0,1fr) 66px 44px 56px calc(5*var(--s))}
.fx .n:last-child{display:none}.hd.fx>:last-child{display:none}.hd.ho,.li.ho>summary{grid-template-columns:14px 124px minmax(0,1fr) 100px 44px calc(5*var(--s))}
.ho .y{display:none}}
`;

/** Two lines per row, no horizontal scrolling. */
const phone = `
@media screen and (max-width:719px){h1{font-size:24px;line-height:30px}.verdict{font-size:17px;line-height:24px;padding:16px 0}
.strip{grid-template-columns:1fr}.strip>p,.strip>p:first-child{border:solid var(--row);border-width:1px 0 0;padding:10px 0;display:grid;
grid-template-columns:72px 1fr;gap:0 8px;align-items:center}.strip>p:first-child{border-top:0}.strip strong{grid-row:span 2}
.hd,.how .bars,.wide{display:none}.li>summary{min-height:44px}
.li.fx>summary,.li.fi>summary,.li.ho>summary{grid-template-columns:22px minmax(0,1fr) 14px}
.li>summary::before{grid-column:3;grid-row:1}
.li.fi>summary>.w{font-size:0;white-space:nowrap}
.li.ho>summary{grid-template-columns:minmax(0,1fr) 14px}.li.ho>summary::before{grid-column:2}
.q{display:flex;flex-wrap:wrap;gap:0 10px;align-items:center;grid-column:2;color:var(--t3);font-size:12px}.li.ho .q{grid-column:1}
.q u{display:inline}.q .r{text-align:start}.q .n{display:inline-flex;gap:8px}.q .y,.fx .n:last-child{display:none}
.in{padding-left:0}.ho dl{grid-template-columns:max-content minmax(0,1fr)}
.tw thead{display:none}.tw,.tw tbody,.tw tfoot{display:block}.tw tr{display:flex;flex-wrap:wrap;gap:0 10px;align-items:baseline;
border-bottom:1px solid var(--row);padding:6px 0}.tw td,.tw tbody th,.tw tfoot th{padding:0;border:0}.tw td:empty{display:none}.tw .wd{flex:1 0 100%}
.tw .r{text-align:start}.n{flex-wrap:wrap}.tw .n{display:inline-flex;gap:8px}.ft td:last-child::before{content:"fix ";color:var(--t3)}
.tw [data-u]::after{content:" " attr(data-u);color:var(--t3)}
th,td{padding-right:8px}.sorts label{line-height:44px}
.in>.vl{display:block;padding:4px 0}.vl>li,.vl>.fr,.vl>.to{display:flex;gap:8px;align-items:center;max-width:none;text-align:start;border:0;padding:2px 0}
.vl>li::before,.vl>.fr::before,.vl>.to::before{margin:0 3px;height:9px}.vl>.se>b{position:static}}
@media screen and (max-width:359px){.how{font-size:11px}.how th{font-size:10px}.how th,.how td{padding-right:5px}}
`;

/** Lines of evidence on paper; a longer one says that it is cut. */
export const paperLines = 6;

/** Paper: exploited entries open, hosts stay a list, heads are repeated, no row breaks. */
const print = `
.po{display:none}
@page{margin:12mm 13mm 13mm}
@media print{:root{color-scheme:light;--hover:#fff;--frame:#fff}body{font-size:8pt;line-height:1.3}small{font-size:7.5pt}
.lay{display:block;max-width:none}.toc,.fold,.so,.sorts{display:none}main,footer{padding:0;max-width:none}.po{display:inline}
h1{font-size:20pt;line-height:24pt}h2{font-size:12pt;line-height:16pt}h2,h3,.sh,.lb,.hd,.lead,thead{break-after:avoid}
.verdict{font-size:12pt;line-height:16pt;padding:10pt 0 8pt}.strip strong{font-size:20pt;line-height:22pt}.strip>p{padding:6pt 12px}
section{padding-top:12pt}.g{padding-top:9pt}.hl,.lead{padding:0}
th{font-size:7pt;padding:3pt 8px 2pt 0}td,tbody th,tfoot th{padding:1.6pt 8px 1.6pt 0}
tr,.li>summary,.strip,.part,.vl,.note{break-inside:avoid}
thead{display:table-header-group}tfoot{display:table-row-group}
.li>summary{padding:2.4pt 0}.li.ho>summary{padding:1.6pt 0}.li>summary::before,.more>summary::before{display:none}.more>summary{display:inline}
.hd{font-size:7pt}.hd>:first-child{display:none}.x{font-size:7pt;line-height:10pt;padding:0 4px}
:root{--s:27px}.big{--s:34px}.n i{font-size:7.5pt}.n i::before{margin-right:2px;scale:.85}
.hd.fx,.li.fx>summary{grid-template-columns:16px minmax(0,1fr) 54px 30px 40px calc(5*var(--s)) calc(3*var(--s));gap:0 8px}
.hd.fi,.li.fi>summary{grid-template-columns:62px minmax(0,1fr) 54px 32px 32px 32px;gap:0 8px}
.hd.ho,.li.ho>summary{grid-template-columns:104px minmax(0,1fr) 110px 76px 30px calc(5*var(--s));gap:0 8px}
.in{padding:3pt 0 6pt 16px}.in>p,.in>dl{max-width:none;padding-bottom:2pt}.note{margin:2pt 0 4pt}.in>.vl{font-size:7pt;padding-top:15pt}.vl>.se>b{top:-14pt}
pre{max-height:calc(${paperLines}lh + 12px);overflow:hidden;font-size:7pt;line-height:9pt;padding:5px 8px;margin-bottom:4pt}code,.a{font-size:7.2pt}
.kev::details-content{content-visibility:visible;block-size:auto;display:block}
.li.ho{content-visibility:visible}a{color:inherit}a[href^="https"]{color:var(--link)}footer{padding-top:6pt;font-size:7pt}}
`;
