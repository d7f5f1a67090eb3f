"use strict";
(async () => {
  const page = await unzip(document.getElementById("data").textContent);
  const root = document.documentElement;
  const controls = document.getElementById("controls");
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const views = new Map(); // of each holder: the view, and the tables that it reads

  async function unzip(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(plain).json();
  }

  // A column of text is its different values, and for each row which of them.
  function unpack({ rows, columns }) {
    const table = Array.from({ length: rows }, () => ({}));
    for (const [name, { levels, values }] of Object.entries(columns)) {
      values.forEach((value, row) => { table[row][name] = levels ? levels[value] : value; });
    }
    return table;
  }
  const tables = Object.fromEntries(
    Object.entries(page.tables).map(([name, table]) => [name, unpack(table)]));

  const chosen = () => new FormData(controls);
  function visible(name) {
    const shown = new Set(chosen().getAll("policy"));
    // Copies, because a view writes into its rows.
    return tables[name]
      .filter((row) => row.policy === undefined || shown.has(row.policy))
      .map((row) => ({ ...row }));
  }

  async function draw(holder) {
    const chart = page.charts[holder.id];
    const spec = structuredClone(chart[chosen().get("scale")] || chart.linear);
    const theme = root.dataset.theme;
    spec.datasets = Object.fromEntries(spec.tables.map((name) => [name, visible(name)]));
    const names = spec.tables;
    delete spec.tables;
    views.get(holder)?.view.finalize();
    const { view } = await vegaEmbed(holder, spec, {
      mode: "vega-lite",
      renderer: "svg",
      config: page.themes[theme],
      tooltip: { theme },
      actions: { export: true, source: false, compiled: false, editor: false },
      downloadFileName: holder.id,
    });
    views.set(holder, { view, names });
  }

  async function drawAll() {
    for (const holder of document.querySelectorAll(".chart")) await draw(holder);
  }

  async function choosePolicies() {
    for (const { view, names } of views.values()) {
      for (const name of names) view.data(name, visible(name));
      await view.runAsync();
    }
  }

  // One task after the other: two charts must never be drawn in one place.
  let last = Promise.resolve();
  function then(task) {
    delete root.dataset.drawn;
    last = last.then(task).then(() => { root.dataset.drawn = views.size; });
  }

  function setTheme(theme) {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light page" : "Dark page";
  }

  setTheme(system.matches ? "dark" : "light");
  then(drawAll);
  system.addEventListener("change", () => {
    setTheme(system.matches ? "dark" : "light");
    then(drawAll);
  });
  button.addEventListener("click", () => {
    setTheme(root.dataset.theme === "dark" ? "light" : "dark");
    then(drawAll);
  });
  controls.addEventListener("change", ({ target }) => {
    then(target.name === "policy" ? choosePolicies : drawAll);
  });
  new ResizeObserver(() => {
    const sticky = getComputedStyle(controls).position === "sticky";
    root.style.setProperty("--covered", `${sticky ? controls.offsetHeight : 0}px`);
  }).observe(controls);
  controls.addEventListener("submit", (event) => event.preventDefault());
})();
