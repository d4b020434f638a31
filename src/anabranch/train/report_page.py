"""How the page of a run (`report.py`) looks, and how its games are stepped through: CSS and a little JavaScript.

Charts come with the colours of `chart.py`, for white paper; rules of CSS replace those of paper, text and grid where the reader
prefers dark pages. Boards are shown as images, so that nothing in a drawing acts on the page.
"""

from anabranch.chart import FAINT, GRID

HEAD = (
    """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
:root { color-scheme: light dark; --paper: #ffffff; --ink: #222222; --faint: #666666; --grid: #dddddd; --box: #f4f4f4;
  --warning: #b3261e; --note: #8a6100; --mark: #3b82c4; }
@media (prefers-color-scheme: dark) { :root { --paper: #17191c; --ink: #e4e4e4; --faint: #a0a0a0; --grid: #3a3d42;
  --box: #22252a; --warning: #ff8a80; --note: #ffca5f; --mark: #6fb0ee; } }
body { margin: 0 auto; padding: 1rem 1.25rem 3rem; max-width: 1180px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0.5rem 0 0; font-size: 1.5rem; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.15rem; }
.state { margin: 0.25rem 0; font-weight: 600; }
.faint { margin: 0; color: var(--faint); overflow-wrap: anywhere; }
.findings { padding: 0; list-style: none; }
.findings li { margin: 0.5rem 0; padding: 0.5rem 0.75rem; background: var(--box); border-left: 4px solid var(--note); }
.findings li.warning { border-color: var(--warning); }
.findings li b { color: var(--note); }
.findings li.warning b { color: var(--warning); }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 500px), 1fr)); gap: 0.5rem 1rem; }
figure { margin: 0; }
figure svg { display: block; width: 100%; height: auto; }
figure svg > rect { fill: var(--paper); }
figure svg text { fill: var(--ink); }
figure svg [stroke="GRID"] { stroke: var(--grid); }
figure svg [stroke="FAINT"] { stroke: var(--faint); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: 0.2rem 0.9rem 0.2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid); }
#viewer { display: grid; grid-template-columns: minmax(230px, 330px) 1fr; gap: 1.25rem; align-items: start; }
@media (max-width: 720px) { #viewer { grid-template-columns: 1fr; } }
#list { display: flex; flex-direction: column; gap: 0.25rem; }
button { font: inherit; color: inherit; background: var(--box); border: 1px solid var(--grid); border-radius: 4px;
  padding: 0.25rem 0.7rem; text-align: left; cursor: pointer; }
button[aria-pressed="true"] { border-color: var(--mark); box-shadow: inset 3px 0 var(--mark); }
#controls { display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; margin-bottom: 0.5rem; }
#controls input { flex: 1 1 8rem; }
#board { max-width: 100%; height: min(60vh, 440px); object-fit: contain; object-position: left; }
#board[hidden] { display: none; }
#written { overflow-x: auto; background: var(--box); padding: 0.5rem; }
#move { font-weight: 600; }
#move, #said { min-height: 1.5em; }
</style></head><body>"""
).replace('"GRID"', f'"{GRID}"').replace('"FAINT"', f'"{FAINT}"')  # fmt: skip

PLAYER = """<noscript><p>Stepping through games needs JavaScript.</p></noscript>
<div id="viewer"><div id="list"></div><div>
<div id="controls"><button data-to="first" aria-label="first position">&#8676;</button>
<button data-to="back" aria-label="one back">&#8592;</button><button data-to="on" aria-label="one on">&#8594;</button>
<button data-to="last" aria-label="last position">&#8677;</button>
<input type="range" id="ply" min="0" value="0" aria-label="ply"><span id="where"></span></div>
<div id="move"></div><div id="said" class="faint"></div><img id="board" alt="the board"><pre id="written" hidden></pre>
<p id="about" class="faint"></p><p class="faint">The left and right arrow keys step through a game.</p>
</div></div>"""

SCRIPT = """<script>
(() => {
  const source = document.getElementById("games");
  if (!source) return;
  const data = JSON.parse(source.textContent), at = id => document.getElementById(id);
  let game = data.games[0], ply = 0;
  const drawing = number => {
    const runs = data.drawings[number];
    let whole = "";
    for (let i = 1; i < runs.length; i += 2) whole += data.pieces.slice(runs[i], runs[i] + runs[i + 1]).join("");
    return [runs[0] === 1, whole];
  };
  const show = to => {
    ply = Math.max(0, Math.min(game.frames.length - 1, to));
    const [isText, whole] = drawing(game.frames[ply]);
    at("board").hidden = isText;
    at("written").hidden = !isText;
    if (isText) at("written").textContent = whole;
    else at("board").src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(whole);
    at("ply").max = game.frames.length - 1;
    at("ply").value = ply;
    at("where").textContent = ply + " of " + (game.frames.length - 1);
    at("move").textContent = ply ? game.moves[ply - 1] : "the start";
    at("said").textContent = game.words[ply] ? "the search here: " + game.words[ply] : "";
  };
  const choose = number => {
    game = data.games[number];
    [...at("list").children].forEach((button, i) => button.setAttribute("aria-pressed", i === number));
    at("about").textContent = game.about;
    show(0);
  };
  data.games.forEach((each, number) => {
    const button = document.createElement("button");
    button.textContent = each.title;
    button.addEventListener("click", () => choose(number));
    at("list").append(button);
  });
  const steps = { first: () => 0, back: () => ply - 1, on: () => ply + 1, last: () => game.frames.length - 1 };
  const keys = { ArrowLeft: "back", ArrowRight: "on" };
  document.querySelectorAll("#controls button").forEach(button =>
    button.addEventListener("click", () => show(steps[button.dataset.to]())));
  at("ply").addEventListener("input", () => show(Number(at("ply").value)));
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target === at("ply") || !(event.key in keys)) return;
    event.preventDefault();
    show(steps[keys[event.key]]());
  });
  choose(0);
})();
</script>"""
