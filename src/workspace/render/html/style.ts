/** CSS of the report: no external images, fonts or scripts; light and dark, screen and print. */
export const reportStyle = `
:root{color-scheme:light dark;--ink:#1b2330;--soft:#5b6676;--line:#dce1e8;--page:#f5f7fa;--card:#fff;--link:#0b57b8;
--code:#f0f3f7;--critical:#8b1a4a;--high:#b3261e;--medium:#8a5200;--low:#1e5fa8;--info:#5b6676;--none:#2c6e49;
--critical-bar:#a3215a;--high-bar:#d6453d;--medium-bar:#e09b2d;--low-bar:#4a8fd8;--info-bar:#98a2b0}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#a3adbb;--line:#323b49;--page:#12161d;--card:#1a202a;
--link:#7db4ff;--code:#222a36;--critical:#ff8fc0;--high:#ff938b;--medium:#f2bd6b;--low:#8dbcf5;--info:#a3adbb;
--none:#7fcf9f}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.wrap{max-width:76rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}
a{color:var(--link)}
h1,h2,h3,h4{line-height:1.25;margin:0;overflow-wrap:anywhere}
h1{font-size:1.9rem;letter-spacing:-.01em}
h2{font-size:1.3rem;margin:2.75rem 0 .9rem}
h3{font-size:1.1rem}
h4{font-size:1rem}
p{margin:.4rem 0}
small,.soft{color:var(--soft)}
.kicker{margin:0 0 .3rem;color:var(--soft);font-weight:600;letter-spacing:.06em;text-transform:uppercase;font-size:.78rem}
.mono,pre,code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.1rem 1.25rem}
.notice{border-left:5px solid var(--medium-bar);margin-bottom:.9rem}
#notes ul{padding-left:2.2rem;margin:0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.7rem 1.5rem;margin:1.2rem 0 0}
.facts div,.pairs div{min-width:0}
dt{color:var(--soft);font-size:.82rem}
dd{margin:0;overflow-wrap:anywhere}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;margin:1.2rem 0 0;padding:0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.9rem;margin-bottom:.9rem}
.tile b{display:block;font-size:2rem;line-height:1.15;font-variant-numeric:tabular-nums}
.bar{display:block;width:100%;height:14px;border-radius:7px;background:var(--line)}
.bar+.legend{margin-top:.8rem}
.legend{display:flex;flex-wrap:wrap;gap:.4rem 1.3rem;list-style:none;margin:0;padding:0;font-variant-numeric:tabular-nums}
.dot{display:inline-block;width:.7em;height:.7em;border-radius:50%;margin-right:.45em}
.badge{display:inline-block;border:1px solid currentColor;border-radius:999px;padding:0 .6em;font-size:.78rem;font-weight:650;
text-transform:uppercase;letter-spacing:.03em;white-space:nowrap}
.critical{color:var(--critical)}.high{color:var(--high)}.medium{color:var(--medium)}.low{color:var(--low)}.info{color:var(--info)}
.fill-critical{fill:var(--critical-bar);background:var(--critical-bar)}.fill-high{fill:var(--high-bar);background:var(--high-bar)}
.fill-medium{fill:var(--medium-bar);background:var(--medium-bar)}.fill-low{fill:var(--low-bar);background:var(--low-bar)}
.fill-info{fill:var(--info-bar);background:var(--info-bar)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}
#findings table,.sortable{min-width:40rem}
.host thead th{width:8rem}.host thead th+th{width:13rem}.host thead th+th+th+th{width:auto}
caption{text-align:left;color:var(--soft);padding-bottom:.5rem}
th,td{padding:.45rem .75rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
thead th{color:var(--soft);font-size:.82rem;font-weight:600;white-space:nowrap}
tbody tr:last-child>*{border-bottom:0}
.num{text-align:right;font-variant-numeric:tabular-nums}
th.num{text-align:right}
.sort{position:absolute;opacity:0;width:1px;height:1px}
.sorts{color:var(--soft);margin:0 0 .7rem}
.sorts label{display:inline-block;cursor:pointer;border:1px solid var(--line);border-radius:999px;padding:.1rem .75rem;margin:.1rem .25rem;background:var(--card)}
#sort-severity:checked~.sorts [for=sort-severity],#sort-address:checked~.sorts [for=sort-address],
#sort-ports:checked~.sorts [for=sort-ports]{color:var(--ink);border-color:currentColor;font-weight:600}
.sort:focus-visible~.sorts{outline:2px solid var(--link);outline-offset:3px;border-radius:8px}
.sortable{display:grid;grid-template-columns:minmax(9rem,1.3fr) minmax(8rem,1.5fr) minmax(8rem,1.6fr) auto auto}
.sortable thead,.sortable tbody,.sortable tr{display:contents}
.sortable thead th{order:-99999999}
.sortable tbody th{font-weight:inherit}
#sort-address:checked~.card .sortable tbody>tr>*{order:var(--a)}
#sort-ports:checked~.card .sortable tbody>tr>*{order:var(--p)}
.host{margin:1.2rem 0;padding:0;overflow:hidden}
.host>header{padding:1rem 1.25rem .8rem;border-bottom:1px solid var(--line)}
.host>.none{padding:.8rem 1.25rem;margin:0}
.port>th{white-space:nowrap;font-weight:650}
.port>*{border-bottom:0;padding-top:.8rem}
.more>td{padding:0 1.25rem .9rem}
.host td:first-child,.host th:first-child{padding-left:1.25rem}
.pairs{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:.15rem 1.4rem;margin:.5rem 0;font-size:.9rem}
.pairs div{display:flex;gap:.6em}
.pairs .wide{grid-column:1/-1}
.pairs dt{flex:none;max-width:50%}
pre{margin:.4rem 0;padding:.6rem .8rem;background:var(--code);border-radius:8px;font-size:.85rem;line-height:1.45;
white-space:pre-wrap;overflow-wrap:anywhere;max-height:16rem;overflow-y:auto}
.finding{border:1px solid var(--line);border-left:5px solid currentColor;border-radius:10px;padding:.75rem 1rem;margin:.7rem 0}
.finding>*{color:var(--ink)}
.finding .badge{margin-right:.5em}
.class{white-space:nowrap;font-weight:400}
.finding .critical{color:var(--critical)}.finding .high{color:var(--high)}.finding .medium{color:var(--medium)}
.finding .low{color:var(--low)}.finding .info{color:var(--info)}
.finding .metrics{color:var(--soft)}
.loose{padding:.2rem 1.25rem 1rem}
.finding ul{margin:.3rem 0 0;padding-left:1.2rem}
footer{margin-top:3rem;color:var(--soft);font-size:.88rem}
@media (max-width:40rem){.facts{grid-template-columns:1fr 1fr}.host thead th,.host thead th+th{width:auto}
.host th,.host td{padding-left:.4rem;padding-right:.4rem}.host td:first-child,.host th:first-child{padding-left:1.25rem}.more>td{padding-right:1.25rem}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--line:#bbb;--page:#fff;--card:#fff;--link:#000;--code:#f4f4f4}
body{font-size:10.5pt}.wrap{max-width:none;padding:0}#findings table,.sortable{min-width:0}nav,.sorts,.sort{display:none}.card{border-radius:0}
pre{max-height:none;overflow:visible}h2,h3,h4,.port{break-after:avoid}.finding,.tile{break-inside:avoid}
.fill-critical,.fill-high,.fill-medium,.fill-low,.fill-info,.bar{print-color-adjust:exact;-webkit-print-color-adjust:exact}
a[href^=http]::after{content:" (" attr(href) ")";font-size:.85em}}
`;
