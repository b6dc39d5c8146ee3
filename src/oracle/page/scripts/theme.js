// Light or dark, and where one is, before the first paint: no module, so that nothing is drawn in the wrong one.
(() => {
  const KEY = "oracle.theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    document.documentElement.dataset.theme = localStorage.getItem(KEY) ?? (system.matches ? "dark" : "light");
  };
  system.addEventListener("change", show);
  addEventListener("oracle:theme", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    // Chosen as the system has it, the choice follows the system again.
    if (next === (system.matches ? "dark" : "light")) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
    show();
  });
  show();
  // The first paint has a new question; at another address only its frame.
  document.documentElement.dataset.place = location.pathname === "/" ? "first" : "other";
})();
