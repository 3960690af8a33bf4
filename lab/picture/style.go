package picture

// style has the colours of both schemes, and the patterns. Text has a contrast of at least 7 to 1.
const style = `<style>
svg { --page: #ffffff; --text: #1c2128; --faint: #59636e; --line: #d0d7de; --plot: #f6f8fa;
  --bar: #b6d4f2; --edge: #1f5f9e; --red: #c01c28; --band: #c01c2818; --fault: #8a4600; --good: #116329; }
@media (prefers-color-scheme: dark) {
  svg { --page: #0f1318; --text: #e6edf3; --faint: #a6b0bb; --line: #39424c; --plot: #161b22;
    --bar: #1d4268; --edge: #7ab8f5; --red: #ff7b72; --band: #ff7b7222; --fault: #f0a860; --good: #7ee787; } }
text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--text); }
.title { font: bold 20px system-ui, sans-serif; }
.lock { font: bold 16px system-ui, sans-serif; }
.group { font-weight: bold; }
.time, .label { font-size: 10.5px; }
.time { fill: var(--faint); }
.lease, .event { paint-order: stroke; stroke-width: 3px; stroke-linejoin: round; }
.lease { stroke: var(--bar); }
.event { stroke: var(--plot); }
.page { fill: var(--page); }
.plot { fill: var(--plot); }
.badge.safe { fill: var(--good); }
.badge.broken { fill: var(--red); }
.badge.unknown { fill: var(--fault); }
.lane, .tick { stroke: var(--line); }
.cut { stroke: var(--fault); stroke-dasharray: 3 3; }
.wait { stroke: var(--fault); stroke-width: 2; stroke-dasharray: 2 3; }
.bar { fill: var(--bar); stroke: var(--edge); }
.belief { fill: url(#hatch); stroke: var(--edge); stroke-dasharray: 4 3; }
.red { fill: url(#stripes); stroke: var(--red); stroke-width: 2; }
.both { fill: var(--band); }
.solid { fill: var(--faint); }
.hollow { fill: var(--page); stroke: var(--faint); stroke-width: 2; }
.good, .bad, .fault { fill: none; stroke-width: 2.5; }
.thin { stroke-width: 1.6; }
.good { stroke: var(--good); }
.bad { stroke: var(--red); }
.fault { stroke: var(--fault); }
.flash { fill: var(--fault); }
.hatch { stroke: var(--edge); stroke-width: 1; opacity: 0.5; }
.stripe { stroke: var(--red); stroke-width: 4; opacity: 0.75; }
</style>
<defs>
<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<line class="hatch" y2="7"/></pattern>
<pattern id="stripes" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<line class="stripe" x1="2" x2="2" y2="8"/></pattern>
</defs>
`
