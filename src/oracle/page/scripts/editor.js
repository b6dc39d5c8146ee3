// Opening a file in the editor of this machine. Which one that is belongs to the browser, not to the project: a choice
// of its own, kept here. It works only where the browser and the server see the same files.

const KEPT = "oracle.editor";
const HERE = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The addresses that editors listen to. */
export const EDITORS = {
  vscode: { name: "VS Code", address: (path, line) => `vscode://file${path}:${line}` },
  vscodium: { name: "VSCodium", address: (path, line) => `vscodium://file${path}:${line}` },
  cursor: { name: "Cursor", address: (path, line) => `cursor://file${path}:${line}` },
  zed: { name: "Zed", address: (path, line) => `zed://file${path}:${line}` },
  idea: { name: "IntelliJ IDEA", address: (path, line) => `idea://open?file=${path}&line=${line}` },
};

export const chosenEditor = () => localStorage.getItem(KEPT) ?? "";
export const chooseEditor = (name) => localStorage.setItem(KEPT, name);

/** The address of a line of a file in the chosen editor; null if there is none. Pure, but for the choice. */
export function editorAddress(root, path, line, { editor = chosenEditor(), host = location.hostname } = {}) {
  if (!root || !path || !HERE.has(host) || !Object.hasOwn(EDITORS, editor)) return null;
  const whole = `${root.replaceAll("\\", "/").replace(/\/$/, "")}/${path}`;
  // A drive letter has no slash before it, an address has one.
  const absolute = whole.startsWith("/") ? whole : `/${whole}`;
  return EDITORS[editor].address(absolute.split("/").map(encodeURIComponent).join("/").replace(/^\/(\w)%3A/, "/$1:"), line ?? 1);
}
