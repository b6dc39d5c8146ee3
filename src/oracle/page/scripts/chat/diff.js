// Which lines are new, gone or the same. The longest common part is found in a table, after what both ends share.

const MOST = 1500; // lines of each side; beyond that all of the middle is gone and new

/** Rows of ["add" | "gone" | "", line]. */
export function diffLines(before, after) {
  const old = before === "" ? [] : before.split("\n");
  const now = after.split("\n");
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middle = between(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const same = (lines) => lines.map((line) => ["", line]);
  return [...same(now.slice(0, start)), ...middle, ...same(now.slice(now.length - end))];
}

function between(old, now) {
  if (old.length > MOST || now.length > MOST || !old.length || !now.length) {
    return [...old.map((line) => ["gone", line]), ...now.map((line) => ["add", line])];
  }
  const width = now.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = old[i] === now[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const rows = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      rows.push(["", now[j]]);
      i += 1;
      j += 1;
    } else if (i < old.length && (j === now.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      rows.push(["gone", old[i]]);
      i += 1;
    } else {
      rows.push(["add", now[j]]);
      j += 1;
    }
  }
  return rows;
}
